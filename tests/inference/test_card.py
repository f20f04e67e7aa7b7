"""A card's forwards, where there is none."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from inference import card, loading
from inference.decoder import Decoder
from inference.device_rounds import GraphTwin
from inference.events import Finished, Loaded
from inference.graphs import GraphForward
from inference.kv_cache import KVCache
from inference.measure import StepTimes
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.models_for_tests import CPU, tiny_model
from tests.inference.session_for_tests import save_model

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")


def test_cards_are_counted_as_the_driver_counts_them() -> None:
    import os

    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_a_model_whose_step_cannot_be_fused_says_why() -> None:
    model = tiny_model("gemma3")
    with pytest.raises(ValueError, match="architecture"):
        card.Card(model, lambda *_, **__: None, KVCache(100, 20), CPU)  # type: ignore[arg-type]
    whole = tiny_model("llama")
    with pytest.raises(ValueError, match="joined"):
        card.Card(whole, Decoder, KVCache(100, 20), CPU)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_session_on_a_card_writes_the_same_with_and_without_drafts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded as on a card: graphs for target and twin, rounds on the device; kernels interpreted, times made up."""
    monkeypatch.setattr(loading, "takes_graphs", lambda device: True)
    monkeypatch.setattr(loading, "LARGEST_K", 2)
    monkeypatch.setattr(card, "STEPS", 2)
    times = StepTimes((10.0, 11.0), (10.0, 10.5, 11.0), 0.0)
    monkeypatch.setattr(loading, "step_times", lambda *_, **__: (times, times))
    save_model(
        tmp_path, **{"hidden_size": 32, "num_attention_heads": 1, "num_key_value_heads": 1, "num_hidden_layers": 1}
    )
    session = Session()
    choice = ModelChoice(model=str(tmp_path), drafter="twin", dtype="float32", context=300, exact=False)
    events = list(session.load(choice, threading.Event()))
    loaded = events[-1]
    assert isinstance(loaded, Loaded), loaded
    assert loaded.no_drafter is None
    assert [event.notice.values["total"] for event in events if getattr(event, "notice", None) is not None
            and event.notice.id == "load.graphs"][-1] == 3  # fmt: skip
    ready = session.ready
    assert ready is not None
    assert isinstance(ready.engine.forward, GraphForward)
    assert ready.engine.rounds is not None
    offer = ready.offered.find("twin")
    assert offer is not None
    assert isinstance(offer.drafter, GraphTwin)
    assert offer.step_ms > 0
    texts = []
    for k in (0, 2):
        sampling = Sampling(temperature=0.7, seed=3)
        request = Request(1, (Message("user", "hi"),), sampling, max_new_tokens=5)
        finished = list(session.reply(request, Control(Speculation(on=k > 0, k=k))))[-1]
        assert isinstance(finished, Finished), finished
        texts.append(finished.token_ids)
    assert texts[0] == texts[1]
    session.close()
