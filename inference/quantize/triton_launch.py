"""Products with packed matrices through the kernels: what is handed over, in which tiles, and whether it works here.

Knows nothing of models. Tensors are on a CUDA card, or on the CPU where Triton interprets (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
"""Up to here four-way products take fewer than three instructions a weight; more rows go to matrix units."""


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


def tiles(rows: int) -> tuple[Tile, ...]:
    """Tiles of four-way products worth a try for so many rows, the surest first; none of them spills registers."""
    if rows > 8:
        return (Tile(4, 32, 1, 4),)
    if rows > 4:
        return (Tile(8, 64, 1, 4), Tile(8, 32, 1, 4))
    if rows > 2:  # activations that are loaded serve twice as many weights: fewer than three instructions each
        return (Tile(16, 64, 1, 4), Tile(8, 64, 1, 4))
    if rows > 1:
        return (Tile(8, 64, 1, 4), Tile(8, 32, 1, 4))
    return (Tile(8, 64, 1, 4), Tile(16, 64, 1, 8), Tile(8, 32, 1, 4), Tile(4, 64, 1, 4), Tile(4, 32, 1, 2))


WIDE_TILES = (Tile(256, 16, 1, 8), Tile(128, 16, 1, 4))
"""Of the product on matrix units, for any number of rows."""


def splits(out: int, groups: int, tile: Tile, processors: int) -> int:
    """How many parts the columns are cut into, so that each multiprocessor has about eight programs."""
    programs = -(-out // tile.out)
    wanted = -(-8 * processors // programs)
    return max(1, min(wanted, groups // tile.groups, 8))


@cache
def processors(device: torch.device) -> int:
    """Multiprocessors of the card."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


class LowBitProduct:
    """One packed matrix, or several side by side with the same columns, on one device. ``tile`` None chooses one."""

    def __init__(self, parts: Sequence[Packed], tile: Tile | None = None) -> None:
        self.matrices = tuple(parts)
        self.out = sum(part.rows for part in parts)
        self.columns = parts[0].columns
        self.groups = parts[0].groups
        self._tables = [_tables(part.table.tolist()) for part in parts]
        self._scales = [part.scales.view(torch.int16) for part in parts]
        self._offsets = [None if part.offsets is None else part.offsets.view(torch.int16) for part in parts]
        self._tiles: dict[int, Tile] = {}
        self._given = tile
        self._has_matrix_units = has_matrix_units(self.device)
        self._lifted: list[tuple[torch.Tensor, float]] | None = None

    @property
    def bytes(self) -> int:
        """Memory of the matrices."""
        return sum(part.bytes for part in self.matrices)

    @property
    def device(self) -> torch.device:
        """Where they lie."""
        return self.matrices[0].words.device

    def tile(self, count: int) -> Tile:
        """The tile for so many rows."""
        rows = power_of_two(count)
        found = self._given or self._tiles.get(rows)
        if found is None:
            first = (WIDE_TILES if self._is_wide(count) else tiles(rows))[0]
            split = splits(self.out, self.groups, first, processors(self.device))
            found = self._tiles[rows] = Tile(first.out, first.groups, split, first.warps)
        return found

    def use(self, count: int, tile: Tile) -> None:
        """From now on this tile for so many rows."""
        self._tiles[power_of_two(count)] = tile

    def parts(self, x: Activations, tile: Tile | None = None) -> torch.Tensor:
        """The product as parts to be added up, float32 [split, count, out]; 16 rows at most."""
        from inference.quantize.triton_low_bit import low_bit_product

        tile = tile or self.tile(x.count)
        if self._is_wide(x.count):
            return self._wide_parts(x, tile)
        out = torch.empty(tile.split, x.count, self.out, dtype=torch.float32, device=x.values.device)
        begin = 0
        for part, tables, scales, offsets in zip(self.matrices, self._tables, self._scales, self._offsets, strict=True):
            low_bit_product[(-(-part.rows // tile.out), tile.split)](
                x.values, x.scales, x.sums, part.words, scales, scales if offsets is None else offsets,
                out[..., begin:], *tables, 1.0 / part.divisor, x.count,
                ROWS=len(x.values), OUT=part.rows, EVERY=self.out, GROUPS=part.groups,
                PER_BLOCK=part.block // GROUP, SPLIT=tile.split, BITS=part.bits, WITH_OFFSETS=offsets is not None,
                TILE_OUT=tile.out, TILE_GROUPS=tile.groups, num_warps=tile.warps,
            )  # fmt: skip
            begin += part.rows
        return out

    def _is_wide(self, count: int) -> bool:
        return count > FEW_ROWS and self._has_matrix_units

    def _wide_parts(self, x: Activations, tile: Tile) -> torch.Tensor:
        """The same of more rows, on matrix units."""
        from inference.quantize.triton_wide import wide_product, widen_rows

        rows, _, groups = x.values.shape
        device = x.values.device
        if self._lifted is None:
            self._lifted = [_lifted(part) for part in self.matrices]
        wide = torch.empty(32, rows, groups, dtype=torch.float16, device=device)
        sums = torch.empty(rows, groups, dtype=torch.float16, device=device)
        peaks = torch.empty(rows, dtype=torch.float32, device=device)
        widen_rows[(rows,)](
            x.values, x.scales, x.sums, wide, sums, peaks, x.count,
            ROWS=rows, GROUPS=groups, TILE=power_of_two(groups),
        )  # fmt: skip
        out = torch.empty(tile.split, x.count, self.out, dtype=torch.float32, device=device)
        begin = 0
        for part, scales, offsets, (tables, lift) in zip(
            self.matrices, self._scales, self._offsets, self._lifted, strict=True
        ):
            wide_product[(-(-part.rows // tile.out), tile.split)](
                wide, sums, peaks, part.words, scales, scales if offsets is None else offsets, tables,
                out[..., begin:], 1.0 / part.divisor, lift, x.count,
                ROWS=rows, OUT=part.rows, EVERY=self.out, GROUPS=groups, PER_BLOCK=part.block // GROUP,
                SPLIT=tile.split, BITS=part.bits, WITH_OFFSETS=offsets is not None, TILE_OUT=tile.out,
                TILE_GROUPS=tile.groups, num_warps=tile.warps, num_stages=1,
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
        for part, scales, offsets in zip(self.matrices, self._scales, self._offsets, strict=True):
            out = torch.empty(len(x), part.rows, dtype=torch.float32, device=x.device)
            low_bit_product_16[(-(-part.rows // 8), len(x))](
                x.contiguous(), part.words, scales, scales if offsets is None else offsets, part.table, out,
                1.0 / part.divisor, len(x),
                COLUMNS=self.columns, OUT=part.rows, GROUPS=part.groups, PER_BLOCK=part.block // GROUP,
                BITS=part.bits, WITH_OFFSETS=offsets is not None, TILE_OUT=8, TILE_GROUPS=32,
            )  # fmt: skip
            products.append(out)
        return torch.cat(products, 1).to(x.dtype)


def has_matrix_units(device: torch.device) -> bool:
    """Whether Triton multiplies tiles of 16 bits in hardware here; where it interprets, it may be taken to."""
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= (8, 0)


def _lifted(part: Packed) -> tuple[torch.Tensor, float]:
    """The tables on the matrix's device, and a power of two by which its scales are small numbers of 16 bits.

    Levels of 2 and 3 bits stand 128 higher there, so that their bytes have no sign.
    """
    largest = float(part.scales.abs().max())
    if part.offsets is not None:  # those may be 32 times as large
        largest = max(largest, float(part.offsets.abs().max()) * part.divisor / 1024)
    lift = 2.0 ** (4 - math.floor(math.log2(largest))) if 0 < largest < math.inf else 1.0
    tables = torch.tensor(_tables(part.table.tolist()), dtype=torch.int32)
    if part.bits < 4:
        tables[:2] ^= -0x7F7F7F80  # the top bit of each byte
    return tables.to(part.words.device), lift


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
    generator = torch.Generator().manual_seed(0)
    indices = torch.randint(0, 8, (16, 64), generator=generator).to(torch.uint8)
    packed = pack(indices, torch.rand(16, 1, generator=generator), rounded(torch.linspace(-1, 1, 8)))
    x = torch.randn(2, 64, generator=generator)
    try:
        found = LowBitProduct([packed.to(device)])(x.to(device)).cpu()
    except Exception as error:  # a compiler that is missing, or a card that Triton no longer knows, fails in many ways
        return f"{type(error).__name__}: {error}".split("\n")[0]
    if functional.cosine_similarity(found.flatten(), packed.multiply(x).flatten(), dim=0) < 0.999:
        return "its product is wrong on this card"
    return None


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
