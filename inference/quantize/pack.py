"""Low-bit weights as they lie in memory, made for the kernel's look-up (design D6), and a plain product as its oracle.

32 weights are as many 32-bit words as they have bits. Weight ``8 q + j`` is nibble j of selector q; selectors are the
words themselves at 4 bits, their low three bits and then all top bits at 3, their low and then high pairs at 2. Knows
nothing of recipes, kernels or devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = 32
"""Weights that are packed together, and activations that share a scale."""

LARGEST_LEVEL = 127
"""Levels and activations are whole numbers from minus this to this: a byte of the four-way product."""

PIECE = 2**22
"""Indices packed at a time, so that no wide copy of a whole matrix is made."""

SPREAD = 2**18
"""Weights looked up at a time, so that they stay in the processor's cache."""

_SHIFTS = tuple(range(0, 32, 4))
_TOPS = 0x11111111


@dataclass(frozen=True, slots=True)
class Packed:
    """A matrix [rows, columns] in ``bits``: the value is (table[index] / divisor) * scale + offset.

    ``words`` int32 [rows, bits, groups of 32]; ``scales`` and ``offsets`` bfloat16 [rows, blocks], where a block is a
    multiple of 32 columns; ``offsets`` None means none. ``table`` int8 [2**bits] holds the levels. Columns beyond
    ``columns`` are padding: what stands there is multiplied with activations of zero.
    """

    words: torch.Tensor
    scales: torch.Tensor
    offsets: torch.Tensor | None
    table: torch.Tensor
    divisor: int
    bits: int
    columns: int

    @property
    def rows(self) -> int:
        """How many outputs."""
        return self.words.shape[0]

    @property
    def groups(self) -> int:
        """How many groups of 32 columns, padding included."""
        return self.words.shape[2]

    @property
    def block(self) -> int:
        """How many columns share a scale."""
        return self.groups * GROUP // self.scales.shape[1]

    @property
    def bytes(self) -> int:
        """What the matrix takes in memory, scales and offsets included."""
        parts = [self.words, self.scales] + ([] if self.offsets is None else [self.offsets])
        return sum(part.numel() * part.element_size() for part in parts)

    @property
    def bits_per_weight(self) -> float:
        """The same for each weight that is not padding."""
        return 8 * self.bytes / (self.rows * self.columns)

    @property
    def is_even(self) -> bool:
        """Whether all levels have the same distance, so that an index is as good as its level."""
        steps = self.table.int().diff()
        return bool((steps == steps[0]).all())

    @property
    def levels(self) -> torch.Tensor:
        """The levels as the kernel has them, float32."""
        return self.table.float() / self.divisor

    def to(self, device: torch.device) -> Packed:
        """The same matrix on another device."""
        moved = [part if part is None else part.to(device) for part in (self.words, self.scales, self.offsets)]
        words, scales, offsets = moved
        assert words is not None
        assert scales is not None
        return Packed(words, scales, offsets, self.table.to(device), self.divisor, self.bits, self.columns)

    def dequantize(self) -> torch.Tensor:
        """The weights as float32 [rows, columns]."""
        indices = unpack_indices(self.words, self.bits).int()
        blocks = self.levels[indices].view(self.rows, self.scales.shape[1], -1) * self.scales.float()[..., None]
        if self.offsets is not None:
            blocks = blocks + self.offsets.float()[..., None]
        return blocks.view(self.rows, -1)[:, : self.columns]

    def spread(self, into: torch.Tensor) -> None:
        """Write the weights into ``into`` [rows, columns], of any float type: as ``dequantize`` does, but quickly."""
        values = self.levels.tolist()
        step = max(1, SPREAD // (self.groups * GROUP))
        for begin in range(0, self.rows, step):
            rows = slice(begin, begin + step)
            scales = self.scales[rows].float()[..., None]
            blocks = looked_up(self.words[rows], self.bits, values).view(*scales.shape[:2], -1).mul_(scales)
            if self.offsets is not None:
                blocks += self.offsets[rows].float()[..., None]
            into[rows] = blocks.flatten(1)[:, : self.columns]

    def multiply(self, x: torch.Tensor) -> torch.Tensor:
        """The product of x [n, columns] and the weights, float32 [n, rows]: the oracle of 16-bit activations."""
        return x.float() @ self.dequantize().T

    def multiply_rounded(self, x: torch.Tensor) -> torch.Tensor:
        """The same with x rounded to 8 bits, float32 [n, rows]: the oracle of the kernels that do so."""
        rounded, scales = round_activations(x)
        return (rounded.float() * scales[..., None]).flatten(1)[:, : self.columns] @ self.dequantize().T


def pack(
    indices: torch.Tensor,
    scales: torch.Tensor,
    levels: torch.Tensor,
    columns: int | None = None,
    offsets: torch.Tensor | None = None,
) -> Packed:
    """Indices uint8 [rows, in] with scales and offsets [rows, in / block] of 4, 8 or 16 ascending levels, packed.

    ``in`` must be a multiple of 32 and of the block; ``columns`` is the number before padding, None all. Scales and
    offsets are kept in bfloat16, levels as ``round_levels`` gives them: give numbers that are those already, and
    ``dequantize`` gives exactly what was quantized. ValueError for other sizes.
    """
    width = indices.shape[1]
    bits = levels.numel().bit_length() - 1
    if bits not in (2, 3, 4) or levels.numel() != 2**bits:
        raise ValueError(f"{levels.numel()} levels: packed are 4, 8 or 16")
    if width % GROUP or width % scales.shape[1] or width // scales.shape[1] % GROUP:
        raise ValueError(f"{width} columns in {scales.shape[1]} blocks are not whole groups of {GROUP}")
    table, divisor = round_levels(levels)
    return Packed(
        words=pack_indices(indices, bits),
        scales=scales.to(torch.bfloat16).contiguous(),
        offsets=None if offsets is None else offsets.to(torch.bfloat16).contiguous(),
        table=table,
        divisor=divisor,
        bits=bits,
        columns=width if columns is None else columns,
    )


def packed_beside(parts: Sequence[Packed]) -> Packed:
    """One matrix of the rows of several that have the same columns, levels and blocks, all or none with offsets."""
    first = parts[0]
    offsets = [part.offsets for part in parts if part.offsets is not None]
    return Packed(
        torch.cat([part.words for part in parts]),
        torch.cat([part.scales for part in parts]),
        torch.cat(offsets) if offsets else None,
        first.table,
        first.divisor,
        first.bits,
        first.columns,
    )


def round_levels(levels: torch.Tensor) -> tuple[torch.Tensor, int]:
    """Ascending levels from -1 to 1 as whole numbers int8 and what to divide them by.

    The divisor, up to 127, is the one with the least error; evenly spaced levels come out exactly. Quantize with
    ``table / divisor``, which this function gives back unchanged, and the kernel's levels are those of the recipe.
    """
    table, divisor = _rounded(tuple(levels.tolist()))
    return torch.tensor(table, dtype=torch.int8, device=levels.device), divisor


@cache
def _rounded(levels: tuple[float, ...]) -> tuple[list[int], int]:
    exact = torch.tensor(levels, dtype=torch.float64)
    best, least = LARGEST_LEVEL, float("inf")
    for divisor in range(LARGEST_LEVEL, LARGEST_LEVEL // 2, -1):
        error = float((torch.round(exact * divisor) / divisor - exact).abs().max())
        if error < least - 1e-6:  # float32 levels are themselves that far off
            best, least = divisor, error
    return torch.round(exact * best).int().tolist(), best


def rounded(levels: torch.Tensor) -> torch.Tensor:
    """Levels float32 as a table of 8-bit numbers can hold them: what a recipe should quantize with."""
    table, divisor = round_levels(levels)
    return table.float() / divisor


def pack_indices(indices: torch.Tensor, bits: int) -> torch.Tensor:
    """Indices below ``2**bits``, uint8 [rows, 32 groups], as int32 words [rows, bits, groups]."""
    rows, width = indices.shape
    groups = width // GROUP
    words = torch.empty(rows, bits, groups, dtype=torch.int32, device=indices.device)
    step = max(1, PIECE // max(width, 1))
    for start in range(0, rows, step):
        piece = indices[start : start + step].view(-1, groups, 4, 8).int()
        # Selector q of a group: its eight indices, one a nibble.
        selectors = piece[..., 0].clone()
        for nibble in range(1, 8):
            selectors |= piece[..., nibble] << _SHIFTS[nibble]
        words[start : start + step] = torch.stack(_words(selectors.unbind(-1), bits), 1)
    return words


def _words(selectors: Sequence[torch.Tensor], bits: int) -> list[torch.Tensor]:
    if bits == 4:
        return list(selectors)
    if bits == 2:
        return [selectors[0] | selectors[2] << 2, selectors[1] | selectors[3] << 2]
    return [selectors[bit] | ((selectors[3] >> bit) & _TOPS) << 3 for bit in range(3)]


def _selectors(words: Sequence[torch.Tensor], bits: int) -> list[torch.Tensor]:
    """What ``_words`` was made of. The kernel does the same; a shift may drag the sign along, so masks come after."""
    if bits == 4:
        return list(words)
    if bits == 2:
        return [word >> shift & 0x33333333 for shift in (0, 2) for word in words]
    tops = [(word >> 3 & _TOPS) << bit for bit, word in enumerate(words)]
    return [*(word & 0x77777777 for word in words), tops[0] | tops[1] | tops[2]]


def unpack_indices(words: torch.Tensor, bits: int) -> torch.Tensor:
    """Words int32 [rows, bits, groups] as indices uint8 [rows, 32 groups]."""
    rows, _, groups = words.shape
    selectors = torch.stack(_selectors(words.unbind(1), bits), -1)
    nibbles = [(selectors >> shift & 15).to(torch.uint8) for shift in _SHIFTS]
    return torch.stack(nibbles, -1).view(rows, groups * GROUP)


def looked_up(words: torch.Tensor, bits: int, values: Sequence[float] | Sequence[int]) -> torch.Tensor:
    """Words int32 [rows, bits, groups] as the values of their indices [rows, 32 groups], float32 or, of ints, int32."""
    selectors = torch.stack(_selectors(words.unbind(1), bits), -1)
    dtype = torch.int32 if isinstance(values[0], int) else torch.float32
    # As a signed number an upper half counts from the table's end.
    found = _fours(tuple(values), dtype).to(words.device)[selectors.view(torch.int16).int()]
    return found.view(dtype).view(len(words), -1)


@cache
def _fours(values: tuple[float, ...], dtype: torch.dtype) -> torch.Tensor:
    """For every 16 bits the values of their four nibbles, the lowest first, as one number of 16 bytes, [65536]."""
    one = torch.zeros(16, dtype=dtype)
    one[: len(values)] = torch.tensor(values)
    nibbles = torch.arange(2**16)[:, None] >> torch.tensor([0, 4, 8, 12]) & 15
    return one[nibbles].view(torch.complex128)[:, 0]


def round_activations(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of x [n, columns] as int8 [n, groups, 32] and a float32 scale each, [n, groups]; zeros at the end.

    A group that is not finite becomes zeros with a scale that is not, so that its products are not numbers either.
    """
    groups = torch.nn.functional.pad(x.float(), (0, -x.shape[1] % GROUP)).view(len(x), -1, GROUP)
    scales = groups.abs().amax(-1) / LARGEST_LEVEL
    usable = (scales > 0) & scales.isfinite()
    inverse = torch.where(usable, 1 / scales, 0.0)
    values = torch.where(usable[..., None], torch.round(groups * inverse[..., None]), 0.0)
    return values.clamp_(-LARGEST_LEVEL, LARGEST_LEVEL).to(torch.int8), scales
