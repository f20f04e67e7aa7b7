"""Phi-3's rotary factors by length: read from a GGUF file, and chosen once by the context a model is loaded with."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from inference import rotary
from inference.events import Finished
from inference.messages import Problem
from inference.model import load_text_model
from inference.models import convert
from inference.models.conversion import LONG, SHORT
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.models.folders_for_tests import small_gguf

if TYPE_CHECKING:
    from pathlib import Path

LEARNED = 128
FACTORS = {LONG: np.linspace(2, 9, 8, dtype=np.float32), SHORT: np.linspace(1, 1.5, 8, dtype=np.float32)}


def silent(*_: object) -> None: ...


def phi(path: Path, **changes: Any) -> Path:
    figures = {
        "phi3__rope__scaling__original_context_length": LEARNED, "phi3__rope__scaling__attn_factor": 1.25,
        "extra": FACTORS, "kind": "F32", "context": 512,
    }  # fmt: skip
    return small_gguf(path, architecture="phi3", **{**figures, **changes})


def logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return model(ids, use_cache=False).logits


def test_the_converted_model_is_the_model(home: Path) -> None:
    """Settings of the file, and the logits of transformers' own model with them, before the border and behind it."""
    import transformers

    loaded = load_text_model(convert.bring(phi(home / "phi.gguf"), silent), "phi", torch.float32, torch.device("cpu"))
    settings = loaded.config.rope_parameters
    assert settings["rope_type"] == "longrope" and settings["original_max_position_embeddings"] == LEARNED
    assert settings["attention_factor"] == 1.25
    assert np.allclose(settings["long_factor"], FACTORS[LONG]) and np.allclose(settings["short_factor"], FACTORS[SHORT])
    shape = {
        "vocab_size": 264, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "pad_token_id": 0,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-5,
        "original_max_position_embeddings": LEARNED, "tie_word_embeddings": False,
    }  # fmt: skip
    rope = {
        "rope_type": "longrope", "rope_theta": 10000.0, "attention_factor": 1.25, "factor": 4.0,
        "long_factor": FACTORS[LONG].tolist(), "short_factor": FACTORS[SHORT].tolist(),
        "original_max_position_embeddings": LEARNED,
    }  # fmt: skip
    own: Any = transformers.Phi3ForCausalLM(transformers.Phi3Config(**shape, rope_parameters=rope)).eval()
    own.load_state_dict(loaded.model.state_dict())
    for length, context in ((100, LEARNED), (200, 512)):
        ids = torch.randint(0, 264, (1, length), generator=torch.Generator().manual_seed(length))
        expected = logits(own, ids)
        model = load_text_model(
            home / "data" / "borrador" / "models" / "phi", "phi", torch.float32, torch.device("cpu")
        )
        rotary.settle(model.model, context)
        assert torch.allclose(logits(model.model, ids), expected, atol=1e-5)
        assert rotary.SETTLED in {getattr(module, "rope_type", None) for module in model.model.modules()}


def test_the_factors_stay_what_they_are_when_a_text_grows(home: Path) -> None:
    """A row's logits do not depend on whether later rows of the same pass lie behind the border."""
    folder = convert.bring(phi(home / "phi.gguf"), silent)
    model = load_text_model(folder, "phi", torch.float32, torch.device("cpu")).model
    ids = torch.randint(0, 264, (1, LEARNED + 8), generator=torch.Generator().manual_seed(1))
    before = logits(model, ids[:, :LEARNED])
    assert not torch.allclose(logits(model, ids)[:, :LEARNED], before, atol=1e-3)  # what transformers does
    rotary.settle(model, 512)
    before = logits(model, ids[:, :LEARNED])
    assert torch.allclose(logits(model, ids)[:, :LEARNED], before, atol=1e-5)


def test_drafting_across_the_border_changes_no_word(home: Path) -> None:
    folder = convert.bring(phi(home / "phi.gguf"), silent)
    session = Session()
    *_, _ = session.load(ModelChoice(str(folder), context=512, dtype="float32", drafter="ngram"), threading.Event())
    assert session.ready is not None
    texts = []
    for on in (False, True):
        request = Request(1, (Message("user", "ab" * 50),), Sampling(temperature=0), 64)
        *_, last = session.reply(request, Control(Speculation(on=on, k=4, drafter="ngram")))
        assert isinstance(last, Finished) and last.statistics.prompt_tokens < LEARNED
        assert last.statistics.prompt_tokens + last.statistics.tokens > LEARNED
        texts.append(last.token_ids)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("changes", [
    {"extra": {LONG: FACTORS[LONG]}}, {"extra": {LONG: FACTORS[LONG], SHORT: FACTORS[SHORT][:4]}},
    {"phi3__rope__scaling__original_context_length": "many"},
])  # fmt: skip
def test_factors_that_are_not_whole_are_refused(changes: dict[str, Any], home: Path) -> None:
    with pytest.raises(Problem) as caught:
        convert.bring(phi(home / "phi.gguf", **changes), silent)
    assert caught.value.notice.id == "error.not_converted" and "rotary factors" in str(caught.value)


def test_a_model_that_turns_only_a_part_of_each_head_keeps_that(home: Path) -> None:
    factors = {name: numbers[:4] for name, numbers in FACTORS.items()}
    path = phi(home / "phi.gguf", extra=factors, dimensions=8)
    loaded = load_text_model(convert.bring(path, silent), "phi", torch.float32, torch.device("cpu"))
    assert loaded.config.rope_parameters["partial_rotary_factor"] == 0.5
