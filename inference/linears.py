"""Dense linear layers as the fast forward wants them: joined where they share an input, read once from memory.

In float32 our own products (native/) take weights as they are stored, in 16 bits too. In 16 bits ``F.linear`` lays
weights out anew at every call; oneDNN's packed weights do not, with the same product. Those operators are private to
PyTorch: ``packs`` tries them, and ``F.linear`` always works. Knows nothing of models.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from inference.native import products

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


def keeps_stored(weight: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether products with activations of ``dtype`` take this weight as it is stored, by our own kernels."""
    return (
        dtype == torch.float32
        and weight.device.type in ("cpu", "meta")
        and weight.dtype in products.KINDS
        and products.available()
    )


class DenseLinear(nn.Module):
    """x [rows, in] of ``dtype`` (None: the weight's) to [rows, out] with weights of full precision.

    Weights of 16 bits that our own products take for float32 stay as they are: every one is a float32 number too.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.dtype = dtype or weight.dtype
        self.is_native = keeps_stored(weight, self.dtype)
        if self.is_native and not weight.is_contiguous():
            weight = weight.contiguous()
        elif not self.is_native:
            weight = weight.to(self.dtype)
        is_narrow = weight.dtype != self.dtype
        self.is_packed = not self.is_native and weight.device.type == "cpu" and packs(weight.dtype)
        self.bias = bias
        self.sizes: tuple[int, ...] = (self.out_features,)
        # Plain attributes: the packed kind has no strides, which copies and conversions of modules expect, and weights
        # as stored are of another precision than the module.
        self._packed: tuple[torch.Tensor, ...] = (_pack(weight.detach()),) if self.is_packed else ()
        self._stored: tuple[torch.Tensor, ...] = (weight.detach(),) if is_narrow else ()
        self.weight = None if self.is_packed or is_narrow else weight
        self._doubles = self.is_packed and single_rows_differ(*weight.shape, weight.dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, plus the bias where there is one."""
        if self.is_native:
            return products.dense(x, self._stored[0] if self.weight is None else self.weight, self.bias)
        if self._packed:
            (packed,) = self._packed
            return _multiply(x, packed, self.bias)
        assert self.weight is not None
        return functional.linear(x, self.weight, self.bias)

    def alone(self, x: torch.Tensor) -> torch.Tensor:
        """The product of one row [1, in] with the bits that the row has among others, where doubling it gives them."""
        return self.forward(x.expand(2, -1))[:1] if self._doubles else self.forward(x)

    @property
    def packed(self) -> torch.Tensor:
        """The weights as oneDNN lays them out. ValueError where they are not packed."""
        if not self._packed:
            raise ValueError("plain weights")
        return self._packed[0]

    def dense(self) -> torch.Tensor:
        """The weights as they are kept, [out, in]; unpacked anew where they are packed."""
        if self.weight is not None:
            return self.weight.detach()
        if self._stored:
            return self._stored[0]
        (packed,) = self._packed
        unpacked: torch.Tensor = packed.to_dense()
        return unpacked


class StoredRows(nn.Module):
    """Ids [...] to the rows [..., columns] of a matrix kept in 16 bits, in another precision."""

    def __init__(self, weight: torch.Tensor, dtype: torch.dtype) -> None:
        super().__init__()
        self._stored = (weight.detach(),)
        self._dtype = dtype

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """The same numbers."""
        return functional.embedding(ids, self._stored[0]).to(self._dtype)

    def __deepcopy__(self, _: object) -> StoredRows:
        """It never changes: a twin shares it."""
        return self


PROBE = 128
"""Rows of the matrix that shows how packed ones lie in memory: two blocks of as many rows as are laid out together."""

CHECKED = 8192
"""Rows of a matrix that are compared before its packed form takes the place of the plain one."""


class PackedRows(nn.Module):
    """Ids [...] to their rows [..., columns] of a packed matrix: a head that is the embedding lies there once."""

    def __init__(self, packed: torch.Tensor, starts: torch.Tensor, columns: torch.Tensor) -> None:
        super().__init__()
        self._packed = packed  # holds the memory
        self._starts, self._columns = starts, columns
        size: int = torch.ops.mkldnn._nbytes(packed)  # noqa: SLF001
        self._memory = (ctypes.c_uint8 * size).from_address(torch.ops.mkldnn.data_ptr(packed))

    def numbers(self) -> torch.Tensor:
        """All of them as they lie in memory, [rows and padding x columns and padding]."""
        return torch.frombuffer(self._memory, dtype=self._packed.dtype)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """The same bits as those of the matrix that was packed."""
        return self.numbers()[self._starts[ids][..., None] + self._columns]

    def __deepcopy__(self, _: object) -> PackedRows:
        """It never changes: a twin shares it."""
        return self


@torch.inference_mode()
def packed_rows(linear: DenseLinear, weight: torch.Tensor) -> PackedRows | None:
    """``weight`` [rows, columns] read from the packed ``linear`` made of it; None where that does not give its bits."""
    try:
        starts, columns = _places(weight.shape[1], weight.dtype)
        packed = linear.packed
        block = PROBE // 2
        ids = torch.arange(len(weight))
        rows = PackedRows(packed, starts[ids % block] + ids // block * (starts[block] - starts[0]), columns)
        step = max(1, len(weight) // CHECKED)
        for some in torch.split(torch.cat([ids[::step], ids[-block:]]), 512):
            if not torch.equal(rows(some).view(torch.int16), weight[some].view(torch.int16)):
                return None
    except (RuntimeError, AttributeError, ValueError, IndexError):
        return None
    return rows


@cache
def _places(columns: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Where rows of a packed matrix start and how far from there its columns lie, in numbers.

    Found by packing a matrix of row numbers and one of column numbers. ValueError where places are no such sums.
    """
    if dtype not in (torch.bfloat16, torch.float16) or columns + 1 >= 0x7C00:
        raise ValueError("codes that are no numbers may not be kept")
    none = torch.zeros(1, dtype=torch.int64)
    found = []
    for along in (torch.arange(PROBE)[:, None], torch.arange(columns)):
        codes = (along + 1).expand(PROBE, columns).to(torch.int16).view(dtype)
        rows = PackedRows(_pack(codes), none, none)  # holds the memory
        found.append(rows.numbers().view(torch.int16).long() - 1)
    there = (found[0] >= 0).nonzero()[:, 0]  # the others are padding
    table = torch.empty(PROBE, columns, dtype=torch.int64)
    table[found[0][there], found[1][there]] = there
    starts, offsets = table[:, 0].clone(), table[0] - table[0, 0]
    if not torch.equal(starts[:, None] + offsets, table):
        raise ValueError("no sum")
    return starts, offsets


def join(layers: Sequence[nn.Linear], dtype: torch.dtype | None = None) -> DenseLinear:
    """One layer whose output is the outputs of ``layers`` side by side, for activations of ``dtype``."""
    if len(layers) == 1:
        return DenseLinear(layers[0].weight, layers[0].bias, dtype)
    joined = torch.cat([layer.weight.detach() for layer in layers])
    linear = DenseLinear(nn.Parameter(joined, requires_grad=False), joined_bias(layers), dtype)
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
