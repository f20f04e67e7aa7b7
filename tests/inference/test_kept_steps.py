"""What is measured at load is kept, believed for a while, and measured again where it is old, foreign or damaged."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from inference import kept_steps, loading
from inference.events import LoadProgress
from inference.exact import Width
from inference.kept_steps import Steps, save
from inference.measure import StepTimes
from inference.models import folders
from inference.session import Session
from inference.settings import ModelChoice

if TYPE_CHECKING:
    from pathlib import Path

TIMES = StepTimes((10.0, 12.5), (10.0, 11.0, 13.0), 0.01, (0.1, 0.2, 0.3))
STEPS = Steps(Width(True, 1, 9), TIMES, TIMES)


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(folders, "tuning_file", lambda: tmp_path / "cache" / "tuning.json")
    monkeypatch.setattr(kept_steps.psutil, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(kept_steps, "save", save)
    return tmp_path / "cache" / "steps.json"


@pytest.mark.parametrize("steps", [STEPS, Steps(None, TIMES, TIMES)], ids=["exact", "no exact width"])
def test_what_is_saved_is_loaded(steps: Steps) -> None:
    assert kept_steps.load("a") is None
    save("a", steps)
    assert kept_steps.load("a") == steps
    assert kept_steps.load("b") is None


def test_a_busy_machine_s_figures_are_not_kept(monkeypatch: pytest.MonkeyPatch, kept: Path) -> None:
    monkeypatch.setattr(kept_steps.psutil, "getloadavg", lambda: (1e3, 0.0, 0.0))
    save("a", STEPS)
    assert not kept.exists()


def test_old_figures_are_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    save("a", STEPS)
    now = time.time()
    monkeypatch.setattr(kept_steps.time, "time", lambda: now + 6.9 * 86400)
    assert kept_steps.load("a") == STEPS
    monkeypatch.setattr(kept_steps.time, "time", lambda: now + 7.1 * 86400)
    assert kept_steps.load("a") is None
    monkeypatch.setattr(kept_steps.time, "time", lambda: now - 60)
    assert kept_steps.load("a") is None, "a clock that was set back"


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("at"),
        lambda one: one.update(at="yesterday"),
        lambda one: one.update(exact=[1]),
        lambda one: one["fast_times"].update(verify=[]),
        lambda one: one["fast_times"].update(plain_at=[1.0]),
        lambda one: one["fast_times"].update(plain_at=[0.0, 1.0]),
        lambda one: one["exact_times"].update(verify=[1.0, float("nan")]),
        lambda one: one["exact_times"].update(growth=[-1.0, 0.0, 0.0]),
        lambda one: one["exact_times"].pop("growth"),
    ],
)
def test_a_damaged_entry_is_none(change: Any, kept: Path) -> None:
    save("a", STEPS)
    save("b", STEPS)
    entries = json.loads(kept.read_text())
    change(entries["a"])
    kept.write_text(json.dumps(entries))
    assert kept_steps.load("a") is None
    assert kept_steps.load("b") == STEPS


@pytest.mark.parametrize("content", ["", "[]", '{"a": 3}', "\x00"])
def test_a_damaged_file_is_replaced(content: str, kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    assert kept_steps.load("a") is None
    save("a", STEPS)
    assert kept_steps.load("a") == STEPS


def test_only_the_latest_are_kept(kept: Path) -> None:
    for number in range(kept_steps.MODELS + 5):
        save(str(number), STEPS)
    save("7", STEPS)
    assert len(json.loads(kept.read_text())) == kept_steps.MODELS
    assert kept_steps.load("7") == STEPS
    assert kept_steps.load("4") is None


def test_a_folder_that_cannot_be_written_stops_nothing(kept: Path) -> None:
    kept.parent.write_text("a file in the way")
    save("a", STEPS)
    assert kept_steps.load("a") is None


def test_a_second_load_measures_nothing_until_the_model_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = loading.step_times, []
    monkeypatch.setattr(loading, "step_times", lambda *given: calls.append(given) or real(*given))

    def load(**more: Any) -> tuple[list[str], Any]:
        session = Session()
        choice = ModelChoice(model=str(folder), drafter="none", dtype="float32", **more)
        events = list(session.load(choice, threading.Event()))
        ready = session.ready
        session.close()
        assert ready is not None
        return [event.notice.id for event in events if isinstance(event, LoadProgress)], ready

    first, one = load()
    assert "load.measuring" in first
    second, two = load()
    assert not {"load.exact", "load.measuring"} & set(second)
    assert len(calls) == 1
    assert (two.times, two.loaded.mode, two.loaded.identity) == (one.times, one.loaded.mode, one.loaded.identity)
    load(exact=False)
    assert len(calls) == 2, "without a look at exact mode its costs are not known"
    weights = next(folder.glob("*.safetensors"))
    weights.touch()
    assert "load.measuring" in load()[0]
    assert len(calls) == 3
