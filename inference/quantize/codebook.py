"""Levels and indices: weights go through bitsandbytes' blockwise quantizer with a code of 8 levels (design D6).

Gives indices below 8 and one scale a block; how they are packed and multiplied is not known here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCK = 32
"""Weights that share a scale. 32 fits the CPU kernel; bitsandbytes on CUDA takes 64 and up."""

SHRINKS = (1.0, 0.92, 0.84, 0.76, 0.68, 0.6)
"""Factors of a block's largest weight that are tried as its scale; the one with the least error stays."""

PIECE = 8192
"""Blocks searched at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """``indices`` uint8 [out, in], ``scales`` float32 [out, in / block]; the value is levels[index] * scale.

    ``in`` is padded with zero weights to whole blocks; ``columns`` is the number before that.
    """

    indices: torch.Tensor
    scales: torch.Tensor
    levels: torch.Tensor
    columns: int

    def dequantize(self) -> torch.Tensor:
        """The weights as float32 [out, columns]: the oracle of every kernel."""
        rows = self.indices.shape[0]
        values = self.levels[self.indices.int()].view(rows, self.scales.shape[1], -1) * self.scales[..., None]
        return values.view(rows, -1)[:, : self.columns]


def beside(parts: Sequence[Quantized]) -> Quantized:
    """One matrix of the rows of several that have the same columns and levels."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return Quantized(
        torch.cat([part.indices for part in parts]),
        torch.cat([part.scales for part in parts]),
        first.levels,
        first.columns,
    )


def uniform_levels() -> torch.Tensor:
    """Eight levels evenly from -1 to 1: what an affine 4-bit kernel can hold."""
    return torch.linspace(-1, 1, 8)


def padded_code(levels: torch.Tensor) -> torch.Tensor:
    """The levels as the 256 ascending entries bitsandbytes searches; the last level is repeated.

    With a code of 8 entries its CPU path returns indices above 7, with the padded one too: clamp them to 7.
    """
    return torch.cat([levels, levels[-1:].expand(256 - levels.numel())])


def quantize(
    weight: torch.Tensor, levels: torch.Tensor, importance: torch.Tensor | None = None, block: int = BLOCK
) -> Quantized:
    """Quantize [out, in] of any float type. Each block's scale is searched first, then bitsandbytes rounds.

    ``importance`` [in], the mean square of each input, weighs the errors of the search; None weighs all alike.
    Scales are bfloat16 numbers, and the weights are clipped to them beforehand, so the quantizer finds exactly them.
    """
    rows, columns = weight.shape
    padding = -columns % block
    levels = levels.to(weight.device)
    weight = functional.pad(weight.float(), (0, padding))
    weights_of_error = None
    if importance is not None:
        weights_of_error = functional.pad(importance.float(), (0, padding)).view(-1, block)
    clipped = _clip_to_best_scale(weight.reshape(-1, block), levels, weights_of_error).view_as(weight)
    indices, scales = _quantize_blockwise(clipped, levels, block)
    return Quantized(indices, scales.view(rows, -1), levels, columns)


def _quantize_blockwise(weight: torch.Tensor, levels: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of optional kernels that we do not use
    from bitsandbytes.functional import quantize_blockwise

    indices, state = quantize_blockwise(weight, code=padded_code(levels), blocksize=block)
    return indices.clamp_(max=levels.numel() - 1), state.absmax


def _clip_to_best_scale(blocks: torch.Tensor, levels: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    """Blocks [n, block] clipped to the scale, of those tried, whose rounding has the least weighted squared error.

    ``weights`` [blocks of a row, block] repeats for every row.
    """
    step = PIECE if weights is None else max(1, PIECE // len(weights)) * len(weights)
    pieces = []
    for start in range(0, len(blocks), step):
        piece = blocks[start : start + step]
        largest = piece.abs().amax(1, keepdim=True)
        best_scale, best_error = largest, torch.full_like(largest, torch.inf)
        for shrink in SHRINKS:
            scale = _round_down_to_bfloat16(largest * shrink)
            error = piece - levels[nearest(piece / scale.clamp_min(1e-30), levels)] * scale
            error.square_()
            if weights is not None:
                error = (error.view(-1, *weights.shape) * weights).view_as(piece)
            error = error.sum(1, keepdim=True)
            better = error < best_error
            best_scale = torch.where(better, scale, best_scale)
            best_error = torch.where(better, error, best_error)
        pieces.append(torch.maximum(torch.minimum(piece, best_scale), -best_scale))
    return torch.cat(pieces)


def nearest(values: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
    """The index of the level nearest to each value; levels ascend."""
    count = levels.numel()
    if torch.equal(levels, torch.linspace(-1, 1, count, device=levels.device)):
        half = (count - 1) / 2
        return values.mul(half).add_(half).round_().clamp_(0, count - 1).int()
    return torch.bucketize(values, (levels[1:] + levels[:-1]) / 2)


def _round_down_to_bfloat16(values: torch.Tensor) -> torch.Tensor:
    """Non-negative float32 cut to the bfloat16 number at or below it: a bfloat16 is the upper half of a float32."""
    return (values.contiguous().view(torch.int32) & ~0xFFFF).view(torch.float32)
