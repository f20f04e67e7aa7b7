"""A linear layer over low-bit weights, in place of torch.nn.Linear in the twin.

Takes the CPU kernel where it works, else unpacks to the working precision once; both are held to the same oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from inference.quantize import cpu_kernel

if TYPE_CHECKING:
    from inference.quantize.codebook import Quantized


class LowBitLinear(nn.Module):
    """x [..., in] to [..., out] in x's precision. ``resident_bits`` is what a weight takes in memory here."""

    packed: torch.Tensor
    scales: torch.Tensor
    unpacked: torch.Tensor

    def __init__(self, weight: Quantized, bias: torch.Tensor | None, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self.out_features = weight.indices.shape[0]
        self.in_features = weight.columns
        self._padding = weight.indices.shape[1] - weight.columns
        self._on_kernel = device.type == "cpu" and cpu_kernel.available()
        self.bias = bias
        if self._on_kernel:
            packed, scales = cpu_kernel.pack(weight.indices, weight.scales, weight.levels, dtype)
            self.register_buffer("packed", packed)
            self.register_buffer("scales", scales)
            self.resident_bits = cpu_kernel.RESIDENT_BITS
        else:
            self.register_buffer("unpacked", weight.dequantize().to(device, dtype))
            self.resident_bits = 8.0 * dtype.itemsize

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, plus the bias where there is one."""
        if not self._on_kernel:
            return functional.linear(x, self.unpacked, self.bias)
        rows = x.reshape(-1, self.in_features)
        if self._padding:
            rows = functional.pad(rows, (0, self._padding))
        product = cpu_kernel.multiply(rows.contiguous(), self.packed, self.scales, self.out_features)
        product = product.view(*x.shape[:-1], self.out_features)
        return product if self.bias is None else product + self.bias
