"""A linear layer over low-bit weights, in place of torch.nn.Linear in the twin.

Takes the kernel of its device where there is one for the format, else unpacks to the working precision once; all are
held to the same oracle.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from inference.linears import DenseLinear
from inference.native import products
from inference.quantize import cpu_kernel
from inference.quantize.nf4 import RESIDENT_BITS as NF4_BITS
from inference.quantize.nf4 import Nf4Product
from inference.quantize.pack import packed_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.quantize.pack import Packed
    from inference.quantize.triton_launch import LowBitProduct


class LowBitLinear(nn.Module):
    """x [..., in] to [..., out] in x's precision: the outputs of ``parts``, matrices of the same columns, side by side.

    ``resident_bits`` is what a weight takes in memory here; ``product`` multiplies on the card, None elsewhere. On a
    CPU our own products read the packed bits; without a C compiler PyTorch's int4 kernel or dequantized weights do.
    """

    def __init__(
        self, parts: Sequence[Packed], bias: torch.Tensor | None, dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()
        self.out_features = sum(part.rows for part in parts)
        self.in_features = parts[0].columns
        self.bias = bias
        self.product: LowBitProduct | Nf4Product | None = None
        self.kernel = "plain"
        if device.type == "cuda":
            self.product, self.kernel = _on_card(parts, dtype, device)
        elif products.available():
            self.kernel = "native"
        elif cpu_kernel.available() and all(map(cpu_kernel.takes, parts)):
            self.kernel = "int4"
        # Plain attributes: a twin is never converted or stored as a module.
        self._int4: list[tuple[torch.Tensor, torch.Tensor, int]] = []
        self._dense: tuple[DenseLinear, ...] = ()
        self.native: list[products.LowBit] = []
        if self.kernel == "triton":
            self.resident_bits = sum(part.bytes for part in parts) * 8 / (self.out_features * self.in_features)
        elif self.kernel == "nf4":
            self.resident_bits = NF4_BITS
        elif self.kernel == "native":
            for _, alike in groupby(parts, key=lambda part: (part.bits, part.block, part.offsets is None)):
                self.native.append(products.LowBit(packed_beside(list(alike))))
            self.resident_bits = sum(part.bytes for part in self.native) * 8 / (self.out_features * self.in_features)
        elif self.kernel == "int4":
            self._padding = parts[0].groups * 32 - self.in_features
            for _, alike in groupby(parts, key=lambda part: part.bits):
                matrix = packed_beside(list(alike))
                self._int4.append((*cpu_kernel.pack(matrix, dtype), matrix.rows))
            self.resident_bits = cpu_kernel.RESIDENT_BITS
        else:
            weight = torch.empty(self.out_features, self.in_features, dtype=dtype, device=device)
            for part, rows in zip(parts, torch.split(weight, [part.rows for part in parts]), strict=True):
                part.to(device).spread(rows)
            self._dense = (DenseLinear(weight, bias),)
            self.resident_bits = 8.0 * dtype.itemsize

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, plus the bias where there is one."""
        rows = x.reshape(-1, self.in_features)
        if self._dense:
            product: torch.Tensor = self._dense[0](rows)
            return product.view(*x.shape[:-1], self.out_features)
        if self.product is not None:
            product = self.product(rows)
        elif self.native:
            rows = rows.float()
            whole = rows.new_empty(len(rows), self.out_features)
            begin = 0
            for part in self.native:
                part(rows, whole[:, begin : begin + part.rows])
                begin += part.rows
            product = whole.to(x.dtype)
        else:
            if self._padding:
                rows = functional.pad(rows, (0, self._padding))
            rows = rows.contiguous()
            products = [cpu_kernel.multiply(rows, *packed) for packed in self._int4]
            product = products[0] if len(products) == 1 else torch.cat(products, -1)
        product = product.view(*x.shape[:-1], self.out_features)
        return product if self.bias is None else product + self.bias


def _on_card(
    parts: Sequence[Packed], dtype: torch.dtype, device: torch.device
) -> tuple[LowBitProduct | Nf4Product | None, str]:
    """The product on a card and its name: our kernel's, else bitsandbytes' in 4 bits, else none."""
    from inference.quantize.triton_launch import LowBitProduct, trouble

    if trouble(device) is None:
        return LowBitProduct([part.to(device) for part in parts]), "triton"
    try:
        return Nf4Product(parts, dtype, device), "nf4"
    except (ImportError, RuntimeError, NotImplementedError):
        return None, "plain"
