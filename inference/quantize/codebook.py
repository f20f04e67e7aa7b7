"""From weights to indices, scales and offsets: symmetric codes go through bitsandbytes' quantizer (design D6).

Affine codes are rounded here, for bitsandbytes knows no offsets. How indices are packed and multiplied is not known.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from inference.quantize import pack

if TYPE_CHECKING:
    from inference.quantize.recipes import Format

SHRINKS = (1.0, 0.92, 0.84, 0.76, 0.68, 0.6)
"""Factors of a block's largest weight that are tried as its scale; the one with the least error stays."""

ENDS = ((1.0, 1.0), (0.9, 0.9), (0.8, 0.8), (1.0, 0.85), (0.85, 1.0), (0.9, 0.75), (0.75, 0.9))
"""Factors of the lower and the upper half of a block's range that are tried as the range of an affine code."""

PIECE = 8192
"""Blocks searched at a time: few enough to stay in the processor's cache."""

SMALLEST = 1e-30
"""Stands for a scale of zero where something is divided by it."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """``indices`` uint8 [out, in], ``scales`` float32 [out, in / block]; the value is levels[index] * scale + offset.

    ``offsets`` like ``scales``, None for symmetric codes. ``in`` is padded with zero weights to whole blocks;
    ``columns`` is the number before that. Scales and offsets are bfloat16 numbers.
    """

    indices: torch.Tensor
    scales: torch.Tensor
    offsets: torch.Tensor | None
    levels: torch.Tensor
    columns: int

    def dequantize(self) -> torch.Tensor:
        """The weights as float32 [out, columns]."""
        rows = self.indices.shape[0]
        values = self.levels[self.indices.int()].view(rows, self.scales.shape[1], -1) * self.scales[..., None]
        if self.offsets is not None:
            values = values + self.offsets[..., None]
        return values.view(rows, -1)[:, : self.columns]

    def packed(self) -> pack.Packed:
        """The same as it lies in memory."""
        return pack.pack(self.indices, self.scales, self.levels, self.columns, self.offsets)


def padded_code(levels: torch.Tensor) -> torch.Tensor:
    """The levels as the 256 ascending entries bitsandbytes searches; the last level is repeated.

    With a code of 8 entries its CPU path returns indices above 7, with the padded one too: clamp them to 7.
    """
    return torch.cat([levels, levels[-1:].expand(256 - levels.numel())])


def padded(weight: torch.Tensor, block: int) -> torch.Tensor:
    """[out, in] as float32 with zero columns up to whole blocks."""
    return functional.pad(weight.float(), (0, -weight.shape[1] % block))


def quantize(weight: torch.Tensor, format: Format, importance: torch.Tensor | None = None) -> Quantized:
    """Quantize [out, in] of any float type to the nearest levels, after a search of each block's scale or range.

    ``importance`` [in], the mean square of each input, weighs the errors of the search; None weighs all alike.
    """
    columns, block = weight.shape[1], format.block
    levels = format.levels().to(weight.device)
    weight = padded(weight, block)
    blocks = weight.view(-1, block)
    weights_of_error = None
    if importance is not None:
        weights_of_error = functional.pad(importance.float(), (0, weight.shape[1] - columns)).view(-1, block)
    step = PIECE if weights_of_error is None else max(1, PIECE // len(weights_of_error)) * len(weights_of_error)
    pieces = [_piece(part, format, levels, weights_of_error) for part in torch.split(blocks, step)]
    indices, scales, offsets = (torch.cat([piece[part] for piece in pieces]) for part in range(3))
    shape = (len(weight), -1)
    if format.affine:
        return Quantized(indices.view_as(weight), scales.view(shape), offsets.view(shape), levels, columns)
    values = (levels[indices.int()] * scales).view_as(weight)
    return reproduced(values, levels, block, columns)


def reproduced(values: torch.Tensor, levels: torch.Tensor, block: int, columns: int) -> Quantized:
    """A finished matrix of a symmetric code, float32 [out, whole blocks], as bitsandbytes finds it: exactly.

    Each block must hold a value at one end of the code, or only zeros; its scale is a bfloat16 number.
    """
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of optional kernels that we do not use
    from bitsandbytes.functional import quantize_blockwise

    indices, state = quantize_blockwise(values.contiguous(), code=padded_code(levels), blocksize=block)
    return Quantized(indices.clamp_(max=levels.numel() - 1), state.absmax.view(len(values), -1), None, levels, columns)


def _piece(
    blocks: torch.Tensor, format: Format, levels: torch.Tensor, weights: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Indices [n, block], scales and offsets [n, 1] with the least weighted squared error of those tried.

    ``weights`` [blocks of a row, block] repeats for every row.
    """
    best: tuple[torch.Tensor, ...] | None = None
    for scale, offset in candidates(blocks, format, dim=1):
        indices = nearest((blocks - offset) / scale.clamp_min(SMALLEST), levels, uniform=format.affine)
        error = (levels[indices.int()] * scale).add_(offset).sub_(blocks).square_()
        if weights is not None:
            error = (error.view(-1, *weights.shape) * weights).view_as(blocks)
        total = error.sum(1, keepdim=True)
        found = (total, indices, scale, offset)
        best = (
            found
            if best is None
            else tuple(torch.where(total < best[0], new, old) for new, old in zip(found, best, strict=True))
        )
    assert best is not None
    _, indices, scale, offset = best
    return indices.to(torch.uint8), scale, offset


def candidates(blocks: torch.Tensor, format: Format, dim: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Scales and offsets worth a try for blocks along ``dim``, as bfloat16 numbers in float32."""
    low, high = blocks.amin(dim, keepdim=True), blocks.amax(dim, keepdim=True)
    if not format.affine:
        # Rounded down: a scale above the largest weight would leave the end of the code empty.
        largest = torch.maximum(-low, high)
        none = torch.zeros_like(largest)
        return [(round_down_to_bfloat16(largest * shrink), none) for shrink in SHRINKS]
    middle, half = (low + high) / 2, (high - low) / 2
    ranges = [(middle - half * down, middle + half * up) for down, up in ENDS]
    return [(_bfloat16((end - begin) / 2), _bfloat16((end + begin) / 2)) for begin, end in ranges]


def nearest(values: torch.Tensor, levels: torch.Tensor, *, uniform: bool) -> torch.Tensor:
    """The index of the level nearest to each value, int32; levels ascend from -1 to 1, evenly if ``uniform``."""
    if uniform:
        half = (levels.numel() - 1) / 2
        return (values * half).add_(half).round_().clamp_(0, levels.numel() - 1).int()
    return torch.bucketize(values, (levels[1:] + levels[:-1]) / 2, out_int32=True)


def round_down_to_bfloat16(values: torch.Tensor) -> torch.Tensor:
    """Non-negative float32 cut to the bfloat16 number at or below it: a bfloat16 is the upper half of a float32."""
    return (values.contiguous().view(torch.int32) & ~0xFFFF).view(torch.float32)


def _bfloat16(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.bfloat16).float()
