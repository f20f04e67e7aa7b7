"""Choosing a card, and a card's forwards, where there is none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from inference import card
from inference.decoder import Decoder
from inference.events import Problem
from inference.kv_cache import KVCache
from tests.inference.models_for_tests import CPU, tiny_model


def cards(monkeypatch: pytest.MonkeyPatch, count: int, broken: str | None = None) -> list[torch.device]:
    """So many cards; ``broken`` is what a first operation says. The list tells which one was made the current one."""
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)

    def ones(*_: object, **__: object) -> object:
        if broken:
            raise RuntimeError(broken)
        return SimpleNamespace(sum=lambda: SimpleNamespace(item=lambda: 8))

    monkeypatch.setattr(card.torch, "ones", ones)
    return current


def test_cards_are_counted_as_the_driver_counts_them() -> None:
    import os

    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


@pytest.mark.parametrize(
    ("wanted", "count", "expected"),
    [("auto", 0, "cpu"), ("cpu", 2, "cpu"), ("auto", 1, "cuda:0"), ("cuda", 2, "cuda:0"), ("cuda:1", 2, "cuda:1")],
)
def test_the_card_that_is_asked_for_is_used(
    monkeypatch: pytest.MonkeyPatch, wanted: str, count: int, expected: str
) -> None:
    current = cards(monkeypatch, count)
    assert card.device_of(wanted) == torch.device(expected)
    assert current == ([] if expected == "cpu" else [torch.device(expected)])


@pytest.mark.parametrize(
    ("wanted", "count", "said"), [("cuda", 0, "sees no NVIDIA card"), ("cuda:2", 2, "2 of them are here")]
)
def test_a_card_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, wanted: str, count: int, said: str) -> None:
    cards(monkeypatch, count)
    with pytest.raises(Problem) as caught:
        card.device_of(wanted)
    assert said in str(caught.value.notice.values["detail"])


def test_a_card_that_this_build_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    cards(monkeypatch, 1, "no kernel image is available for execution on the device\nmore")
    assert card.device_of("auto") == torch.device("cpu")
    with pytest.raises(Problem) as caught:
        card.device_of("cuda")
    assert caught.value.notice.values["detail"] == "no kernel image is available for execution on the device"


def test_a_model_whose_step_cannot_be_fused_says_why() -> None:
    model = tiny_model("gemma3")
    with pytest.raises(ValueError, match="architecture"):
        card.Card(model, lambda *_, **__: None, KVCache(100, 20), CPU)  # type: ignore[arg-type]
    whole = tiny_model("llama")
    with pytest.raises(ValueError, match="joined"):
        card.Card(whole, Decoder, KVCache(100, 20), CPU)  # type: ignore[arg-type]
