"""The twin as a module: shared with the target, the same from packed and unpacked matrices and in every product."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from inference.decoder import JOINED, Decoder, pack
from inference.native import products
from inference.quantize import cpu_kernel
from inference.quantize.agreement import agreement, hits, rounds
from inference.quantize.build import Step, Twin, assemble, build_twin, quantize_matrices
from inference.quantize.calibrate import layer_inputs
from inference.quantize.codebook import quantize
from inference.quantize.linear import LowBitLinear
from inference.quantize.pack import unpack_indices
from inference.quantize.recipes import RECIPES, Format
from inference.quantize.texts import ANSWERS, PROMPTS, Text, write_texts
from tests.inference.models_for_tests import CPU, reference, tiny_model

if TYPE_CHECKING:
    from collections.abc import Generator

TEXTS = [Text(tuple(range(1, 40)), 5), Text(tuple(range(90, 60, -1)), 10)]
FORMATS = sorted({recipe.others for recipe in RECIPES.values()}, key=str)


def finished(work: Generator[Any, None, Any]) -> tuple[list[Any], Any]:
    steps = []
    while True:
        try:
            steps.append(next(work))
        except StopIteration as end:
            return steps, end.value


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3"])
@pytest.mark.parametrize("feedback", [False, True], ids=["quick", "feedback"])
def test_a_twin_shares_norms_and_embeddings_and_leaves_the_target_alone(family: str, feedback: bool) -> None:
    target = tiny_model(family)
    before = {name: value.clone() for name, value in target.state_dict().items()}
    steps, twin = finished(build_twin(target, TEXTS, RECIPES["mixed3"], feedback=feedback))
    assert isinstance(twin, Twin)
    assert all(torch.equal(value, before[name]) for name, value in target.state_dict().items())
    assert not any(layer._forward_pre_hooks for layer in target.modules())
    assert target.config.num_hidden_layers == len(target.model.layers)
    assert steps[0] == Step(0, len(target.model.layers) + 1, 0.0)
    assert steps[-1].fraction == 1.0
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    model = twin.model
    assert not [layer for layer in model.modules() if type(layer) is nn.Linear]
    assert isinstance(model.get_output_embeddings(), LowBitLinear)
    assert model.get_input_embeddings().weight is target.get_input_embeddings().weight
    layer, original = model.model.layers[0], target.model.layers[0]
    assert layer.input_layernorm.weight is original.input_layernorm.weight
    if family == "qwen2":
        assert layer.self_attn.q_proj.bias is original.self_attn.q_proj.bias
    assert 3.0 < twin.level_bits < 4.0
    assert twin.packed_bits == pytest.approx(8 * twin.bytes / sum(m.weight.numel() for m in linears(target)))


def linears(model: Any) -> list[nn.Linear]:
    return [layer for layer in model.modules() if type(layer) is nn.Linear]


@pytest.mark.parametrize("feedback", [False, True], ids=["quick", "feedback"])
@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_a_packed_target_gives_the_same_twin(family: str, feedback: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "available", lambda: False)  # their sums have another order, and roundings tip
    whole, taken = tiny_model(family), tiny_model(family)
    list(pack(taken))
    recipe = RECIPES["affine3"]
    _, first = finished(quantize_matrices(whole, TEXTS, JOINED, recipe, feedback=feedback))
    _, second = finished(quantize_matrices(taken, TEXTS, JOINED, recipe, feedback=feedback))
    assert first.keys() == second.keys()
    for path in first:
        same = (first[path].dequantize() - second[path].dequantize()).abs() < 1e-3
        assert same.float().mean() > 0.98, path  # sums in another order may tip a rounding


def test_matrices_are_let_go_where_they_are_not_kept() -> None:
    target = tiny_model("llama")
    _, matrices = finished(quantize_matrices(target, TEXTS, JOINED, RECIPES["mixed3"], feedback=False))
    kept = assemble(target, matrices, JOINED)
    assert len(matrices) == kept.matrices
    taken = assemble(target, matrices, JOINED, keeps=False)
    assert not matrices
    assert replace(taken, model=None) == replace(kept, model=None)
    pairs = zip(*(linear_layers(twin.model) for twin in (kept, taken)), strict=True)
    assert all(torch.equal(one(torch.eye(one.in_features)), two(torch.eye(two.in_features))) for one, two in pairs)


def linear_layers(model: Any) -> list[LowBitLinear]:
    return [layer for layer in model.modules() if isinstance(layer, LowBitLinear)]


def test_feedback_brings_the_twin_nearer_to_its_target() -> None:
    target = tiny_model("llama")
    texts = [Text(tuple(torch.randint(1, 120, (60,)).tolist()), 2) for _ in range(12)]
    ids = torch.tensor([texts[0].ids])
    wanted = target(input_ids=ids).logits.detach()
    errors = []
    for feedback in (False, True):
        _, twin = finished(build_twin(target, texts, RECIPES["nf3"], feedback=feedback))
        errors.append(float((twin.model(input_ids=ids).logits.detach() - wanted).square().mean()))
    assert errors[1] < errors[0]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_moments_are_those_of_what_the_layers_read(family: str) -> None:
    target = tiny_model(family)
    seen: dict[str, list[torch.Tensor]] = {}
    hooks = [
        layer.register_forward_pre_hook(lambda _, x, name=name: seen.setdefault(name, []).append(x[0][0]))
        for name, layer in target.named_modules()
        if type(layer) is nn.Linear
    ]
    with torch.inference_mode():
        for text in TEXTS:
            target(input_ids=torch.tensor([text.ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    found = {}
    for inputs in layer_inputs(target, TEXTS, {}):
        found |= inputs.moments
        assert inputs.rows == sum(len(text.ids) - text.begin + 1 for text in TEXTS)
    assert found.keys() == seen.keys()
    for name, moments in found.items():
        rows = torch.cat([x[text.begin - 1 :] for x, text in zip(seen[name], TEXTS, strict=True)]).float()
        assert torch.allclose(moments, rows.T @ rows, rtol=1e-3, atol=1e-3), name


def test_a_model_without_matrices_has_no_twin() -> None:
    with pytest.raises(ValueError, match="linear"):
        finished(build_twin(nn.Sequential(nn.LayerNorm(4)), [], RECIPES["nf3"]))


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("shape", [(64, 96), (50, 100)], ids=str)
@pytest.mark.parametrize("kernel", ["native", "int4"])
def test_the_layer_multiplies_what_the_oracle_holds(
    kernel: str, format: Format, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not cpu_kernel.available():
        pytest.fail("this build of PyTorch lacks the int4 kernel")
    if kernel == "native" and not products.available():
        pytest.skip(f"no compiled products: {products.trouble()}")
    if kernel == "int4":
        monkeypatch.setattr(products, "available", lambda: False)
    torch.manual_seed(1)
    parts = [quantize(torch.randn(shape), format).packed() for _ in range(2)]
    bias = torch.randn(2 * shape[0])
    layer = LowBitLinear(parts, bias, torch.float32, CPU)
    x = torch.randn(2, 3, shape[1])
    oracle = x @ torch.cat([part.dequantize() for part in parts]).T + bias
    assert layer(x).shape == oracle.shape
    if kernel == "native":
        bits = sum(part.bytes for part in parts) * 8 / (2 * shape[0] * shape[1])
        assert layer.kernel == "native"
        assert layer.resident_bits == pytest.approx(bits, rel=0.01), "as packed, but for room behind the last scale"
        rounded = torch.cat([part.multiply_rounded(x.flatten(0, 1)) for part in parts], -1) + bias
        assert torch.allclose(layer(x).flatten(0, 1), rounded, atol=1e-4)
        assert (layer(x) - oracle).norm() < 0.01 * oracle.norm(), "activations have 8 bits"
        half = LowBitLinear(parts, bias.bfloat16(), torch.bfloat16, CPU)
        assert half(x.bfloat16()).dtype == torch.bfloat16
        assert (half(x.bfloat16()) - oracle).norm() < 0.02 * oracle.norm()
    elif format.affine:
        assert (layer.kernel, layer.resident_bits) == ("int4", 5.0)
        assert (layer(x) - oracle).norm() < 0.01 * oracle.norm(), "step and zero point are bfloat16 numbers"
        _, scales = cpu_kernel.pack(parts[0], torch.float32)
        values = cpu_kernel.unpack(scales, unpack_indices(parts[0].words, format.bits), format.bits)
        assert torch.allclose(layer(x)[..., : shape[0]], x @ values[:, : shape[1]].T + bias[: shape[0]], atol=1e-3)
    else:
        assert (layer.kernel, layer.resident_bits) == ("plain", 32.0)
        assert torch.allclose(layer(x), oracle, atol=1e-4)


@pytest.mark.parametrize("rows", [64, 256, 300, 1000])
def test_rows_laid_out_in_pieces_lie_as_all_at_once(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    part = quantize(torch.randn(rows, 96), RECIPES["affine4"].others).packed()
    whole = cpu_kernel.pack(part, torch.bfloat16)
    monkeypatch.setattr(cpu_kernel, "PIECE", 128)
    assert all(torch.equal(one, other) for one, other in zip(cpu_kernel.pack(part, torch.bfloat16), whole, strict=True))


def test_without_the_kernel_the_product_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    part = quantize(torch.randn(32, 64), RECIPES["affine4"].others).packed()
    monkeypatch.setattr(cpu_kernel, "available", lambda: False)
    monkeypatch.setattr(products, "available", lambda: False)
    layer = LowBitLinear([part], None, torch.float32, CPU)
    x = torch.randn(3, 64)
    assert torch.allclose(layer(x), x @ part.dequantize().T, atol=1e-5)


def test_texts_written_together_are_those_written_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.quantize import texts

    monkeypatch.setattr(texts, "CANDIDATES", 1)  # greedy
    forward = reference(tiny_model("llama"))
    prompts = [[1, 5, 9, 2], [7, 7, 3], [50, 2, 8, 8, 30]]
    together = finished(write_texts(forward, prompts, frozenset(), CPU, 12))[1]
    alone = [finished(write_texts(forward, [prompt], frozenset(), CPU, 12))[1][0] for prompt in prompts]
    assert together == alone
    assert [len(text.ids) - text.begin for text in together] == [12, 12, 12]
    end = together[0].ids[6]
    short = finished(write_texts(forward, prompts, frozenset({end}), CPU, 12))[1][0]
    assert short.ids == together[0].ids[: together[0].ids.index(end, 4) + 1]


def test_what_is_read_off_a_text_is_what_decoding_would_have_been() -> None:
    """The engine itself decodes the text with the twin; the same tokens are tested and accepted."""
    from inference.drafters.twin import TwinDrafter
    from tests.inference.models_for_tests import FixedK, engine_for, write

    target = tiny_model("llama")
    _, twin = finished(build_twin(target, TEXTS, RECIPES["affine4"], JOINED))
    list(pack(target))
    forward, draft = Decoder(target), Decoder(twin.model)
    prompt = [3, 14, 15, 92, 65]
    engine = engine_for(forward)
    planner = FixedK(4)
    written = write(engine, prompt, TwinDrafter(draft, engine.cache, CPU), planner, count=80)
    text = Text((*prompt, *written), len(prompt))
    found = rounds(hits(forward, draft, text, 4, CPU))
    whole = planner.outcomes[:-1]  # the last round may be cut
    assert abs(sum(found.accepted) - sum(outcome.accepted for outcome in planner.outcomes)) <= 4
    assert abs(found.rounds - len(planner.outcomes)) <= 1
    assert sum(found.accepted) >= sum(outcome.accepted for outcome in whole)
    agreed, compared = agreement(forward, forward, [text], CPU)
    assert agreed == compared == len(written) + 1


def test_rounds_go_on_behind_a_miss() -> None:
    yes, no = True, False
    found = rounds([[yes, no, yes, yes], [no, yes, yes, no]])
    assert (found.tested, found.accepted, found.rounds) == ((2, 1), (2, 1), 2)
    found = rounds([[no, yes, no]])
    assert (found.tested, found.accepted, found.rounds) == ((2,), (1,), 2)


def test_prompts_and_answers_are_of_several_kinds_and_languages() -> None:
    for joined in (" ".join(PROMPTS), " ".join(question + answer for question, answer in ANSWERS)):
        assert "¿" in joined
        assert "ü" in joined
    assert len(PROMPTS) >= 40
    assert len(ANSWERS) >= 8
