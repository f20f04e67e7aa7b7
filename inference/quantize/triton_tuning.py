"""Which tile each product takes on this card: measured once for each shape, and kept for the next start.

A twin's bits are free, so its tiles may differ from card to card and from day to day; a target's are never tuned.
"""

from __future__ import annotations

import hashlib
import statistics
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from inference.models import notes
from inference.quantize.triton_launch import Activations, Tile, processors, splits, tiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from inference.quantize.triton_launch import LowBitProduct

REPEATS = 9


def tune(products: Iterable[LowBitProduct]) -> Iterator[tuple[int, int]]:
    """Give every product the quickest tile for one row; yields (done, total) shapes. What is known is not measured."""
    alike: dict[str, list[LowBitProduct]] = {}
    for product in products:
        alike.setdefault(shape(product), []).append(product)
    kept = notes.read(_file())
    for done, (name, group) in enumerate(alike.items()):
        yield done, len(alike)
        known = _tile(kept.get(name))
        tile = known or quickest(group[0])
        if known is None:
            kept[name] = list(astuple(tile))
        for product in group:
            product.use(1, tile)
    notes.write(_file(), kept)
    yield len(alike), len(alike)


def shape(product: LowBitProduct) -> str:
    """What the measurement depends on, in a line."""
    import triton

    device = product.device
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "interpreted"
    parts = ", ".join(
        f"{part.rows} x {part.groups * 32} in {part.bits} bits by {part.block}"
        + ", even" * operand.is_even
        + " with offsets" * bool(part.offsets is not None)
        for operand in product.operands
        for part in (operand.matrix,)
    )
    return f"{card}, triton {triton.__version__}, kernels {_kernels()}: {parts}"


def _tile(known: Any) -> Tile | None:
    """What a note says, if it is a tile."""
    whole = isinstance(known, list) and len(known) == 4 and all(isinstance(size, int) and size > 0 for size in known)
    return Tile(*known) if whole else None


def _errors() -> type[Exception]:
    """What Triton raises where a tile takes more than the card has."""
    from triton.errors import TritonError

    found: type[Exception] = TritonError
    return found


@cache
def _kernels() -> str:
    """A name for the kernels' source: others may have other best tiles."""
    sources = (Path(__file__).with_name(f"triton_{name}.py").read_bytes() for name in ("low_bit", "look_up"))
    return hashlib.sha256(b"".join(sources)).hexdigest()[:8]


def candidates(product: LowBitProduct) -> list[Tile]:
    """Tiles worth a measurement, with columns whole, cut as far as seems right, and twice that."""
    found = []
    for tile in tiles(1):
        right = splits(product.out, product.groups, tile, processors(product.device))
        for split in sorted({1, right, 2 * right}):
            if split <= max(1, product.groups // tile.groups):
                found.append(Tile(tile.out, tile.groups, split, tile.warps))
    return found


@torch.inference_mode()
def quickest(product: LowBitProduct, clock: Callable[[Callable[[], object]], float] | None = None) -> Tile:
    """The tile with the least time for one row; one that does not compile here is left out."""
    x = Activations.room(1, product.columns, product.device)
    for part in (x.values, x.scales, x.sums):
        part.zero_()
    times: dict[Tile, float] = {}
    for tile in candidates(product):
        try:
            times[tile] = (clock or milliseconds)(lambda tile=tile: product.parts(x, tile))  # type: ignore[misc]
        except (RuntimeError, _errors()):  # Triton's own are none of those
            continue
    return min(times, key=lambda tile: times[tile]) if times else product.tile(1)


def milliseconds(work: Callable[[], object]) -> float:
    """The median time of some work on the card, each behind a write that empties its cache."""
    if not torch.cuda.is_available():
        return 0.0
    work()
    flush = torch.empty(2**26, dtype=torch.int8, device="cuda")
    found = []
    for _ in range(REPEATS):
        flush.zero_()
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        before.record()
        work()
        after.record()
        after.synchronize()
        found.append(before.elapsed_time(after))
    return float(statistics.median(found))


def _file() -> Path:
    from inference.models import folders  # only here: measuring needs nothing of it

    return folders.tuning_file().with_name("kernels.json")
