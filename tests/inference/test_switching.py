"""Another model is chosen: while a reply streams, ten times, after a failure. Text stays, memory comes back."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref
from typing import TYPE_CHECKING

import pytest
import torch

from inference import freeing
from inference.events import Finished, Loaded, LoadFailed, Round
from inference.messages import Notice
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling
from tests.inference.models.folders_for_tests import whole_model

if TYPE_CHECKING:
    from pathlib import Path


def choice(folder: Path) -> ModelChoice:
    return ModelChoice(model=str(folder), drafter="none", dtype="float32", exact=False)


def load(session: Session, folder: Path) -> Loaded | LoadFailed:
    *_, last = session.load(choice(folder), threading.Event())
    assert isinstance(last, Loaded | LoadFailed)
    return last


def test_a_switch_while_a_reply_streams_keeps_its_text_and_frees_its_model(tmp_path: Path) -> None:
    for name in ("one", "two"):
        whole_model(tmp_path / name)
    session = Session()
    assert isinstance(load(session, tmp_path / "one"), Loaded)
    assert session.ready is not None
    old = weakref.ref(session.ready.engine.cache)
    control = Control()
    request = Request(1, (Message("user", "hello"),), Sampling(temperature=0), 200)
    seen = []
    for event in session.reply(request, control):
        if isinstance(event, Round):
            seen.append("".join(piece.text for piece in event.pieces))
            if event.index == 5:
                control.cancel.set()  # what the window does when another model is chosen
    assert isinstance(event, Finished)
    assert event.reason.id == "finish.cancelled"
    assert event.text.startswith("".join(seen))
    assert len(event.token_ids) == 6
    assert isinstance(load(session, tmp_path / "two"), Loaded)
    gc.collect()
    assert old() is None
    *_, event = session.reply(request, Control())
    assert isinstance(event, Finished)


def test_out_of_memory_at_load_is_told_with_figures_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_model(tmp_path / "one")
    held: list[weakref.ref[torch.Tensor]] = []

    def failing(*_: object) -> None:
        taken = torch.ones(1000)
        held.append(weakref.ref(taken))
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has 1 GiB free.")

    session = Session()
    with monkeypatch.context() as patch:
        patch.setattr("inference.loading.load_text_model", failing)
        failed = load(session, tmp_path / "one")
    assert isinstance(failed, LoadFailed)
    assert failed.notice.id == "error.memory_weights"
    assert failed.notice.values["asked_gb"] == pytest.approx(20 * 2**30 / 1e9)
    assert session.ready is None
    assert held[0]() is None
    assert isinstance(load(session, tmp_path / "one"), Loaded)


@pytest.mark.parametrize(("error", "id", "asked"), [
    (MemoryError(), "error.memory_used_up", None),
    (RuntimeError("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory: you tried to "
                  "allocate 4000000000 bytes."), "error.memory_asked", 4.0),
    (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 512.00 MiB."), "error.memory_asked", 0.536870912),
])
def test_by_whatever_name_memory_ran_out(error: Exception, id: str, asked: float | None) -> None:
    assert freeing.is_out_of_memory(error)
    notice = freeing.told(error)
    assert notice.id == id
    assert notice.values.get("asked_gb") == asked
    assert 0 < float(notice.values["free_gb"]) <= float(notice.values["total_gb"])
    assert freeing.anew(notice).id == id
    assert freeing.anew(Notice("error.no_model")) == Notice("error.no_model")
    assert not freeing.is_out_of_memory(RuntimeError("shapes differ"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_after_ten_switches_memory_is_within_5_percent_of_the_first_load(tmp_path: Path) -> None:
    shape = {"hidden_size": 1024, "intermediate_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 4}
    for name, layers in (("one", 10), ("two", 6)):
        whole_model(tmp_path / name, num_hidden_layers=layers, **shape)
    choices = [
        {"model": str(tmp_path / name), "drafter": "none", "exact": False}
        for name in ("one", "two")
    ]
    child = subprocess.run(
        [sys.executable, "-m", "tests.inference.models.switching_child"],
        input=json.dumps(choices), capture_output=True, text=True, check=True,
    )
    first, *later = json.loads(child.stdout)
    assert len(later) == 5
    assert later[-1] <= 1.05 * first, (first, later)
