"""The CPU product of a low-bit copy: PyTorch's int4 kernel, which is affine in a block of 32 with bfloat16 scales.

Eight uniform levels are indices 0 to 7 of its sixteen, so 3-bit weights keep 5 bits resident here. The operators are
private to PyTorch: ``available`` tries them, and the plain product always works.
"""

from __future__ import annotations

from functools import cache

import torch
from torch.nn import functional

ROWS = 16
"""The kernel wants a multiple of this many output features."""

RESIDENT_BITS = 4 + 2 * 16 / 32
"""Four bits an index, and a scale and a zero point of 16 bits for each 32 weights."""


@cache
def available() -> bool:
    """Whether this build of PyTorch has the operators and they give the right product."""
    indices = (torch.arange(ROWS * 32) % 8).view(ROWS, 32).to(torch.uint8)
    try:
        packed = pack(indices, torch.ones(ROWS, 1), torch.linspace(-1, 1, 8), torch.float32)
        product = multiply(torch.eye(32), *packed, ROWS)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.allclose(product, torch.linspace(-1, 1, 8)[indices.int()].T, atol=0.02)


def pack(
    indices: torch.Tensor, scales: torch.Tensor, levels: torch.Tensor, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices [out, in] and scales [out, in / 32] of uniform levels as the kernel's bytes and its scales and zeros.

    The kernel's value is (index - 8) * step + zero; step and zero are rounded to bfloat16 and kept in ``dtype``.
    """
    missing = -indices.shape[0] % ROWS
    indices = functional.pad(indices, (0, 0, 0, missing))
    scales = functional.pad(scales, (0, 0, 0, missing))
    step = levels[1] - levels[0]
    both = torch.stack([scales * step, scales * (levels[0] + 8 * step)], dim=-1)
    scales_and_zeros = both.transpose(0, 1).contiguous().to(torch.bfloat16).to(dtype)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(indices.int(), 2)  # noqa: SLF001 - see above
    return packed, scales_and_zeros


def multiply(x: torch.Tensor, packed: torch.Tensor, scales_and_zeros: torch.Tensor, out: int) -> torch.Tensor:
    """The product of x [rows, in] and the packed weights, [rows, out]."""
    product: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(  # noqa: SLF001 - see above
        x, packed, 32, scales_and_zeros
    )
    return product[:, :out]


def unpack(scales_and_zeros: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """The values the kernel multiplies with, float32 [out, in], from its own scales and the given indices."""
    step, zero = scales_and_zeros.float().transpose(0, 1).unbind(-1)
    blocks = indices.view(indices.shape[0], -1, 32).float() - 8
    return (blocks * step[: len(indices), :, None] + zero[: len(indices), :, None]).flatten(1)
