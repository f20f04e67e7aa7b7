"""Error feedback: each column's rounding error is made good by the columns still to come (GPTQ, arXiv 2210.17323).

Takes one matrix and the second moments of its inputs; gives the same format as plain rounding. Knows no models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from inference.quantize.codebook import SMALLEST, Quantized, candidates, nearest, padded, reproduced

if TYPE_CHECKING:
    from collections.abc import Generator

    from inference.quantize.recipes import Format

DAMPING = 0.01
"""Part of the mean diagonal that is added to it: directions that the texts do not show stay as they are."""

ROWS = 4096
"""Outputs worked on at a time: a block of their columns stays in the processor's cache."""


def quantize_with_feedback(
    weight: torch.Tensor, moments: torch.Tensor, format: Format
) -> Generator[None, None, Quantized]:
    """Quantize [out, in]; ``moments`` [in, in] is the sum of x x^T over inputs x. Yields between parts of the rows.

    Scales are searched block by block, weighing errors as the feedback does, and are bfloat16 numbers before it.
    """
    columns = weight.shape[1]
    levels = format.levels().to(weight.device)
    width = columns + -columns % format.block
    factor = _factor(functional.pad(moments.float(), (0, width - columns, 0, width - columns)))
    parts = []
    for rows in torch.split(weight, ROWS):
        parts.append(_rows(padded(rows, format.block), factor, format, levels, columns))
        yield
    offsets = [part.offsets for part in parts if part.offsets is not None]
    return Quantized(
        torch.cat([part.indices for part in parts]),
        torch.cat([part.scales for part in parts]),
        torch.cat(offsets) if offsets else None,
        levels,
        columns,
    )


def _factor(moments: torch.Tensor) -> torch.Tensor:
    """The upper Cholesky factor of the inverse, damped until there is one."""
    mean = moments.diagonal().mean().clamp_min(SMALLEST)
    damping = DAMPING
    while True:
        damped = moments.clone()
        damped.diagonal().add_(damping * mean)
        lower, failed = torch.linalg.cholesky_ex(damped)
        if not failed:
            upper, failed = torch.linalg.cholesky_ex(torch.cholesky_inverse(lower), upper=True)
            if not failed:
                factor: torch.Tensor = upper
                return factor
        damping *= 10


def _rows(weight: torch.Tensor, factor: torch.Tensor, format: Format, levels: torch.Tensor, columns: int) -> Quantized:
    """Some rows of a matrix. Worked on lying down, [in, rows], so that a column of weights lies together."""
    left = weight.T.contiguous()
    width, rows = left.shape
    steps = factor.diagonal()
    indices = torch.empty(width, rows, dtype=torch.uint8, device=left.device)
    scales, offsets = (left.new_empty(width // format.block, rows) for _ in range(2))
    for number, begin in enumerate(range(0, width, format.block)):
        end = begin + format.block
        block = left[begin:end]
        scale, offset = _search(block, steps[begin:end], format, levels)
        scales[number], offsets[number] = scale, offset
        divisor = scale.clamp_min(SMALLEST)
        # Left to itself, feedback might empty both ends of a code, and with them what the scale is read off.
        anchor = None if format.affine else block.abs().argmax(0)
        errors = torch.empty_like(block)
        for place in range(format.block):
            column = block[place]
            found = nearest((column - offset) / divisor, levels, uniform=format.affine)
            if anchor is not None:
                found = torch.where(anchor == place, torch.where(column > 0, levels.numel() - 1, 0), found)
            indices[begin + place] = found
            errors[place] = (column - (levels[found] * scale + offset)) / steps[begin + place]
            block[place + 1 :].addr_(factor[begin + place, begin + place + 1 : end], errors[place], alpha=-1)
        left[end:].addmm_(factor[begin:end, end:].T, errors, alpha=-1)
    found_scales, found_offsets = scales.T.contiguous(), offsets.T.contiguous()
    standing = indices.T.contiguous()
    if format.affine:
        return Quantized(standing, found_scales, found_offsets, levels, columns)
    values = levels[standing.int()].view(rows, -1, format.block) * found_scales[..., None]
    return reproduced(values.view(rows, width), levels, format.block, columns)


def _search(
    block: torch.Tensor, steps: torch.Tensor, format: Format, levels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and offset [rows] for a block [columns, rows]; an error of a column weighs 1 / step squared."""
    weights = steps.square().reciprocal()
    best: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    for scale, offset in candidates(block, format, dim=0):
        error = levels[nearest((block - offset) / scale.clamp_min(SMALLEST), levels, uniform=format.affine)]
        error = error.mul_(scale).add_(offset).sub_(block).square_()
        total = (weights @ error)[None]
        if best is None:
            best = (total, scale, offset)
        else:
            better = total < best[0]
            best = (
                torch.where(better, total, best[0]),
                torch.where(better, scale, best[1]),
                torch.where(better, offset, best[2]),
            )
    assert best is not None
    return best[1][0], best[2][0]
