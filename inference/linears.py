"""Dense linear layers as the fast forward wants them: joined where they share an input, packed once for the CPU.

``F.linear`` lays 16-bit weights out anew at every call; oneDNN's packed weights do not, with the same product. The
operators are private to PyTorch: ``packs`` tries them, and ``F.linear`` always works. Knows nothing of models.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence


@cache
def packs(dtype: torch.dtype) -> bool:
    """Whether packed weights of this precision work on this CPU and give the right product."""
    if dtype == torch.float32:
        return False  # measured: F.linear is as quick
    weight = (torch.arange(64 * 32).view(64, 32) % 7 - 3).to(dtype)
    x = (torch.arange(2 * 32).view(2, 32) % 5 - 2).to(dtype)
    try:
        product = _multiply(x, _pack(weight), None)
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.equal(product, functional.linear(x, weight))


def _pack(weight: torch.Tensor) -> torch.Tensor:
    packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), 1)  # noqa: SLF001
    return packed


def _multiply(x: torch.Tensor, packed: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")  # noqa: SLF001
    return product


@cache
@torch.inference_mode()
def single_rows_differ(out_features: int, in_features: int, dtype: torch.dtype) -> bool:
    """Whether a row's packed product has other bits alone than beside another: long sums may be cut differently.

    One product in some thousands then differs. Exact mode's self-test has the last word.
    """
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(min(out_features, 1024), in_features, generator=generator).to(dtype)
    packed = _pack(weight)
    pairs = torch.randn(32, 2, in_features, generator=generator).to(dtype)
    return any(
        not torch.equal(_multiply(pair, packed, None), torch.cat([_multiply(row[None], packed, None) for row in pair]))
        for pair in pairs
    )


class DenseLinear(nn.Module):
    """x [rows, in] to [rows, out] with weights of full precision, packed where this processor can."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.is_packed = weight.device.type == "cpu" and packs(weight.dtype)
        self.bias = bias
        self.sizes: tuple[int, ...] = (self.out_features,)
        # A plain attribute: the packed kind has no strides, which copies and conversions of modules expect.
        self._packed: tuple[torch.Tensor, ...] = (_pack(weight.detach()),) if self.is_packed else ()
        self.weight = None if self.is_packed else weight
        self._doubles = self.is_packed and single_rows_differ(*weight.shape, weight.dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, plus the bias where there is one."""
        if self._packed:
            (packed,) = self._packed
            return _multiply(x, packed, self.bias)
        assert self.weight is not None
        return functional.linear(x, self.weight, self.bias)

    def alone(self, x: torch.Tensor) -> torch.Tensor:
        """The product of one row [1, in] with the bits that the row has among others, where doubling it gives them."""
        return self.forward(x.expand(2, -1))[:1] if self._doubles else self.forward(x)

    def dense(self) -> torch.Tensor:
        """The weights as they were given, [out, in]; unpacked anew where they are packed."""
        if self.weight is not None:
            return self.weight.detach()
        (packed,) = self._packed
        unpacked: torch.Tensor = packed.to_dense()
        return unpacked


def join(layers: Sequence[nn.Linear]) -> DenseLinear:
    """One layer whose output is the outputs of ``layers`` side by side."""
    if len(layers) == 1:
        return DenseLinear(layers[0].weight, layers[0].bias)
    joined = torch.cat([layer.weight.detach() for layer in layers])
    linear = DenseLinear(nn.Parameter(joined, requires_grad=False), joined_bias(layers))
    linear.sizes = tuple(layer.out_features for layer in layers)
    return linear


def joined_bias(layers: Sequence[nn.Linear]) -> torch.Tensor | None:
    """The biases side by side, zeros where a layer has none; None when no layer has one."""
    if all(layer.bias is None for layer in layers):
        return None
    if len(layers) == 1:
        return layers[0].bias
    biases: list[torch.Tensor] = [
        layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias.detach() for layer in layers
    ]
    return torch.cat(biases)
