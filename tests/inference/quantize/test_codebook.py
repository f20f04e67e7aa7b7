"""The twin's weights: bitsandbytes' indices, eight values a block, one oracle for all kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from inference.quantize import cpu_kernel
from inference.quantize.build import build_twin
from inference.quantize.calibrate import TEXTS, input_importance
from inference.quantize.codebook import BLOCK, SHRINKS, nearest, padded_code, quantize, uniform_levels
from inference.quantize.linear import LowBitLinear
from tests.inference.models_for_tests import CPU, tiny_model

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = uniform_levels()


@pytest.fixture(params=[(64, 96), (50, 100), (16, 32)], ids=str)
def weight(request: pytest.FixtureRequest) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(request.param) * torch.rand(request.param[0], 1)


def test_a_code_of_eight_entries_needs_padding_and_a_clamp() -> None:
    """The trap of bitsandbytes' CPU path, seen as it is: indices above 7 for weights beyond the last level."""
    levels = torch.arange(-4, 4) / 3.5
    code = padded_code(levels)
    assert code.shape == (256,)
    assert (code.diff() >= 0).all()
    from bitsandbytes.functional import quantize_blockwise

    torch.manual_seed(0)
    indices, _ = quantize_blockwise(torch.randn(64, 96), code=code, blocksize=BLOCK)
    assert indices.max() > 7
    assert quantize(torch.randn(64, 96), levels).indices.max() == 7


def test_indices_are_bitsandbytes_own_and_scales_bfloat16(weight: torch.Tensor) -> None:
    from bitsandbytes.functional import quantize_blockwise

    found = quantize(weight, LEVELS)
    padded = nn.functional.pad(weight, (0, -weight.shape[1] % BLOCK))
    limits = found.scales.repeat_interleave(BLOCK, dim=1)
    clipped = torch.maximum(torch.minimum(padded, limits), -limits)
    indices, state = quantize_blockwise(clipped, code=padded_code(LEVELS), blocksize=BLOCK)
    assert torch.equal(found.indices, indices.clamp(max=7))
    assert torch.equal(found.scales.flatten(), state.absmax)
    assert torch.equal(found.scales, found.scales.bfloat16().float())


def test_at_most_eight_values_a_block_reach_the_kernel(weight: torch.Tensor) -> None:
    found = quantize(weight, LEVELS)
    packed, scales = cpu_kernel.pack(found.indices, found.scales, LEVELS, torch.bfloat16)
    values = cpu_kernel.unpack(scales, found.indices)
    for block in values.view(-1, BLOCK):
        assert len(block.unique()) <= 8
    exact = found.scales.repeat_interleave(BLOCK, dim=1) * LEVELS[found.indices.int()]
    largest = found.scales.repeat_interleave(BLOCK, dim=1)
    assert ((values - exact).abs() <= largest * 2**-6).all(), "step and zero point are bfloat16 numbers"
    assert packed.numel() == -(-weight.shape[0] // 16) * 16 * found.indices.shape[1] // 2


def test_the_kernel_multiplies_what_the_oracle_holds(weight: torch.Tensor) -> None:
    if not cpu_kernel.available():
        pytest.fail("this build of PyTorch lacks the int4 kernel")
    found = quantize(weight, LEVELS)
    bias = torch.randn(weight.shape[0])
    layer = LowBitLinear(found, bias, torch.float32, CPU)
    x = torch.randn(2, 3, weight.shape[1])
    _, scales = cpu_kernel.pack(found.indices, found.scales, LEVELS, torch.float32)
    oracle = cpu_kernel.unpack(scales, found.indices)[:, : weight.shape[1]]
    assert layer(x).shape == (2, 3, weight.shape[0])
    assert torch.allclose(layer(x), x @ oracle.T + bias, atol=1e-4)
    assert layer.resident_bits == 5


def test_the_plain_path_gives_the_same_product(weight: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    found = quantize(weight, LEVELS)
    x = torch.randn(3, weight.shape[1])
    monkeypatch.setattr(cpu_kernel, "available", lambda: False)
    layer = LowBitLinear(found, None, torch.float32, CPU)
    assert torch.allclose(layer(x), x @ found.dequantize().T, atol=1e-5)
    assert layer.resident_bits == 32


def test_the_scale_search_beats_the_largest_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    weight = torch.randn(32, 256)
    searched = (quantize(weight, LEVELS).dequantize() - weight).square().mean()
    from inference.quantize import codebook

    monkeypatch.setattr(codebook, "SHRINKS", (1.0,))
    plain = (quantize(weight, LEVELS).dequantize() - weight).square().mean()
    assert searched < 0.9 * plain
    assert SHRINKS[0] == 1.0


def test_importance_moves_the_error_to_where_inputs_are_small() -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 128)
    importance = torch.ones(128)
    importance[::4] = 100.0
    error = (quantize(weight, LEVELS, importance).dequantize() - weight).square()
    even = (quantize(weight, LEVELS).dequantize() - weight).square()
    assert (error * importance).sum() < (even * importance).sum()


def test_a_block_of_zeros_stays_zero() -> None:
    weight = torch.randn(16, 64)
    weight[3, 32:] = 0
    found = quantize(weight, LEVELS)
    assert torch.isfinite(found.dequantize()).all()
    assert (found.dequantize()[3, 32:] == 0).all()


def test_nearest_agrees_with_a_search() -> None:
    values = torch.randn(1000)
    other = torch.tensor([-1.0, -0.5, -0.2, 0.0, 0.1, 0.3, 0.6, 1.0])
    for levels in (LEVELS, other):
        best = (values[:, None] - levels).abs().argmin(1)
        assert torch.equal(levels[nearest(values.clone(), levels).int()], levels[best])


def drained(build: Iterator[tuple[int, int]]) -> tuple[list[tuple[int, int]], object]:
    steps = []
    while True:
        try:
            steps.append(next(build))
        except StopIteration as end:
            return steps, end.value


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3"])
def test_a_twin_shares_norms_and_embeddings_and_leaves_the_target_alone(family: str) -> None:
    target = tiny_model(family)
    before = {name: value.clone() for name, value in target.state_dict().items()}
    steps, twin = drained(build_twin(target, [list(range(1, 40))]))
    assert all(torch.equal(value, before[name]) for name, value in target.state_dict().items())
    assert steps[-1] == (twin.matrices, twin.matrices)  # type: ignore[attr-defined]
    model = twin.model  # type: ignore[attr-defined]
    assert not [layer for layer in model.modules() if type(layer) is nn.Linear]
    assert isinstance(model.get_output_embeddings(), LowBitLinear)
    assert model.get_input_embeddings().weight is target.get_input_embeddings().weight
    layer, original = model.model.layers[0], target.model.layers[0]
    assert layer.input_layernorm.weight is original.input_layernorm.weight
    if family == "qwen2":
        assert layer.self_attn.q_proj.bias is original.self_attn.q_proj.bias
    assert (twin.level_bits, twin.packed_bits, twin.resident_bits) == (3.0, 3.5, 5.0)  # type: ignore[attr-defined]


def test_a_model_without_matrices_has_no_twin() -> None:
    with pytest.raises(ValueError, match="linear"):
        next(build_twin(nn.Sequential(nn.LayerNorm(4)), []))


def test_importance_is_the_mean_square_of_what_layers_read() -> None:
    model = tiny_model("llama")
    seen: list[torch.Tensor] = []
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].flatten(0, -2)))
    with torch.inference_mode():
        for ids in ([1, 2, 3], [4, 5]):
            model(input_ids=torch.tensor([ids]), use_cache=False)
    hook.remove()
    found = input_importance(model, [[1, 2, 3], [4, 5]])
    assert torch.allclose(found["lm_head"], torch.cat(seen).square().mean(0), atol=1e-5)
    assert len(found) == 3 * 7 + 1
    assert not any(layer._forward_pre_hooks for layer in model.modules())


def test_calibration_texts_are_of_several_kinds() -> None:
    joined = " ".join(question + answer for question, answer in TEXTS)
    assert "```" in joined
    assert "¿" in joined
    assert "ä" in joined
    assert len(TEXTS) >= 8
