"""A session loads a tiny model from a folder: its steps, what it refuses, how it is given up, what it leaves."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING

import pytest

from inference.events import Failed, Loaded, LoadFailed, LoadProgress, Round
from inference.messages import Notice, Problem, sentence
from inference.quantize import kept
from inference.session import Session
from inference.settings import ModelChoice
from tests.inference.session_for_tests import ask, fixed, load, play

if TYPE_CHECKING:
    from pathlib import Path


def test_load_tells_its_steps_and_what_it_made(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)  # no twin is kept yet
    session = Session()
    events = list(session.load(ModelChoice(model=str(folder), drafter="twin", dtype="float32"), threading.Event()))
    steps = list(dict.fromkeys(event.notice.id for event in events if isinstance(event, LoadProgress)))
    assert steps == ["load.libraries", "load.reading", "load.twin", "twin.measuring", "load.exact", "load.measuring"]
    loaded = events[-1]
    assert isinstance(loaded, Loaded)
    assert loaded.name == "tiny"
    drafters = ("none", "twin", "ngram", "hybrid", "auto")
    assert (loaded.drafter, loaded.drafters, loaded.no_drafter) == ("twin", drafters, None)
    assert list(loaded.refused) == ["small-model"]
    assert loaded.context == 1024, "a model's own limit bounds the setting"
    assert (loaded.device, loaded.dtype) == ("cpu", "float32")


def test_a_model_refuses_a_drafter_that_was_not_made_and_says_why(folder: Path) -> None:
    session = Session()
    with pytest.raises(Problem, match="No model is loaded"):
        session.require_drafter("ngram")
    loaded = load(session, ModelChoice(model=str(folder), dtype="float32", drafter="ngram"))
    assert isinstance(loaded, Loaded)
    assert "ngram" in loaded.drafters
    assert loaded.refused["twin"] == Notice("drafter.not_made")
    assert loaded.refused["small-model"] == Notice("drafter.no_draft_model")
    session.require_drafter("ngram")
    session.require_drafter("none")
    with pytest.raises(Problem, match="twin cannot draft for tiny: it was not made when the model was loaded"):
        session.require_drafter("twin")
    with pytest.raises(Problem, match="oracle is not a drafter"):
        session.require_drafter("oracle")


def test_a_k_that_exact_mode_was_not_tested_for_is_refused(folder: Path) -> None:
    session = Session()
    loaded = load(session, ModelChoice(model=str(folder), dtype="float32", exact=True))
    assert isinstance(loaded, Loaded)
    if loaded.mode == "exact":
        events = list(session.reply(ask(), fixed(20)))
        assert isinstance(events[-1], Failed)
        assert events[-1].notice.id == "error.k_too_large"


def test_g02_the_old_model_is_gone_before_the_new_one_comes(folder: Path) -> None:
    session = Session()
    load(session, ModelChoice(model=str(folder), dtype="float32", drafter="none"))
    assert session._ready is not None
    old = weakref.ref(session._ready.model.model)
    steps = session.load(ModelChoice(model=str(folder), dtype="float32", drafter="none"), threading.Event())
    next(steps)
    gc.collect()
    assert old() is None
    assert isinstance(list(steps)[-1], Loaded)


def test_without_a_drafter_it_chats_and_says_why(folder: Path) -> None:
    session = Session()
    loaded = load(session, ModelChoice(model=str(folder), dtype="float32", drafter="none"))
    assert isinstance(loaded, Loaded)
    assert loaded.no_drafter is not None
    events, finished = play(session, ask(), fixed(4))
    status = next(event.status for event in events if isinstance(event, Round))
    assert sentence(status) == "Off: no drafter is chosen"
    assert finished.statistics.acceptance is None


def test_a_failed_load_is_one_sentence_and_leaves_no_model(tmp_path: Path) -> None:
    session = Session()
    failed = load(session, ModelChoice(model=str(tmp_path / "nothing")))
    assert isinstance(failed, LoadFailed)
    assert "nothing" in sentence(failed.notice)
    events = list(session.reply(ask(), fixed(1)))
    assert isinstance(events[-1], Failed)
    assert events[-1].notice.id == "error.no_model"


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_load_can_be_given_up(folder: Path, steps: int) -> None:
    session = Session()
    cancel = threading.Event()
    load_ = session.load(ModelChoice(model=str(folder), dtype="float32"), cancel)
    for _ in range(steps):
        next(load_)
    cancel.set()
    last = list(load_)[-1]
    assert isinstance(last, LoadFailed)
    assert last.notice.id == "error.cancelled"
    assert isinstance(load(session, ModelChoice(model=str(folder), dtype="float32", drafter="none")), Loaded)


def test_e01_missing_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    failed = load(Session(), ModelChoice(model=str(tmp_path)))
    assert isinstance(failed, LoadFailed)
    assert failed.notice.id == "error.missing_weights"
    assert "model.layers.1.mlp.up_proj.weight" in sentence(failed.notice)
