"""Child processes of the window: their events, their end, and what becomes of one that hangs or dies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from desktop import jobs as module
from desktop.jobs import Job, Jobs
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

Played = list[tuple[str, Any]]


@pytest.fixture
def play(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Job, Played]]]:
    """Runs a program in place of a job and keeps what comes of it."""
    made: list[Jobs] = []

    def play(code: str, typed: str = "", silence_ms: int = 60_000) -> tuple[Job, Played]:
        monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", "import json, sys, time\n" + code))
        made.append(Jobs(silence_ms=silence_ms))
        job, said = made[-1].job(typed=typed), []
        job.progressed.connect(lambda notice, fraction: said.append(("progress", (notice, fraction))))
        job.done.connect(lambda event: said.append(("done", event)))
        job.failed.connect(lambda notice: said.append(("failed", notice)))
        job.silent.connect(lambda: said.append(("silent", None)))
        job.start()
        return job, said

    yield play
    for one in made:
        one.close()


PROGRESS = (
    "print(json.dumps({'event': 'progress', 'id': 'download.checking', 'values': {'file': 'a'}, 'fraction': .5}))\n"
)
DONE = "print(json.dumps({'event': 'done', 'folder': 'x'}))\n"


def test_events_come_in_order_and_end_with_one(qtbot: QtBot, play: Callable[..., tuple[Job, Played]]) -> None:
    job, said = play(PROGRESS * 3 + DONE + PROGRESS)
    qtbot.waitUntil(lambda: not job.is_running, timeout=60_000)
    assert said == [("progress", (Notice("download.checking", {"file": "a"}), 0.5))] * 3 + [
        ("done", {"event": "done", "folder": "x"})
    ]


def test_a_failure_is_a_notice(qtbot: QtBot, play: Callable[..., tuple[Job, Played]]) -> None:
    _, said = play("print(json.dumps({'event': 'failed', 'id': 'error.token', 'values': {}, 'text': 'no'}))")
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    assert said == [("failed", Notice("error.token", {}))]


def test_one_that_dies_without_a_word_is_told_by_its_last_line(
    qtbot: QtBot, play: Callable[..., tuple[Job, Played]]
) -> None:
    _, said = play("sys.exit('first\\nthe child fell over')")
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    assert said == [("failed", Notice("error.unexpected", {"detail": "the child fell over"}))]


def test_one_that_cannot_start(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMAND", ("/nowhere/python",))
    jobs, said = Jobs(), []
    job = jobs.job()
    job.failed.connect(said.append)
    job.start()
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    assert said[0].id == "error.unexpected"


def test_F11_cancel_ends_it_at_once_and_nothing_more_comes(
    qtbot: QtBot, play: Callable[..., tuple[Job, Played]]
) -> None:
    job, said = play(PROGRESS + "sys.stdout.flush()\ntime.sleep(60)\n")
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    job.cancel()
    assert job.has_gone(60_000)
    assert len(said) == 1 and not job.is_running


def test_one_that_hangs_is_ended_and_told(qtbot: QtBot, play: Callable[..., tuple[Job, Played]]) -> None:
    job, said = play("time.sleep(60)", silence_ms=300)
    qtbot.waitUntil(lambda: said == [("silent", None)], timeout=60_000)
    assert job.has_gone(60_000)


def test_F16_what_is_typed_is_in_no_process_list(qtbot: QtBot, play: Callable[..., tuple[Job, Played]]) -> None:
    code = "print(json.dumps({'event': 'done', 'typed': sys.stdin.readline(), 'argv': sys.argv[1:]}))"
    _, said = play(code, typed="hf_secret\n")
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    assert said == [("done", {"event": "done", "typed": "hf_secret\n", "argv": []})]


def test_the_real_jobs_answer(qtbot: QtBot, qapp: QApplication) -> None:
    jobs, said = Jobs(), []
    job = jobs.job("tested")
    job.done.connect(said.append)
    job.start()
    qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    first = said[0]["models"][0]
    assert first["repository"] == "HuggingFaceTB/SmolLM2-135M-Instruct" and first["fit"]["segments"]
    assert said[0]["recommended"] in [model["repository"] for model in said[0]["models"]]
    jobs.close()
