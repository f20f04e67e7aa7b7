"""The list of tested models: facts that agree with each other, and enough of them for every size of card."""

from __future__ import annotations

import re

import pytest

from inference.bench.theory import best_draft_length, speed_up
from inference.models import tested

BYTES_OF_TWIN = 3.5 / 8
CONTEXT = 8192
WORK = 0.6e9
OTHERS = 0.6e9
"""What a desktop keeps of a card for itself."""


def parameters(config: dict[str, object]) -> int:
    """Counted from the shapes, as Llama, Qwen and Mistral lay their weights out."""
    hidden, inner, layers, heads, pairs, width, words = (
        int(str(config[name])) for name in (
            "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
            "head_dim", "vocab_size",
        )
    )  # fmt: skip
    attention = hidden * (heads + 2 * pairs) * width + heads * width * hidden
    extra = {"qwen2": (heads + 2 * pairs) * width, "qwen3": 2 * width}.get(str(config["model_type"]), 0)
    block = attention + 3 * hidden * inner + 2 * hidden + extra
    return layers * block + hidden + words * hidden * (1 if config["tie_word_embeddings"] else 2)


def needed(one: tested.Tested) -> float:
    config = one.config
    cache = 4 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"] * CONTEXT
    return 2 * one.parameters + BYTES_OF_TWIN * one.parameters + cache + WORK


def test_enough_models_of_every_size() -> None:
    sizes = [one.parameters for one in tested.models()]
    assert len(sizes) >= 16 and len({one.repository for one in tested.models()}) == len(sizes)
    assert min(sizes) < 0.2e9 and max(sizes) > 32e9
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("one", tested.models(), ids=lambda one: one.name)
def test_the_facts_of_a_model_agree(one: tested.Tested) -> None:
    assert parameters(one.config) == one.parameters
    head = one.config["vocab_size"] * one.config["hidden_size"]
    assert one.size in (2 * one.parameters, 2 * (one.parameters + head))
    assert one.revision == "main" or re.fullmatch("[0-9a-f]{40}", one.revision)
    assert one.licence and one.repository.count("/") == 1
    assert ("small-model" in one.drafters) == bool(one.draft_models)
    assert ("eagle" in one.drafters) == bool(one.heads)
    known = {other.repository: other for other in tested.models()}
    assert all(known[name].parameters < one.parameters / 2 for name in one.draft_models)


@pytest.mark.parametrize("card", [8, 12, 16, 24])
def test_two_models_at_least_for_every_card_where_a_draft_pays(card: int) -> None:
    suiting = [one for one in tested.models() if card in one.cards]
    assert len(suiting) >= 2
    for one in suiting:
        assert needed(one) <= card * 2**30 - OTHERS, one.name
    # Design D7 with its forecasts: the twin's step costs .3 of a plain one, .75 of its tokens are accepted or more.
    verify = [1.0 + 0.03 * rows for rows in range(9)]
    k = best_draft_length(0.75, 0.3, verify)
    assert speed_up(0.75, k, 0.3, verify[k]) > 1.2


@pytest.mark.parametrize(("gpu", "ram", "name"), [
    (None, 4, "Qwen2.5 0.5B"), (None, 64, "Qwen3 0.6B"), (None, 0.5, "SmolLM2 135M"), (8.0, 16, "Qwen3 1.7B"),
    (11.6, 32, "Qwen2.5 3B"), (15.6, 32, "Qwen3 4B 2507"), (23.6, 64, "Qwen3 8B"), (4, 16, "Qwen3 0.6B"),
])  # fmt: skip
def test_what_is_recommended(gpu: float | None, ram: float, name: str) -> None:
    found = tested.recommended(gpu, ram)
    assert found.name == name
    assert not found.gated
