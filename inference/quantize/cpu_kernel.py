"""The CPU product of a low-bit copy: PyTorch's int4 kernel, which is affine in a block of 32 with bfloat16 scales.

Even levels of up to 4 bits are indices of its sixteen, so such weights keep 5 bits resident here. The operators are
private to PyTorch: ``available`` tries them, and the plain product always works.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from inference.quantize.pack import looked_up

if TYPE_CHECKING:
    from inference.quantize.pack import Packed

ROWS = 16
"""The kernel wants a multiple of this many output features."""

BLOCK = 32

PIECE = 4096
"""Rows laid out at a time; a multiple of the rows that the kernel takes together."""

ZERO = 8
"""The index whose value is the kernel's zero point."""

RESIDENT_BITS = 4 + 2 * 16 / BLOCK
"""Four bits an index, and a scale and a zero point of 16 bits for each 32 weights."""


@cache
def available() -> bool:
    """Whether this build of PyTorch has the operators and they give the right product."""
    indices = (torch.arange(ROWS * BLOCK) % 8).view(ROWS, BLOCK).int()
    scales = torch.stack([torch.full((1, ROWS), 2 / 7), torch.full((1, ROWS), 9 / 7)], -1).bfloat16().float()
    try:
        product = multiply(torch.eye(BLOCK), _convert(indices), scales, ROWS)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.allclose(product, torch.linspace(-1, 1, 8)[indices].T, atol=0.02)


def takes(matrix: Packed) -> bool:
    """Whether the kernel can hold this matrix."""
    return matrix.block == BLOCK and matrix.is_even


def _convert(indices: torch.Tensor) -> torch.Tensor:
    packed: torch.Tensor = torch.ops.aten._convert_weight_to_int4pack_for_cpu(indices, 2)  # noqa: SLF001
    return packed


def pack(matrix: Packed, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The kernel's bytes, and its scales and zero points [in / 32, out, 2] in ``dtype``.

    The kernel's value is (index - 8) * step + zero; step and zero are rounded to bfloat16. Indices are put around 8, so
    that the rounding of the step weighs little.
    """
    missing = -matrix.rows % ROWS
    shift = ZERO - 2 ** (matrix.bits - 1)
    values = range(shift, shift + 2**matrix.bits)
    words = functional.pad(matrix.words, (0, 0, 0, 0, 0, missing))
    # An index takes four bytes on the way; pieces of rows lie one behind the other.
    indices = [_convert(looked_up(piece, matrix.bits, values)) for piece in torch.split(words, PIECE)]
    levels, scales = matrix.levels, matrix.scales.float()
    zeros = scales * levels[ZERO - shift]
    if matrix.offsets is not None:
        zeros = zeros + matrix.offsets.float()
    both = torch.stack([scales * (levels[1] - levels[0]), zeros], dim=-1)
    both = functional.pad(both, (0, 0, 0, 0, 0, missing))
    return torch.cat(indices), both.transpose(0, 1).contiguous().to(torch.bfloat16).to(dtype)


def multiply(x: torch.Tensor, packed: torch.Tensor, scales_and_zeros: torch.Tensor, out: int) -> torch.Tensor:
    """The product of x [rows, in] and the packed weights, [rows, out]."""
    product: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(  # noqa: SLF001 - see above
        x, packed, BLOCK, scales_and_zeros
    )
    return product[:, :out]


def unpack(scales_and_zeros: torch.Tensor, indices: torch.Tensor, bits: int) -> torch.Tensor:
    """The values the kernel multiplies with, float32 [out, in], from its own scales and the matrix's indices."""
    step, zero = scales_and_zeros.float().transpose(0, 1)[: len(indices)].unbind(-1)
    blocks = indices.view(len(indices), -1, BLOCK).float() - 2 ** (bits - 1)
    values: torch.Tensor = (blocks * step[..., None] + zero[..., None]).flatten(1)
    return values
