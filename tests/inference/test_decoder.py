"""The fast forward against the reference forward: every family, chains and trees, both precisions, target and twin."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from inference.decoder import JOINED, Decoder, eagle3_layers, pack, refusal
from inference.exact import Width, fast_width, find_width
from inference.kv_cache import KVCache
from inference.linears import packs
from inference.model import ReferenceForward
from inference.native import layers, products
from inference.quantize.build import build_twin
from inference.quantize.recipes import RECIPES
from inference.quantize.texts import Text
from inference.rows import tree_rows
from tests.inference.models_for_tests import (
    CPU,
    VOCABULARY,
    WARM,
    FixedK,
    Poisoned,
    engine_for,
    tiny_model,
    write,
)

if TYPE_CHECKING:
    from inference.model import Forward

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 256}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
TEXTS = [Text(tuple(range(1, 40)), 1)]

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama ungrouped": ("llama", {"num_key_value_heads": 4}),
    "llama, one key head": ("llama", {"num_key_value_heads": 1}),
    "llama tied": ("llama", {"tie_word_embeddings": True}),
    "llama with biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "llama, wide heads": ("llama", {"head_dim": 32}),
    "llama, heads of 64": ("llama", {"head_dim": 64}),
    "llama, heads of 72": ("llama", {"head_dim": 72}),
    "llama, heads of 128": ("llama", {"head_dim": 128}),
    "llama with gelu": ("llama", {"hidden_act": "gelu_pytorch_tanh"}),
    "llama, llama3 rotary": ("llama", {"rope_parameters": LLAMA3}),
    "llama, linear rotary": ("llama", {"rope_parameters": LINEAR}),
    "qwen2": ("qwen2", {}),
    "qwen2 tied": ("qwen2", {"tie_word_embeddings": True}),
    "qwen2, yarn rotary": ("qwen2", {"rope_parameters": YARN}),
    "qwen2 with some windows": ("qwen2", {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}),
    "qwen3": ("qwen3", {"head_dim": 32}),
    "qwen3 tied, ungrouped": ("qwen3", {"head_dim": 16, "tie_word_embeddings": True, "num_key_value_heads": 4}),
    "qwen3 with biases, yarn": ("qwen3", {"head_dim": 32, "attention_bias": True, "rope_parameters": YARN}),
    "mistral": ("mistral", {"sliding_window": None}),
    "mistral with windows": ("mistral", {"sliding_window": 8}),
    "mistral, wide heads": ("mistral", {"head_dim": 32, "sliding_window": None}),
}


def both(name: str, dtype: torch.dtype = torch.float32) -> tuple[ReferenceForward, Decoder]:
    family, changes = MODELS[name]
    known = tiny_model(family, **changes).to(dtype)
    taken = tiny_model(family, **changes).to(dtype)
    assert refusal(taken) is None
    list(pack(taken))
    return ReferenceForward(known), Decoder(taken)


def conversation(forward: Forward) -> list[torch.Tensor]:
    """Logits of all that a chat does: chunks, a step, a tree and its path, padding, a second turn; then the cache."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(0, VOCABULARY, (800,), generator=generator).tolist()
    cache = KVCache(900, 40)
    seen = []
    for start in (0, 256, 512):
        stop = min(start + 256, 600)
        rows = tree_rows(ids[start:stop], None, start, cache.slots)
        seen.append(forward(rows, cache, last_only=start > 0))
        cache.advance(stop - start)
    seen.append(forward(tree_rows(ids[600:601], None, 600, cache.slots), cache))
    cache.advance(1)
    seen.append(forward(tree_rows(ids[601:607], [-1, 0, 0, 1, 2, 2], 601, cache.slots), cache))
    cache.commit([0, 2, 5])
    seen.append(forward(tree_rows(ids[607:611], None, 604, cache.slots), cache))
    cache.commit([0, 1])
    cache.truncate(37)
    seen.append(forward(tree_rows(ids[611:640], None, 37, cache.slots), cache))
    cache.advance(29)
    for count in (1, 3):
        padded = tree_rows(ids[640 : 640 + count], None, 66, cache.slots, width=4, padded_span=True)
        seen.append(forward(padded, cache))
    return [*seen, *(buffer[:, :, :66] for layer in cache.layers for buffer in cache.layer(layer))]


NOT_COMPILED = ("llama with gelu",)


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "PyTorch's"])
@pytest.mark.parametrize("name", MODELS)
def test_logits_and_cache_are_the_reference_s(
    name: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_compiled and not products.available():
        pytest.skip(f"no compiled products: {products.trouble()}")
    if not is_compiled:
        monkeypatch.setattr(products, "available", lambda: False)
    known, decoder = both(name)
    assert (decoder._compiled is not None) == (is_compiled and name not in NOT_COMPILED)
    for theirs, ours in zip(conversation(known), conversation(decoder), strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "mistral with windows"])
def test_bfloat16_is_as_near_to_float32_as_the_reference_is(name: str) -> None:
    known, decoder = both(name, torch.bfloat16)
    family, changes = MODELS[name]
    exact = ReferenceForward(tiny_model(family, **changes).to(torch.bfloat16).float())
    results = zip(conversation(exact), conversation(known), conversation(decoder), strict=True)
    errors = [[(found.float() - truth).square().sum() for found in both] for truth, *both in results]
    theirs, ours = torch.tensor(errors).sum(0).sqrt().tolist()
    assert ours <= 1.2 * theirs


@pytest.mark.parametrize("name", ["llama", "llama, llama3 rotary", "qwen2", "qwen3", "mistral with windows"])
def test_greedy_text_is_that_of_transformers(name: str) -> None:
    known, decoder = both(name)
    family, changes = MODELS[name]
    model = tiny_model(family, **changes)
    prompt = torch.randint(1, VOCABULARY, (30,), generator=torch.Generator().manual_seed(1)).tolist()
    wanted = model.generate(torch.tensor([prompt]), max_new_tokens=80, do_sample=False)[0, 30:].tolist()
    for forward in (known, decoder):
        assert write(engine_for(forward), prompt, Poisoned(lambda ids, _: ids[-1]), FixedK(0), count=80) == wanted
    ahead = Poisoned(lambda ids, depth: (prompt + wanted + [0])[min(len(ids), 110)] if depth < 3 else 0)
    planner = FixedK(5)
    assert write(engine_for(decoder), prompt, ahead, planner, count=80) == wanted
    assert max(outcome.accepted for outcome in planner.outcomes) >= 3


@pytest.mark.parametrize("width", [fast_width(8), Width(True, 9, 9)])
def test_drafts_change_no_text(width: Width) -> None:
    _, decoder = both("qwen3")
    prompt = list(range(1, 40))
    repeat = Poisoned(lambda ids, _: ids[-7])
    plain = write(engine_for(decoder, width), prompt, repeat, FixedK(0), WARM)
    assert write(engine_for(decoder, width), prompt, repeat, FixedK(4), WARM) == plain


def test_the_self_test_of_exact_mode_runs_over_the_decoder() -> None:
    _, decoder = both("llama", torch.bfloat16)
    width = find_width(decoder, VOCABULARY, 8, CPU)
    assert width is None or (width.exact and width.largest == 9)


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "llama tied", "llama with biases"])
def test_a_twin_is_the_same_through_both_forwards(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Activations of 8 bits fall to one side or the other for a last bit.
    monkeypatch.setattr(products, "available", lambda: False)
    family, changes = MODELS[name]
    target = tiny_model(family, **changes)
    twins = [drained(build_twin(target, TEXTS, RECIPES["affine3"], joined)).model for joined in (None, JOINED)]
    assert hasattr(twins[1].model.layers[0].self_attn, "qkv_proj")
    assert not hasattr(twins[1].model.layers[0].mlp, "up_proj")
    forwards = (ReferenceForward(twins[0]), Decoder(twins[1]))
    for theirs, ours in zip(*map(conversation, forwards), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)


@pytest.mark.skipif(not products.available(), reason=f"no compiled products: {products.trouble()}")
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_compiled_twin_is_the_one_that_pytorch_runs(recipe: str) -> None:
    """Its matrices multiply in both; but for a rounding of 8-bit activations that a last bit tips, all is the same."""
    target = tiny_model("qwen2", hidden_size=128, intermediate_size=300)
    twin = drained(build_twin(target, TEXTS, RECIPES[recipe], JOINED)).model
    compiled, plain = Decoder(twin), Decoder(twin)
    assert compiled._compiled is not None
    plain._compiled = None
    for ours, theirs in zip(conversation(compiled), conversation(plain), strict=True):
        assert (ours - theirs).norm() < 0.02 * theirs.norm()


@pytest.mark.skipif(not products.available() or not products.widen(True), reason="no AVX-512")
@pytest.mark.parametrize("name", [name for name in MODELS if name not in NOT_COMPILED])
def test_wide_registers_change_no_bit_of_a_compiled_pass(name: str) -> None:
    _, decoder = both(name)
    wide = conversation(decoder)
    products.widen(False)
    try:
        assert all(torch.equal(*pair) for pair in zip(wide, conversation(decoder), strict=True))
    finally:
        products.widen(True)


@pytest.mark.skipif(not products.available(), reason=f"no compiled products: {products.trouble()}")
def test_threads_and_company_change_no_bit_of_a_compiled_pass() -> None:
    _, decoder = both("qwen3")
    ids = torch.randint(0, VOCABULARY, (330,), generator=torch.Generator().manual_seed(4)).tolist()
    threads = torch.get_num_threads()
    found = []
    try:
        for count, chunk, rows in ((1, 30, 1), (2, 300, 1), (1, 100, 7), (2, 5, 7), (3, 300, 30)):
            torch.set_num_threads(count)
            cache = KVCache(400, 80)
            logits = []
            for start in range(0, 300, chunk):
                last = decoder(tree_rows(ids[start : start + chunk], None, start, cache.slots), cache, last_only=True)
                cache.advance(chunk)
            logits.append(last)
            for start in range(300, 330, rows):
                drafted = ids[start : min(start + rows, 330)]
                padded = rows > 1
                made = tree_rows(drafted, None, start, cache.slots, padded_span=padded)
                logits.append(decoder(made, cache))
                cache.advance(len(drafted))
            found.append([torch.cat(logits), *(buffer[:, :, :330].clone() for buffer in cache.layer(1))])
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            assert torch.equal(mine, theirs)


def test_a_lack_of_memory_in_a_compiled_pass_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    if not products.available():
        pytest.skip("no compiled products")
    _, decoder = both("llama")
    monkeypatch.setattr(layers, "_forward", lambda: lambda *_: 0)
    cache = KVCache(64, 8)
    with pytest.raises(MemoryError, match="1 rows"):
        decoder(tree_rows([5], None, 0, cache.slots), cache)


def drained(build: Any) -> Any:
    while True:
        try:
            next(build)
        except StopIteration as end:
            return end.value


def test_target_and_twin_share_a_cache() -> None:
    target = tiny_model("llama")
    twin = Decoder(drained(build_twin(target, TEXTS, RECIPES["affine3"], JOINED)).model)
    list(pack(target))
    cache = KVCache(64, 16)
    twin(tree_rows([5], None, 0, cache.slots), cache)
    drafted = cache.layer(0)[0][0, :, 0].clone()
    Decoder(target)(tree_rows([5], None, 0, cache.slots), cache)
    assert len(cache.layers) == 3
    assert not torch.equal(drafted, cache.layer(0)[0][0, :, 0])


def test_packing_lets_the_matrices_go_and_keeps_the_rest() -> None:
    model = tiny_model("llama").to(torch.bfloat16)
    layer = model.model.layers[1]
    gone = [
        weakref.ref(matrix.weight)
        for matrix in (layer.self_attn.q_proj, layer.self_attn.o_proj, layer.mlp.up_proj, layer.mlp.down_proj)
        # A matrix that is neither joined nor laid out anew stays as it is.
        if packs(torch.bfloat16) or matrix in (layer.self_attn.q_proj, layer.mlp.up_proj)
    ]
    norm, embedding = layer.input_layernorm.weight, model.model.embed_tokens.weight
    steps = list(pack(model))
    del layer
    gc.collect()
    assert steps[-1][0] == steps[-1][1] == len(steps) - 1
    assert all(weight() is None for weight in gone)
    assert model.model.layers[1].input_layernorm.weight is norm
    assert model.model.embed_tokens.weight is embedding
    assert not [matrix for matrix in model.modules() if isinstance(matrix, nn.Linear)]


@pytest.mark.parametrize(
    ("family", "changes", "word"),
    [
        ("gemma3", {}, "architecture"),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "rotary"),
    ],
)
def test_what_the_decoder_does_not_compute_is_refused(family: str, changes: dict[str, Any], word: str) -> None:
    assert refusal(tiny_model(family, **changes)) == word


def test_matrices_of_another_kind_are_refused() -> None:
    model = tiny_model("llama")
    model.model.layers[2].mlp.down_proj = nn.Sequential(model.model.layers[2].mlp.down_proj)
    assert refusal(model) == "matrices"


@pytest.mark.parametrize("name", ["llama", "qwen3"])
def test_features_are_the_hidden_states_of_the_reference(name: str) -> None:
    family, changes = MODELS[name]
    changes = changes | {"num_hidden_layers": 6}
    known, taken = tiny_model(family, **changes), tiny_model(family, **changes)
    list(pack(taken))
    decoder = Decoder(taken)
    layers = eagle3_layers(6)
    assert layers == (2, 3, 3)
    decoder.watch(layers)
    ids = torch.randint(0, VOCABULARY, (40,), generator=torch.Generator().manual_seed(4)).tolist()
    states = known(torch.tensor([ids]), output_hidden_states=True).hidden_states
    cache = KVCache(100, 20)
    first = 0
    # A chunk of the prompt, of which only the last row's logits are wanted, a draft, and a plain step.
    for count, last_only in ((30, True), (9, False), (1, False)):
        decoder(tree_rows(ids[first : first + count], None, first, cache.slots), cache, last_only=last_only)
        cache.advance(count)
        found = decoder.features
        assert found is not None
        for layer, entering in zip(layers, found.entering, strict=True):
            torch.testing.assert_close(entering, states[layer][0, first : first + count], rtol=1e-5, atol=1e-4)
        torch.testing.assert_close(found.last, states[-1][0, first : first + count], rtol=1e-5, atol=1e-4)
        first += count


def test_watching_changes_nothing_but_rounding_and_can_be_ended() -> None:
    _, decoder = both("llama", torch.bfloat16)
    plain = conversation(decoder)
    decoder.watch((0, 1))
    for one, other in zip(conversation(decoder), plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)
    decoder.watch(None)
    conversation(decoder)
    assert decoder.features is None
    with pytest.raises(ValueError, match="no layer 99"):
        decoder.watch((99,))
