"""Tensors to the compiled products and back. ``available`` says whether they work here and give the right product.

A row has the same bits whatever rows are beside it. Knows nothing of layers and models.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from inference.native import library
from inference.quantize.pack import GROUP, pack

if TYPE_CHECKING:
    from inference.quantize.pack import Packed

KINDS = {torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}
"""What dense weights may be stored in."""

TOGETHER = 8
"""Groups of columns that a low-bit product works at once."""


@cache
def available() -> bool:
    """Whether this machine has the compiled products, with a trial of each."""
    return trouble() is None


@cache
@torch.inference_mode()
def trouble() -> str | None:
    """Why there are none: ``platform``, ``compiler``, ``processor`` or ``wrong``; None where they work."""
    found = library.load()
    if isinstance(found, str):
        return found
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 297, generator=generator)
    for dtype in KINDS:
        weight = torch.randn(29, 297, generator=generator).to(dtype)
        if not torch.allclose(dense(x, weight, None), x @ weight.float().T, atol=1e-3):
            return "wrong"
    for bits in (2, 3, 4):
        indices = torch.randint(0, 2**bits, (5, 320), generator=generator, dtype=torch.uint8)
        for blocks, levels in ((10, torch.linspace(-1, 1, 2**bits)), (5, torch.linspace(-1, 1, 2**bits) ** 3)):
            scales = torch.rand(5, blocks, generator=generator)
            matrix = pack(indices, scales, levels, 297, scales / 2 if blocks == 10 else None)
            out = torch.empty(3, 5)
            LowBit(matrix)(x, out)
            if not torch.allclose(out, matrix.multiply_rounded(x), atol=1e-3):
                return "wrong"
    return None


def version() -> str:
    """A name for the source that was compiled: other sources may give other last bits."""
    return library.key()


def widen(wanted: bool) -> bool:
    """Take registers of 512 bits from now on, or no longer; whether they are taken. Bits are the same with both.

    They are taken wherever there are any; tests and benchmarks compare. Not while products are under way.
    """
    return bool(library.loaded().products_widen(int(wanted)))


def dense(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """The product of x float32 [rows, in] and ``weight`` [out, in] of one of KINDS, plus ``bias``: [rows, out]."""
    (rows, columns), outputs = x.shape, len(weight)
    out = x.new_empty(rows, outputs)
    _call(f"dense_{KINDS[weight.dtype]}", (weight, x.contiguous(), bias, out), (outputs, columns, rows))
    return out


class LowBit:
    """A packed matrix as it lies in memory.

    ``parts`` are its words, scales, offsets or None, and levels; ``per`` groups of 32 columns, one or two, share a
    scale; levels are ``is_even`` where all have the same distance.
    """

    def __init__(self, matrix: Packed) -> None:
        per = matrix.block // GROUP
        scales, offsets = matrix.scales, matrix.offsets
        if per > 2:  # the products know blocks of one group and of two
            scales = scales.repeat_interleave(per, 1)
            offsets = None if offsets is None else offsets.repeat_interleave(per, 1)
            per = 1
        table = torch.zeros(16, dtype=torch.int8)
        table[: len(matrix.table)] = matrix.table
        self.is_even = matrix.is_even
        self.rows, self.columns, self.bits = matrix.rows, matrix.columns, matrix.bits
        self.groups, self.per, self.divisor = matrix.groups, per, matrix.divisor
        self.parts = (matrix.words.contiguous(), _with_room(scales), _with_room(offsets), table)
        self._name = f"{'even' if self.is_even else 'free'}_{matrix.bits}"

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return sum(part.numel() * part.element_size() for part in self.parts[:3] if part is not None)

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> None:
        """Write the product with x float32 [rows, columns] into ``out`` [rows, outputs], or columns of a wider one.

        x is rounded to 8 bits with a scale for 32 columns, as ``pack.round_activations`` does it.
        """
        rows = len(x)
        sizes = (self.rows, out.stride(0), self.columns, rows, self.groups, self.per)
        if not _call(self._name, (*self.parts, x.contiguous(), out), sizes, self.divisor):
            raise MemoryError(f"{rows} rows of {self.columns} columns")


def _with_room(scales: torch.Tensor | None) -> torch.Tensor | None:
    """The same numbers with room behind the last, as eight are read at once."""
    return None if scales is None else functional.pad(scales.flatten(), (0, TOGETHER - 1))


def _call(name: str, tensors: tuple[torch.Tensor | None, ...], sizes: tuple[int, ...], *more: float) -> int:
    pointers = (None if tensor is None else tensor.data_ptr() for tensor in tensors)
    found: int = _functions()[name](*pointers, *sizes, torch.get_num_threads(), *more)
    return found


@cache
def _functions() -> dict[str, Any]:
    found = library.loaded()
    pointer, size = ctypes.c_void_p, ctypes.c_long
    functions = {}
    for name in [f"dense_{kind}" for kind in KINDS.values()]:
        functions[name] = getattr(found, name)
        functions[name].argtypes = [pointer] * 4 + [size] * 3 + [ctypes.c_int]
        functions[name].restype = None
    for name in [f"{levels}_{bits}" for levels in ("even", "free") for bits in (2, 3, 4)]:
        functions[name] = getattr(found, name)
        functions[name].argtypes = [pointer] * 6 + [size] * 6 + [ctypes.c_int, ctypes.c_float]
    return functions
