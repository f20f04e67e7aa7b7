"""Error feedback: less error of the product than nearest levels, in the same format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from inference.quantize.codebook import Quantized, padded_code, quantize
from inference.quantize.feedback import quantize_with_feedback
from inference.quantize.recipes import RECIPES, Format

if TYPE_CHECKING:
    from collections.abc import Generator

FORMATS = sorted({recipe.others for recipe in RECIPES.values()}, key=str)


def finished(work: Generator[None, None, Quantized]) -> Quantized:
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Quantized = end.value
            return result


def inputs(columns: int, count: int = 600) -> torch.Tensor:
    """Activations as models have them: related to each other, some large."""
    torch.manual_seed(2)
    return torch.randn(count, columns // 2) @ torch.randn(columns // 2, columns) * (1 + 5 * torch.rand(columns) ** 4)


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("columns", [192, 100])
def test_the_product_has_less_error_than_with_nearest_levels(format: Format, columns: int) -> None:
    x = inputs(columns)
    weight = torch.randn(48, columns)
    moments = x.T @ x

    def error(found: Quantized) -> float:
        return float((x @ (found.dequantize() - weight).T).square().mean())

    fed = finished(quantize_with_feedback(weight, moments, format))
    assert error(fed) < 0.7 * error(quantize(weight, format, moments.diagonal()))
    assert torch.equal(fed.scales, fed.scales.bfloat16().float())
    assert torch.equal(fed.packed().dequantize(), fed.dequantize())


@pytest.mark.parametrize("format", [f for f in FORMATS if not f.affine], ids=str)
def test_bitsandbytes_reproduces_the_finished_matrix_exactly(format: Format) -> None:
    from bitsandbytes.functional import quantize_blockwise

    x = inputs(192)
    found = finished(quantize_with_feedback(torch.randn(80, 192), x.T @ x, format))
    levels = format.levels()
    indices, state = quantize_blockwise(
        found.dequantize().contiguous(), code=padded_code(levels), blocksize=format.block
    )
    again = levels[indices.clamp(max=levels.numel() - 1).int()].view(-1, format.block) * state.absmax[:, None]
    assert torch.equal(again.view(80, 192), found.dequantize())


def test_what_was_never_seen_or_is_zero_is_rounded_all_the_same() -> None:
    weight = torch.randn(20, 64)
    weight[4] = 0
    for moments in (torch.zeros(64, 64), torch.diag(torch.cat([torch.ones(10), torch.zeros(54)]))):
        found = finished(quantize_with_feedback(weight, moments, RECIPES["nf3"].others)).dequantize()
        assert torch.isfinite(found).all()
        assert (found[4] == 0).all()
        assert (found - weight).abs().mean() < 0.5


def test_it_gives_way_between_parts_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.quantize import feedback

    monkeypatch.setattr(feedback, "ROWS", 16)
    assert len(list(quantize_with_feedback(torch.randn(50, 64), torch.eye(64), RECIPES["nf3"].others))) == 4
