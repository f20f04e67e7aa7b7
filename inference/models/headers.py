"""What a safetensors file says of itself: names, shapes, kinds and places of its tensors, without reading them.

A header that does not agree with its file is refused here, so that no loader meets it. Standard library only.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LARGEST = 100_000_000
"""Bytes of a header; the format's own limit."""

BITS: Mapping[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F4": 4, "U16": 16, "I16": 16, "F16": 16,
    "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}
NAMES: Mapping[str, str] = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8", "F8_E5M2": "float8",
    "U8": "uint8", "I8": "int8",
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: its kind as the format spells it, its shape, and the bytes from ``start`` to ``end`` of the data."""

    kind: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def read(path: Path) -> dict[str, Tensor] | None:
    """The tensors of a safetensors file by name; None unless header and size of the file agree in everything.

    Layout (github.com/safetensors/safetensors): 8 bytes length of the header, little endian, the header in JSON, then
    the tensors without gaps, each as long as its shape and kind say.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= LARGEST:
                return None
            header = json.loads(file.read(length))
        tensors = {name: _tensor(entry) for name, entry in header.items() if name != "__metadata__"}
        size = path.stat().st_size - 8 - length
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    reached = 0
    for tensor in sorted(tensors.values(), key=lambda tensor: (tensor.start, tensor.end)):
        bits = BITS.get(tensor.kind)
        # A kind this program does not know yet is only held to its place.
        right = bits is None or (tensor.end - tensor.start) * 8 == tensor.elements * bits
        if tensor.start != reached or not right:
            return None
        reached = tensor.end
    return tensors if tensors and reached == size else None


def precision(tensors: Mapping[str, Tensor]) -> str:
    """The kind that most numbers are stored in, as the program calls it."""
    counts: dict[str, int] = {}
    for tensor in tensors.values():
        counts[tensor.kind] = counts.get(tensor.kind, 0) + tensor.elements
    most = max(counts, key=lambda kind: counts[kind], default="")
    return NAMES.get(most, most.lower())


def _tensor(entry: Any) -> Tensor:
    shape = tuple(entry["shape"])
    start, end = entry["data_offsets"]
    whole = (*shape, start, end)
    if any(type(number) is not int or number < 0 for number in whole) or end < start or type(entry["dtype"]) is not str:
        raise ValueError
    return Tensor(entry["dtype"], shape, start, end)
