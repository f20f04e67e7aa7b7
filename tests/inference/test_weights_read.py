"""Weights read one at a time are those that transformers loads, and are no part of the files any more."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference import llama_like, transformers_loading
from inference.decoder import Decoder, pack
from inference.drafters.offered import Offered
from inference.kv_cache import KVCache
from inference.linears import DenseLinear, PackedRows, StoredRows
from inference.memory import taken
from inference.messages import Problem
from inference.model import load_text_model
from inference.models import contents
from inference.native import products
from inference.rows import tree_rows
from tests.inference.models.folders_for_tests import change_json, shard_names, whole_model
from tests.inference.models_for_tests import CPU

if TYPE_CHECKING:
    from pathlib import Path

BFLOAT16 = torch.bfloat16


def empty(folder: Path, dtype: torch.dtype = BFLOAT16) -> Any:
    return llama_like.empty_model(folder, folder.name, contents.read(folder / contents.CONFIG, folder.name), dtype)


def logits(model: Any) -> torch.Tensor:
    cache = KVCache(64, 8)
    return Decoder(model)(tree_rows([5, 9, 2, 200, 31], None, 0, cache.slots, device=CPU), cache).clone()


@pytest.mark.parametrize("dtype", [torch.float32, BFLOAT16], ids=str)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "apart"])
@pytest.mark.parametrize("family", ["Llama", "Qwen2", "Qwen3", "Mistral"])
def test_a_filled_model_is_the_loaded_one(
    family: str, tied: bool, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "available", lambda: False)  # they keep matrices as they are stored
    scaling = {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}
    whole_model(tmp_path, family, shards=True, tie_word_embeddings=tied, rope_parameters=scaling)
    assert len(shard_names(tmp_path)) > 1
    change_json(tmp_path / "generation_config.json", eos_token_id=[0, 7])
    loaded = load_text_model(tmp_path, "tiny", dtype, CPU)
    filled = load_text_model(tmp_path, "tiny", dtype, CPU, is_filled_later=lambda _: True)
    assert loaded.weights is None
    assert filled.weights is not None
    assert all(parameter.is_meta for parameter in filled.model.parameters())
    assert (filled.parameters, filled.vocabulary) == (loaded.parameters, loaded.vocabulary)
    assert filled.model.generation_config.eos_token_id == [0, 7]
    filled.weights.fill(filled.model)
    wanted, found = ({**m.model.state_dict(), **dict(m.model.named_buffers())} for m in (loaded, filled))
    del wanted["model.rotary_emb.original_inv_freq"]  # for scalings that change with the length of the text
    assert wanted.keys() == found.keys()
    for name, tensor in wanted.items():
        assert tensor.dtype == found[name].dtype
        assert torch.equal(tensor, found[name]), name
    assert (filled.model.lm_head.weight is filled.model.model.embed_tokens.weight) == tied
    ids = torch.tensor([[5, 9, 2]])
    with torch.inference_mode():
        assert torch.equal(loaded.model(input_ids=ids).logits, filled.model(input_ids=ids).logits)


@pytest.mark.parametrize("dtype", [torch.float32, BFLOAT16], ids=str)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "apart"])
def test_packed_as_they_are_read_they_give_the_same_logits(tied: bool, dtype: torch.dtype, tmp_path: Path) -> None:
    whole_model(tmp_path, tie_word_embeddings=tied)
    loaded = load_text_model(tmp_path, "tiny", dtype, CPU)
    filled = load_text_model(tmp_path, "tiny", dtype, CPU, is_filled_later=lambda _: True)
    list(pack(loaded.model))
    list(pack(filled.model, filled.weights))
    assert not [name for name, tensor in filled.model.named_parameters() if tensor.is_meta]
    assert isinstance(filled.model.model.embed_tokens, PackedRows) == (tied and filled.model.lm_head.is_packed)
    before = logits(filled.model)
    (tmp_path / contents.SINGLE).write_bytes(b"")  # a mapped file would kill the process here
    assert torch.equal(logits(filled.model), before)
    assert torch.equal(before, logits(loaded.model))


@pytest.mark.skipif(not products.available(), reason=f"no compiled products: {products.trouble()}")
@pytest.mark.parametrize("stored", [torch.float16, BFLOAT16], ids=str)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "apart"])
def test_matrices_of_16_bits_stay_so_in_float32(tied: bool, stored: torch.dtype, tmp_path: Path) -> None:
    """Half the memory, the same logits to the bit: a 16-bit number is a float32 number."""
    whole_model(tmp_path, tie_word_embeddings=tied, vocab_size=512).to(stored).save_pretrained(tmp_path)
    loaded = load_text_model(tmp_path, "tiny", torch.float32, CPU)
    filled = load_text_model(tmp_path, "tiny", torch.float32, CPU, is_filled_later=lambda _: True)
    list(pack(loaded.model))
    list(pack(filled.model, filled.weights))
    layers = [layer for layer in filled.model.modules() if isinstance(layer, DenseLinear)]
    assert {layer.dense().dtype for layer in layers} == {stored}
    assert isinstance(filled.model.model.embed_tokens, StoredRows)
    norm = filled.model.model.norm.weight
    assert norm.dtype == torch.float32
    assert torch.equal(logits(filled.model), logits(loaded.model))
    assert filled.dtype == logits(filled.model).dtype == torch.float32
    sizes = [
        taken(one.model, Decoder(one.model), KVCache(64, 8), Offered(), None)["target"] for one in (filled, loaded)
    ]
    assert sizes[0] < 0.52 * sizes[1]


def test_files_that_hold_anything_else_are_left_to_transformers(tmp_path: Path) -> None:
    model = whole_model(tmp_path)
    assert empty(tmp_path) is not None
    change_json(tmp_path / contents.CONFIG, num_hidden_layers=3)
    assert empty(tmp_path) is None
    change_json(tmp_path / contents.CONFIG, num_hidden_layers=2, intermediate_size=128)
    assert empty(tmp_path) is None
    change_json(tmp_path / contents.CONFIG, intermediate_size=model.config.intermediate_size)
    assert empty(tmp_path) is not None
    change_json(tmp_path / contents.CONFIG, auto_map={"AutoModelForCausalLM": "code.Model"})
    assert empty(tmp_path) is None


def test_a_file_that_ends_too_early_is_told(tmp_path: Path) -> None:
    whole_model(tmp_path)
    found = empty(tmp_path)
    assert found is not None
    model, weights = found
    place = tmp_path / contents.SINGLE
    place.write_bytes(place.read_bytes()[:3000])
    with pytest.raises(Problem, match="ends too early"):
        weights.fill(model)
    place.unlink()
    with pytest.raises(Problem, match="cannot be read"):
        weights.fill(model)


def test_a_package_is_absent_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with transformers_loading._absent("colorsys"), pytest.raises(ImportError):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").rgb_to_hsv
    with transformers_loading._absent("colorsys"):
        assert importlib.import_module("colorsys").rgb_to_hsv, "what is there stays"
