"""From weights to indices: bitsandbytes' own, eight values a block, scales that 16 bits hold."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from inference.quantize import codebook
from inference.quantize.codebook import nearest, padded_code, quantize
from inference.quantize.recipes import RECIPES, Format
from inference.settings import RECIPES as NAMES

FORMATS = sorted({recipe.others for recipe in RECIPES.values()}, key=str)
NF3, AFFINE3 = RECIPES["nf3"].others, RECIPES["affine3"].others


@pytest.fixture(params=[(64, 192), (50, 100), (16, 32)], ids=str)
def weight(request: pytest.FixtureRequest) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(request.param) * torch.rand(request.param[0], 1) + 0.02


def test_a_code_of_eight_entries_needs_padding_and_a_clamp() -> None:
    """The trap of bitsandbytes' CPU path, seen as it is: indices above 7 for weights beyond the last level."""
    levels = torch.arange(-4, 4) / 3.5
    code = padded_code(levels)
    assert code.shape == (256,)
    assert (code.diff() >= 0).all()
    from bitsandbytes.functional import quantize_blockwise

    torch.manual_seed(0)
    weight = torch.randn(64, 128)
    indices, _ = quantize_blockwise(weight, code=code, blocksize=64)
    assert indices.max() > 7
    assert quantize(weight, NF3).indices.max() == 7


@pytest.mark.parametrize("format", [f for f in FORMATS if not f.affine], ids=str)
def test_symmetric_indices_are_bitsandbytes_own(weight: torch.Tensor, format: Format) -> None:
    from bitsandbytes.functional import quantize_blockwise

    found = quantize(weight, format)
    levels = format.levels()
    padded = nn.functional.pad(weight, (0, -weight.shape[1] % format.block))
    limits = found.scales.repeat_interleave(format.block, dim=1)
    clipped = torch.maximum(torch.minimum(padded, limits), -limits)
    indices, state = quantize_blockwise(clipped, code=padded_code(levels), blocksize=format.block)
    assert torch.equal(found.scales.flatten(), state.absmax)
    differ = found.indices != indices.clamp(max=levels.numel() - 1)
    # Where a weight lies in the middle of two levels, either will do.
    assert differ.float().mean() < 0.01


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_scales_and_offsets_are_16_bits_and_levels_8(weight: torch.Tensor, format: Format) -> None:
    found = quantize(weight, format)
    assert torch.equal(found.scales, found.scales.bfloat16().float())
    assert (found.offsets is not None) == format.affine
    if found.offsets is not None:
        assert torch.equal(found.offsets, found.offsets.bfloat16().float())
    packed = found.packed()
    assert torch.equal(packed.dequantize(), found.dequantize()), "packing loses nothing"
    for block in found.dequantize()[:, : weight.shape[1] // format.block * format.block].reshape(-1, format.block):
        assert len(block.unique()) <= 2**format.bits
    assert packed.rows * packed.groups * 32 * format.packed_bits / 8 == packed.bytes, "bytes are what is claimed"


def test_bits_are_what_the_recipes_promise() -> None:
    assert NF3.packed_bits == 3.25
    assert AFFINE3.packed_bits == 4.0
    assert set(NAMES) == {"auto", *RECIPES}
    mixed = RECIPES["mixed3"]
    assert mixed.format("model.layers.3.self_attn.v_proj").bits == 4
    assert mixed.format("model.layers.3.self_attn.q_proj").bits == 3
    assert mixed.format("lm_head").bits == 3


def test_normal_float_levels_hold_zero_and_both_ends() -> None:
    for name in ("nf2", "nf3", "nf4"):
        levels = RECIPES[name].others.levels()
        assert levels[0] == -1
        assert levels[-1] == 1
        assert (levels == 0).any()
        assert (levels.diff() > 0).all()
    four = [-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0]
    assert torch.allclose(RECIPES["nf4"].others.levels()[:8], torch.tensor(four), atol=0.005)


@pytest.mark.parametrize("format", [NF3, AFFINE3], ids=str)
def test_the_scale_search_beats_the_largest_weight(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    weight = torch.randn(32, 256)
    searched = (quantize(weight, format).dequantize() - weight).square().mean()
    monkeypatch.setattr(codebook, "SHRINKS", (1.0,))
    monkeypatch.setattr(codebook, "ENDS", ((1.0, 1.0),))
    plain = (quantize(weight, format).dequantize() - weight).square().mean()
    assert searched < 0.95 * plain


@pytest.mark.parametrize("format", [NF3, AFFINE3], ids=str)
def test_importance_moves_the_error_to_where_inputs_are_small(format: Format) -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 128)
    importance = torch.ones(128)
    importance[::4] = 100.0
    error = (quantize(weight, format, importance).dequantize() - weight).square()
    even = (quantize(weight, format).dequantize() - weight).square()
    assert (error * importance).sum() < (even * importance).sum()


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_block_of_zeros_stays_zero(format: Format) -> None:
    weight = torch.randn(16, 128)
    weight[3, 64:] = 0
    found = quantize(weight, format)
    assert torch.isfinite(found.dequantize()).all()
    assert (found.dequantize()[3, 64:] == 0).all()


def test_nearest_agrees_with_a_search() -> None:
    values = torch.randn(1000)
    for format in (NF3, AFFINE3):
        levels = format.levels()
        best = (values[:, None] - levels).abs().argmin(1)
        assert torch.equal(levels[nearest(values, levels, uniform=format.affine)], levels[best])


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_the_tabled_search_finds_what_a_full_one_finds(format: Format) -> None:
    torch.manual_seed(2)
    weight = torch.randn(40, 4 * format.block) * torch.rand(40, 1)
    importance = torch.rand(4 * format.block) + 0.1
    weights = importance.view(1, -1, format.block)
    blocks = weight.view(40, -1, format.block)
    least = None
    levels = format.levels()
    for scale, offset in codebook.candidates(blocks, format, dim=2):
        values = levels[nearest((blocks - offset) / scale, levels, uniform=format.affine)] * scale + offset
        error = ((values - blocks).square() * weights).sum(-1)
        least = error if least is None else torch.minimum(least, error)
    assert least is not None
    found = (quantize(weight, format, importance).dequantize().view_as(blocks) - blocks).square() * weights
    assert found.sum() < 1.01 * least.sum()
