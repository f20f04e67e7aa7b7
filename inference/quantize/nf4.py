"""The low-bit copy where our kernels do not work on a card: bitsandbytes' 4-bit storage and its product.

Whatever bits a recipe has, four are then read for each weight, and a half for its scale; that is said. Knows nothing of
models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.quantize.pack import Packed

BLOCK = 64
RESIDENT_BITS = 4 + 32 / BLOCK


class Nf4Product:
    """Packed matrices of the same columns, side by side, spread out and rounded again to NF4."""

    def __init__(self, parts: Sequence[Packed], dtype: torch.dtype, device: torch.device) -> None:
        from bitsandbytes.functional import quantize_4bit

        weight = torch.cat([part.dequantize() for part in parts]).to(device, dtype)
        self._packed, self._state = quantize_4bit(weight.contiguous(), blocksize=BLOCK, quant_type="nf4")

    @property
    def bytes(self) -> int:
        """Memory of the matrices."""
        return int(self._packed.nbytes + self._state.absmax.nbytes)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Rows x [n, columns] times the matrices, [n, out] in x's precision."""
        from bitsandbytes import matmul_4bit  # type: ignore[attr-defined]

        product: torch.Tensor = matmul_4bit(x, self._packed.t(), quant_state=self._state)
        return product
