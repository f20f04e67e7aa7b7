"""The queue with real jobs against a hub on loopback: one after the other, paused, resumed, cancelled, kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.jobs import Jobs
from desktop.models.item import Item, State, from_json
from desktop.models.queue import KEY, Queue
from tests.fake_hub import FakeHub, Fault, Repository, model_files

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from PySide6.QtCore import QSettings
    from pytestqt.qtbot import QtBot

WEIGHTS = "model.safetensors"


def parts(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "hf").rglob("*.incomplete"))


def test_F12_one_after_the_other_and_all_is_told(hub: FakeHub, jobs: Jobs, settings: QSettings, qtbot: QtBot) -> None:
    for name in ("first", "second"):
        hub.repositories[f"owner/{name}"] = Repository(model_files(1))
    queue = Queue(jobs, settings)
    arrived, states = [], []
    queue.arrived.connect(arrived.append)
    queue.changed.connect(lambda item: states.append((item.name, item.state)))
    first = queue.add(Item("owner/first", "first"))
    second = queue.add(Item("owner/second", "second"))
    assert (first.state, second.state) == (State.RUNNING, State.WAITING)
    assert queue.add(Item("owner/second", "again")) is second
    qtbot.waitUntil(lambda: len(arrived) == 2, timeout=60_000)
    assert arrived == [first, second] and second.model == "owner/second"
    assert first.done == first.size > 1_000_000
    assert states.index(("second", State.RUNNING)) > states.index(("first", State.DONE))
    queue.forget(first)
    assert queue.items == [second]
    assert Queue(jobs, settings).items == []


def test_F11_F12_paused_kept_over_a_restart_and_resumed_only_when_asked(
    hub: FakeHub, jobs: Jobs, settings: QSettings, qtbot: QtBot, tmp_path: Path
) -> None:
    files = model_files(4)
    hub.repositories["owner/tiny"] = Repository(files)
    hub.faults.append(Fault(WEIGHTS, bytes_per_second=4e6))
    queue = Queue(jobs, settings)
    item = queue.add(Item("owner/tiny@main", "tiny"))
    qtbot.waitUntil(lambda: item.done > 1_000_000, timeout=60_000)
    assert item.speed > 0 and item.seconds_left is not None
    queue.pause(item)
    assert item.state is State.PAUSED and item.speed == 0
    kept = parts(tmp_path)
    assert kept >= 500_000
    queue.resume(item)
    qtbot.waitUntil(lambda: item.state is State.RUNNING and item.done > kept + 500_000, timeout=60_000)
    queue.close()
    jobs.close()

    asked = len(hub.asked)
    again = Jobs()
    queue = Queue(again, settings)
    (item,) = queue.items
    assert item.state is State.PAUSED and item.done > 1_000_000 and item.size > 4_000_000
    qtbot.wait(50)
    assert len(hub.asked) == asked
    hub.faults.clear()
    queue.resume(item)
    with qtbot.waitSignal(queue.arrived, timeout=60_000):
        pass
    again.close()
    assert hub.bodies(WEIGHTS)[-1].range is not None
    snapshot = next((tmp_path / "hf").rglob("snapshots/*"))
    assert (snapshot / WEIGHTS).read_bytes() == files[WEIGHTS]


def test_F11_cancelled_with_and_without_its_part(
    hub: FakeHub, jobs: Jobs, settings: QSettings, qtbot: QtBot, tmp_path: Path
) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files(4))
    hub.faults.append(Fault(WEIGHTS, bytes_per_second=4e6))
    queue = Queue(jobs, settings)
    item = queue.add(Item("owner/tiny", "tiny"))
    qtbot.waitUntil(lambda: item.done > 1_000_000, timeout=60_000)
    queue.cancel(item, keep_part=True)
    assert queue.items == [] and parts(tmp_path) > 500_000
    item = queue.add(Item("owner/tiny", "tiny"))
    qtbot.waitUntil(lambda: item.done > 2_000_000, timeout=60_000)
    queue.pause(item)
    queue.cancel(item, keep_part=False)
    place = tmp_path / "hf" / "hub" / "models--owner--tiny"
    qtbot.waitUntil(lambda: not place.exists(), timeout=60_000)
    assert parts(tmp_path) == 0


def test_a_failure_is_told_and_the_next_one_goes_on(
    hub: FakeHub, jobs: Jobs, settings: QSettings, qtbot: QtBot
) -> None:
    hub.repositories["owner/gated"] = Repository(model_files(), gated=True)
    hub.repositories["owner/tiny"] = Repository(model_files())
    queue = Queue(jobs, settings)
    gated = queue.add(Item("owner/gated", "gated"))
    queue.add(Item("owner/tiny", "tiny"))
    with qtbot.waitSignal(queue.arrived, timeout=60_000):
        pass
    assert gated.state is State.FAILED and gated.notice is not None and gated.notice.id == "error.sign_in"
    assert gated.notice.values["page"] == f"{hub.url}/owner/gated"


def test_a_job_that_hangs_is_begun_anew_and_then_given_up(
    qtbot: QtBot, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from desktop import jobs as module

    monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    queue = Queue(Jobs(silence_ms=200), settings)
    begun = []
    queue.changed.connect(lambda one: begun.append(one.state))
    item = queue.add(Item("owner/tiny", "tiny"))
    qtbot.waitUntil(lambda: item.state is State.FAILED, timeout=60_000)
    assert begun.count(State.RUNNING) == 3
    assert item.notice is not None and item.notice.id == "error.network"


def test_what_was_kept_and_makes_no_sense_is_left_out(settings: QSettings, jobs: Jobs) -> None:
    assert from_json({"source": "a/b"}) is None and from_json([]) is None
    for kept in ("{", "[1, {}]", '"text"'):
        settings.setValue(KEY, kept)
        assert Queue(jobs, settings).items == []
