"""From weights to indices, scales and offsets: symmetric codes go through bitsandbytes' quantizer (design D6).

Affine codes are rounded here, for bitsandbytes knows no offsets. How indices are packed and multiplied is not known.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from inference.quantize import pack

if TYPE_CHECKING:
    from inference.quantize.recipes import Format

SHRINKS = (1.0, 0.92, 0.84, 0.76, 0.68, 0.6)
"""Factors of a block's largest weight that are tried as its scale; the one with the least error stays."""

ENDS = ((1.0, 1.0), (0.9, 0.9), (0.8, 0.8), (1.0, 0.85), (0.85, 1.0), (0.9, 0.75), (0.75, 0.9))
"""Factors of the lower and the upper half of a block's range that are tried as the range of an affine code."""

CELLS = 512
"""Parts of a block's range whose losses are tabled for each scale tried: 16 bytes and more for each of 16 levels."""

PIECE = 16384
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
    width = columns + -columns % block
    if importance is None:
        importance = weight.new_ones(columns, dtype=torch.float32)
    weights = functional.pad(importance.float(), (0, width - columns)).view(-1, block)
    rows = max(1, PIECE // len(weights))
    weights = weights.repeat(min(rows, len(weight)), 1)
    parts = [_rows(padded(some, block), format, levels, weights) for some in torch.split(weight, rows)]
    offsets = [part[2] for part in parts if part[2] is not None]
    indices, scales = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
    return Quantized(indices, scales, torch.cat(offsets) if offsets else None, levels, columns)


def _rows(
    weight: torch.Tensor, format: Format, levels: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Indices of some whole rows, float32 [n, in], and a scale and an offset for each block.

    ``weights`` [at least as many blocks, block] of the errors. Those of every scale tried are added up from a table of
    what is lost at CELLS places of a block's range.
    """
    blocks = weight.view(-1, format.block)
    low, high = (end.unsqueeze(1) for end in torch.aminmax(blocks, dim=1))
    tried = ENDS if format.affine else tuple((shrink, shrink) for shrink in SHRINKS)
    if format.affine:
        middle, half = (low + high) / 2, (high - low) / 2
    else:
        middle, half = torch.zeros_like(low), torch.maximum(-low, high)
    cells = ((blocks - middle) * (CELLS / 2 / half.clamp_min(SMALLEST))).add_(CELLS / 2)
    losses = functional.embedding_bag(
        cells.clamp_(0, CELLS - 1).int(),
        _losses(format, tried).to(weight.device),
        mode="sum",
        per_sample_weights=weights[: len(blocks)],
    )
    down, up = (end[:, None] for end in torch.tensor(tried, device=weight.device)[losses.argmin(1)].unbind(1))
    if not format.affine:
        scale = round_down_to_bfloat16(half * up)
        found = reproduced(torch.minimum(torch.maximum(blocks, -scale), scale), levels, format.block, format.block)
        return found.indices.view_as(weight), found.scales.view(len(weight), -1), None
    scale, offset = _range(middle, half, down, up)
    indices = nearest((blocks - offset) / scale.clamp_min(SMALLEST), levels, uniform=True)
    shape = (len(weight), -1)
    return indices.to(torch.uint8).view_as(weight), scale.view(shape), offset.view(shape)


@cache
def _quantizer() -> Any:
    """That of bitsandbytes, imported at the first matrix."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of optional kernels that we do not use
    from bitsandbytes.functional import quantize_blockwise

    return quantize_blockwise


@cache
def _losses(format: Format, tried: tuple[tuple[float, float], ...]) -> torch.Tensor:
    """Squared errors [CELLS, tried] of numbers from -1 to 1 if levels lie between minus the first and the second."""
    levels = format.levels()
    places = (torch.arange(CELLS) + 0.5) * (2 / CELLS) - 1
    columns = []
    for down, up in tried:
        scale, offset = (up + down) / 2, (up - down) / 2
        indices = nearest((places - offset) / scale, levels, uniform=format.affine)
        columns.append((levels[indices] * scale + offset - places).square())
    return torch.stack(columns, 1)


def reproduced(values: torch.Tensor, levels: torch.Tensor, block: int, columns: int) -> Quantized:
    """A finished matrix of a symmetric code, float32 [out, whole blocks], as bitsandbytes finds it: exactly.

    Each block must hold a value at one end of the code, or only zeros; its scale is a bfloat16 number.
    """
    indices, state = _quantizer()(values.contiguous(), code=padded_code(levels), blocksize=block)
    return Quantized(indices.clamp_(max=levels.numel() - 1), state.absmax.view(len(values), -1), None, levels, columns)


def candidates(blocks: torch.Tensor, format: Format, dim: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Scales and offsets worth a try for blocks along ``dim``, as bfloat16 numbers in float32."""
    low, high = blocks.amin(dim, keepdim=True), blocks.amax(dim, keepdim=True)
    if not format.affine:
        # Rounded down: a scale above the largest weight would leave the end of the code empty.
        largest = torch.maximum(-low, high)
        none = torch.zeros_like(largest)
        return [(round_down_to_bfloat16(largest * shrink), none) for shrink in SHRINKS]
    middle, half = (low + high) / 2, (high - low) / 2
    return [_range(middle, half, down, up) for down, up in ENDS]


def _range(
    middle: torch.Tensor, half: torch.Tensor, down: torch.Tensor | float, up: torch.Tensor | float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and offset of an affine code from ``down`` halves below the middle to ``up`` above it."""
    return _bfloat16(half * (up + down) / 2), _bfloat16(middle + half * (up - down) / 2)


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
