"""Levels and indices: weights go through bitsandbytes' blockwise quantizer with a code of 8 levels (design D6).

Gives indices below 8 and one scale a block; how they are packed and multiplied is not known here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import torch
from torch.nn import functional

BLOCK = 32
"""Weights that share a scale. 32 fits the CPU kernel; bitsandbytes on CUDA takes 64 and up."""

SHRINKS = tuple(round(1 - 0.05 * step, 2) for step in range(11))
"""Factors of a block's largest weight that are tried as its scale; the one with the least squared error stays."""


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


def uniform_levels() -> torch.Tensor:
    """Eight levels evenly from -1 to 1: what an affine 4-bit kernel can hold."""
    return torch.linspace(-1, 1, 8)


def padded_code(levels: torch.Tensor) -> torch.Tensor:
    """The levels as the 256 ascending entries bitsandbytes searches; the last level is repeated.

    With a code of 8 entries its CPU path returns indices above 7, with the padded one too: clamp them to 7.
    """
    return torch.cat([levels, levels[-1:].expand(256 - levels.numel())])


def quantize(weight: torch.Tensor, levels: torch.Tensor, block: int = BLOCK) -> Quantized:
    """Quantize [out, in] of any float type. Each block's scale is searched first, then bitsandbytes rounds.

    Scales are bfloat16 numbers, and the weights are clipped to them beforehand, so the quantizer finds exactly them.
    """
    rows, columns = weight.shape
    weight = functional.pad(weight.float(), (0, -columns % block))
    clipped = _clip_to_best_scale(weight.reshape(-1, block), levels.to(weight.device)).view_as(weight)
    indices, scales = _quantize_blockwise(clipped, levels, block)
    return Quantized(indices, scales.view(rows, -1), levels.to(weight.device), columns)


def _quantize_blockwise(weight: torch.Tensor, levels: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of optional kernels that we do not use
    from bitsandbytes.functional import quantize_blockwise

    indices, state = quantize_blockwise(weight, code=padded_code(levels), blocksize=block)
    return indices.clamp_(max=levels.numel() - 1), state.absmax


def _clip_to_best_scale(blocks: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
    """Blocks [n, block] clipped to the scale, of those tried, whose rounding has the least squared error."""
    largest = blocks.abs().amax(1, keepdim=True)
    middles = (levels[1:] + levels[:-1]) / 2
    best_scale = torch.zeros_like(largest)
    best_error = torch.full_like(largest, torch.inf)
    for shrink in SHRINKS:
        scale = _round_down_to_bfloat16(largest * shrink)
        rounded = levels[torch.bucketize(blocks / scale.clamp_min(1e-30), middles)] * scale
        error = (blocks - rounded).square_().sum(1, keepdim=True)
        better = error < best_error
        best_scale = torch.where(better, scale, best_scale)
        best_error = torch.where(better, error, best_error)
    return torch.maximum(torch.minimum(blocks, best_scale), -best_scale)


def _round_down_to_bfloat16(values: torch.Tensor) -> torch.Tensor:
    """Non-negative float32 cut to the bfloat16 number at or below it: a bfloat16 is the upper half of a float32."""
    return (values.contiguous().view(torch.int32) & ~0xFFFF).view(torch.float32)
