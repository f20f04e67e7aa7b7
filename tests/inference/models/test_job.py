"""The child process of long work: its events, its end, and what happens when it dies."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from inference.messages import ENGLISH, Problem
from inference.models import download, hub_errors, job, starter


def test_events_are_json_lines_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(progress: starter.Progress) -> Path:
        sys.stdout.write("a library talks\n")
        progress(job.Notice("starter.converting"), 0.5)
        return home

    monkeypatch.setattr(starter, "prepare", prepare)
    assert job.main(["starter"]) == 0
    out, err = capsys.readouterr()
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["progress", "done"]
    assert "a library talks" in err


@pytest.mark.parametrize(("error", "id", "status"), [
    (Problem("error.no_pip", command="x"), "error.no_pip", 1), (RuntimeError("odd"), "error.unexpected", 1),
    (KeyboardInterrupt(), None, 130),
])
def test_however_it_ends_it_ends_in_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: BaseException, id: str | None, status: int,
) -> None:
    def prepare(_: starter.Progress) -> Path:
        raise error

    monkeypatch.setattr(starter, "prepare", prepare)
    assert job.main(["starter"]) == status
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["id"] for event in events] == ([id] if id else [])


def test_a_child_that_dies_without_a_word(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "COMMAND", (sys.executable, "-c", "import sys; sys.exit('the child fell over')"))
    with pytest.raises(Problem) as caught:
        list(job.finish(["starter"], threading.Event()))
    assert "the child fell over" in str(caught.value)


def test_a_cancelled_child_and_its_own_child_are_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    code = ("import json, subprocess, sys, time\n"
            "own = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "event = {'event': 'progress', 'id': 'x', 'values': {'pid': own.pid}, 'fraction': None}\n"
            "print(json.dumps(event), flush=True)\n"
            "time.sleep(60)")
    monkeypatch.setattr(job, "COMMAND", (sys.executable, "-c", code))
    cancel = threading.Event()
    pids = []
    for event in job.run_job(["starter"], cancel):
        pids.append(event["values"]["pid"])
        cancel.set()
    assert len(pids) == 1

    def is_there(pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    end = time.monotonic() + 30
    while any(map(is_there, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(is_there, pids))


def test_every_id_of_this_package_has_a_sentence() -> None:
    import re

    from inference.models import contents, folders, source

    for module in (contents, download, folders, hub_errors, job, source, starter):
        text = Path(module.__file__).read_text(encoding="utf-8")
        for id in re.findall(r'"((?:error|download|starter)\.\w+)"', text):
            assert id in ENGLISH, (module.__name__, id)
