"""Products with packed matrices through the kernels: what is handed over, in which tiles, and whether it works here.

Knows nothing of models. Tensors are on a CUDA card, or on the CPU where Triton interprets (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from inference.quantize.pack import GROUP, Packed, pack, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST_ROWS = 16
"""Rows of one launch; more are taken in turns."""

FEW_ROWS = 4
"""Rows of one program of four-way products, which take up to three instructions a weight; more go to matrix units."""

NARROWEST = 8
"""Rows of the smallest product on matrix units."""

_NEW_PLACES = (0, 2, 4, 6, 1, 3, 5, 7)
"""Where the nibbles of a word go whose levels are even: then masks alone make bytes, and pairs of halves, of them."""


@dataclass(frozen=True, slots=True)
class Tile:
    """What one program computes: ``out`` outputs over ``groups`` groups at a time, with so many warps.

    ``split`` programs share the columns of the same outputs.
    """

    out: int
    groups: int
    split: int
    warps: int


@dataclass(frozen=True, slots=True)
class Activations:
    """Rounded rows as the kernels read them: int32 [rows, 8, groups], float32 [rows, groups] twice; ``count`` count."""

    values: torch.Tensor
    scales: torch.Tensor
    sums: torch.Tensor
    count: int

    @classmethod
    def room(cls, count: int, columns: int, device: torch.device) -> Activations:
        """Unwritten ones. Rows are made up to a power of two, as the kernel takes them."""
        rows, groups = power_of_two(count), -(-columns // GROUP)
        return cls(
            torch.empty(rows, 8, groups, dtype=torch.int32, device=device),
            torch.empty(rows, groups, dtype=torch.float32, device=device),
            torch.empty(rows, groups, dtype=torch.float32, device=device),
            count,
        )


def power_of_two(count: int) -> int:
    """The next power of two at or above ``count``."""
    return 1 << max(0, count - 1).bit_length()


def few_rows(parts: Sequence[Packed]) -> int:
    """How many rows four-way products take within three instructions a weight.

    A row takes a quarter of one, and 16 levels that are not even take one to be looked up.
    """
    return FEW_ROWS - any(part.bits == 4 and not part.is_even for part in parts)


def tiles(rows: int) -> tuple[Tile, ...]:
    """Tiles of four-way products worth a try for so many rows, the surest first; none of them spills registers."""
    if rows > 2:  # activations that are loaded serve twice as many weights
        return (Tile(32, 64, 1, 4),)
    if rows > 1:
        return (Tile(8, 64, 1, 4),)
    return (Tile(8, 64, 1, 4), Tile(16, 64, 1, 4), Tile(32, 64, 1, 4), Tile(4, 64, 1, 4), Tile(4, 32, 1, 2))


WIDE_TILES = (Tile(128, 8, 1, 2), Tile(256, 8, 1, 4))
"""Of the product on matrix units, for any number of rows. Four warps take instructions on sm_90 that cost more here."""

WIDE_STAGES = 2
"""Loads go one turn of the loop ahead, past the registers where the card can do so."""


def splits(out: int, groups: int, tile: Tile, processors: int) -> int:
    """How many parts the columns are cut into, so that each multiprocessor has about eight programs."""
    programs = -(-out // tile.out)
    wanted = -(-8 * processors // programs)
    return max(1, min(wanted, groups // tile.groups, 8))


@cache
def processors(device: torch.device) -> int:
    """Multiprocessors of the card."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


@dataclass(frozen=True, slots=True)
class _Operand:
    """A matrix as the kernels take it, its ``words`` laid anew where its levels are ``is_even``.

    A weight is (byte of triton_look_up.eight_levels + ``middle``) * scale * ``factor`` + offset. ``tables`` int32 [8]
    on the device: four registers of levels, and four with all levels 128 higher.
    """

    matrix: Packed
    scales: torch.Tensor
    offsets: torch.Tensor | None
    tables: torch.Tensor
    is_even: bool
    factor: float
    middle: float

    @classmethod
    def of(cls, part: Packed) -> _Operand:
        """The operand of a packed matrix on its device."""
        levels = part.table.tolist()
        even = part.is_even
        factor, middle = 1.0 / part.divisor, -128.0 if part.bits == 4 else 0.0
        plain = (0, 0, 0, 0) if even else _tables(levels)
        if even:
            part = replace(part, words=laid_anew(part.words))
            factor, middle = (levels[1] - levels[0]) / part.divisor, levels[0] / (levels[1] - levels[0])
        tables = torch.tensor([plain, plain], dtype=torch.int32)
        if part.bits < 4:
            tables[1, :2] ^= -0x7F7F7F80  # the top bit of each byte
        tables = tables.flatten().to(part.words.device)
        offsets = None if part.offsets is None else part.offsets.view(torch.int16)
        return cls(part, part.scales.view(torch.int16), offsets, tables, even, factor, middle)

    @property
    def wide_middle(self) -> float:
        """The same on matrix units, where bytes stand in halves from 1024 on and never have a sign."""
        return (self.middle if self.is_even else -128.0) - 1024.0

    def lift(self) -> float:
        """A power of two by which the matrix's scales and offsets are small numbers of 16 bits."""
        largest = float(self.matrix.scales.abs().max())
        if self.matrix.offsets is not None:  # those may be 32 times as large
            largest = max(largest, float(self.matrix.offsets.abs().max()) / self.factor / 1024)
        return 2.0 ** (4 - math.floor(math.log2(largest))) if 0 < largest < math.inf else 1.0


class LowBitProduct:
    """One packed matrix, or several side by side with the same columns, on one device. ``tile`` None chooses one.

    ``on_matrix_units`` says whether more than ``few_rows`` go there; None finds out when there are some.
    """

    def __init__(self, parts: Sequence[Packed], tile: Tile | None = None) -> None:
        self.few_rows = few_rows(parts)
        self.operands = tuple(_Operand.of(part) for part in parts)
        self.out = sum(part.rows for part in parts)
        self.columns = parts[0].columns
        self.groups = parts[0].groups
        self._tiles: dict[int, Tile] = {}
        self._given = tile
        self.on_matrix_units: bool | None = None
        self._lifts: tuple[float, ...] | None = None

    @property
    def bytes(self) -> int:
        """Memory of the matrices."""
        return sum(operand.matrix.bytes for operand in self.operands)

    @property
    def device(self) -> torch.device:
        """Where they lie."""
        return self.operands[0].matrix.words.device

    def tile(self, count: int) -> Tile:
        """The tile for so many rows."""
        found = self._given or self._tiles.get(count)
        if found is None:
            first = (WIDE_TILES if self._is_wide(count) else tiles(count))[0]
            split = splits(self.out, self.groups, first, processors(self.device))
            found = self._tiles[count] = Tile(first.out, first.groups, split, first.warps)
        return found

    def use(self, count: int, tile: Tile) -> None:
        """From now on this tile for so many rows."""
        self._tiles[count] = tile

    def parts(self, x: Activations, tile: Tile | None = None) -> torch.Tensor:
        """The product as parts to be added up, float32 [split, count, out]; 16 rows at most."""
        from inference.quantize.triton_low_bit import low_bit_product

        tile = tile or self.tile(x.count)
        if self._is_wide(x.count):
            return self._wide_parts(x, tile)
        out = torch.empty(tile.split, x.count, self.out, dtype=torch.float32, device=x.values.device)
        begin = 0
        rows = min(x.count, FEW_ROWS)
        for operand in self.operands:
            part, scales, offsets = operand.matrix, operand.scales, operand.offsets
            low_bit_product[(-(-part.rows // tile.out), tile.split, -(-x.count // rows))](
                x.values, x.scales, x.sums, part.words, scales, scales if offsets is None else offsets,
                operand.tables, out[..., begin:], operand.factor, operand.middle, x.count,
                ROWS=rows, OUT=part.rows, EVERY=self.out, GROUPS=part.groups,
                PER_BLOCK=part.block // GROUP, SPLIT=tile.split, BITS=part.bits, EVEN=operand.is_even,
                WITH_OFFSETS=offsets is not None, TILE_OUT=tile.out, TILE_GROUPS=tile.groups, num_warps=tile.warps,
            )  # fmt: skip
            begin += part.rows
        return out

    def _is_wide(self, count: int) -> bool:
        if count <= self.few_rows:
            return False
        if self.on_matrix_units is None:
            self.on_matrix_units = has_matrix_units(self.device)
        return self.on_matrix_units

    def _wide_parts(self, x: Activations, tile: Tile) -> torch.Tensor:
        """The same of more rows, on matrix units."""
        from inference.quantize.triton_wide import wide_product, widen_rows

        groups = self.groups
        rows = max(NARROWEST, len(x.values))
        device = x.values.device
        if self._lifts is None:
            self._lifts = tuple(operand.lift() for operand in self.operands)
        wide = torch.empty(16, rows, groups, 2, dtype=torch.float16, device=device)
        sums = torch.empty(rows, groups, 2, dtype=torch.float16, device=device)
        peaks = torch.empty(rows, dtype=torch.float32, device=device)
        widen_rows[(rows,)](
            x.values, x.scales, x.sums, wide, sums, peaks, x.count,
            ROWS=rows, GROUPS=groups, TILE=power_of_two(groups),
        )  # fmt: skip
        out = torch.empty(tile.split, x.count, self.out, dtype=torch.float32, device=device)
        begin = 0
        for operand, lift in zip(self.operands, self._lifts, strict=True):
            part, scales, offsets = operand.matrix, operand.scales, operand.offsets
            wide_product[(-(-part.rows // tile.out), tile.split)](
                wide, sums, peaks, part.words, scales, scales if offsets is None else offsets, operand.tables[4:],
                out[..., begin:], operand.factor, operand.wide_middle, lift, x.count,
                ROWS=rows, OUT=part.rows, EVERY=self.out, GROUPS=groups, PER_BLOCK=part.block // GROUP,
                SPLIT=tile.split, BITS=part.bits, EVEN=operand.is_even, WITH_OFFSETS=offsets is not None,
                TILE_OUT=tile.out, TILE_GROUPS=tile.groups, num_warps=tile.warps, num_stages=WIDE_STAGES,
            )  # fmt: skip
            begin += part.rows
        return out

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Rows x [n, columns] times the matrices, [n, out] in x's precision."""
        from inference.quantize.triton_steps import round_rows

        pieces = [self.parts(round_rows(piece)).sum(0) for piece in torch.split(x, LARGEST_ROWS)]
        return (pieces[0] if len(pieces) == 1 else torch.cat(pieces)).to(x.dtype)

    def with_16_bit_activations(self, x: torch.Tensor) -> torch.Tensor:
        """The same without rounding x, slowly: for measuring what the rounding costs."""
        from inference.quantize.triton_low_bit import low_bit_product_16

        products = []
        for operand in self.operands:
            part, scales, offsets = operand.matrix, operand.scales, operand.offsets
            out = torch.empty(len(x), part.rows, dtype=torch.float32, device=x.device)
            low_bit_product_16[(-(-part.rows // 8), len(x))](
                x.contiguous(), part.words, scales, scales if offsets is None else offsets, part.table, out,
                1.0 / part.divisor, len(x),
                COLUMNS=self.columns, OUT=part.rows, GROUPS=part.groups, PER_BLOCK=part.block // GROUP,
                BITS=part.bits, EVEN=operand.is_even, WITH_OFFSETS=offsets is not None, TILE_OUT=8, TILE_GROUPS=32,
            )  # fmt: skip
            products.append(out)
        return torch.cat(products, 1).to(x.dtype)


@cache
def has_matrix_units(device: torch.device) -> bool:
    """Whether products on matrix units may be taken here: Triton has them for the card, and they give what they should.

    Where it interprets they are taken to.
    """
    if device.type != "cuda":
        return True
    return torch.cuda.get_device_capability(device) >= (8, 0) and matrix_units_work(device)


def matrix_units_work(device: torch.device) -> bool:
    """Whether they compile and give the right product of looked up and of even levels."""
    for levels in (torch.linspace(-1, 1, 8) ** 3, torch.linspace(-1, 1, 8)):
        packed, x = _trial(levels, rows=8)
        product = LowBitProduct([packed.to(device)])
        product.on_matrix_units = True
        try:
            found = product(x.to(device)).cpu()
        except Exception:  # a Triton that cannot compile it fails in many ways
            return False
        if functional.cosine_similarity(found.flatten(), packed.multiply(x).flatten(), dim=0) < 0.999:
            return False
    return True


def laid_anew(words: torch.Tensor) -> torch.Tensor:
    """Words int32 of any shape with the weights of each in the order 0 4 1 5 2 6 3 7."""
    laid = torch.zeros_like(words)
    for nibble, place in enumerate(_NEW_PLACES):
        moved = 4 * (place - nibble)
        mask = (15 << 4 * place) - (2**32 if place == 7 else 0)
        laid |= (words << moved if moved >= 0 else words >> -moved) & mask
    return laid


def _tables(levels: Sequence[int]) -> tuple[int, int, int, int]:
    """The levels as four registers of four bytes. Of 16, the lower eight are kept as their sizes."""
    if len(levels) == 16:
        if levels[7] > 0 or levels[8] < 0:
            raise ValueError("of 16 levels the lower eight must not be positive, nor the upper eight negative")
        return (*_registers([-level for level in levels[:8]]), *_registers(levels[8:]))
    return (*_registers([*levels, *[0] * (8 - len(levels))]), 0, 0)


def _registers(levels: Sequence[int]) -> tuple[int, int]:
    """Eight levels as two signed 32-bit words."""
    data = bytes(level & 255 for level in levels)
    return int.from_bytes(data[:4], "little", signed=True), int.from_bytes(data[4:], "little", signed=True)


@cache
def trouble(device: torch.device) -> str | None:
    """Why the kernels cannot be used on this device, in a few words; None when they give the right product there."""
    if device.type != "cuda" and not interprets():
        return "no CUDA card"
    try:
        import triton  # noqa: F401 - whether it is there
    except ImportError as error:
        return f"Triton is missing ({error})"
    packed, x = _trial(torch.linspace(-1, 1, 8) ** 3, rows=2)
    try:
        found = LowBitProduct([packed.to(device)])(x.to(device)).cpu()
    except Exception as error:  # a compiler that is missing, or a card that Triton no longer knows, fails in many ways
        return f"{type(error).__name__}: {error}".split("\n")[0]
    if functional.cosine_similarity(found.flatten(), packed.multiply(x).flatten(), dim=0) < 0.999:
        return "its product is wrong on this card"
    return None


def _trial(levels: torch.Tensor, rows: int) -> tuple[Packed, torch.Tensor]:
    """A small matrix and activations."""
    generator = torch.Generator().manual_seed(0)
    indices = torch.randint(0, 8, (16, 256), generator=generator).to(torch.uint8)
    packed = pack(indices, torch.rand(16, 4, generator=generator), rounded(levels))
    return packed, torch.randn(rows, 256, generator=generator)


def interprets() -> bool:
    """Whether Triton runs kernels on the CPU in this process."""
    try:
        import triton
    except ImportError:
        return False
    return bool(triton.knobs.runtime.interpret)


def synchronized(device: torch.device) -> Any:
    """Wait for what was launched."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
