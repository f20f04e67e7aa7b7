"""What a GGUF file says of itself: architecture, figures, kinds of its blocks, and whether it is whole.

Reads the header only, by the format's own description, and believes no file name. Standard library only.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.messages import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

VERSIONS = (2, 3)
ALIGNMENT = 32
MOST_ITEMS = 1 << 24
"""Entries, tensors or items of a list that a header may claim; no file has as many."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9

KINDS: Mapping[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17), 40: ("NVFP4", 64, 36),
}
"""Number of a kind of block: its name, the weights in a block, the bytes of a block (ggml.h)."""

UNREADABLE = frozenset({"Q8_1", "Q8_K"})
"""Known to the format, made for sums in between, and read by no converter."""

INSTEAD = "Q4_K_M or Q8_0"
"""What to try in place of a quantization that cannot be read."""

MOST_PARTS = 9999

PART = re.compile(r"(?P<stem>.+?)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
OTHER_PART = re.compile(r".+?[.-]part[-_]?\d+of\d+(?:\.gguf)?", re.IGNORECASE)
"""Pieces that a file was cut into by other programs; each is no file of its own."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: its kind's number, its shape in the file's order (fastest first), its bytes in the data."""

    kind: int
    shape: tuple[int, ...]
    offset: int

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How long it is in the file; 0 for a kind that is not known."""
        _, block, size = KINDS.get(self.kind, ("", 1, 0))
        return -(-self.elements // block) * size


@dataclass(frozen=True, slots=True)
class Header:
    """A file's figures and tensors. Of long lists ``values`` keeps the length only."""

    values: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    data: int
    """Where the tensors' bytes begin."""

    @property
    def architecture(self) -> str:
        """What the file calls its kind of model."""
        return str(self.values.get("general.architecture", ""))

    def figure(self, name: str) -> Any:
        """A value under the architecture's own prefix, None when there is none."""
        return self.values.get(f"{self.architecture}.{name}")

    @property
    def parameters(self) -> int:
        """Numbers in all tensors."""
        return sum(tensor.elements for tensor in self.tensors.values())

    @property
    def end(self) -> int:
        """How long the file must be at the least."""
        return self.data + max((tensor.offset + tensor.bytes for tensor in self.tensors.values()), default=0)

    @property
    def kind(self) -> str:
        """The kind of block that most numbers lie in."""
        counts: dict[int, int] = {}
        for tensor in self.tensors.values():
            counts[tensor.kind] = counts.get(tensor.kind, 0) + tensor.elements
        return name_of(max(counts, key=lambda kind: counts[kind])) if counts else ""


def name_of(kind: int) -> str:
    """What a kind of block is called."""
    return KINDS[kind][0] if kind in KINDS else f"type {kind}"


def read(path: Path) -> Header:
    """The header of a GGUF file. Raises Problem when it is none, is cut off, or contradicts itself."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            header = _Reader(memory).header()
        size = path.stat().st_size
    except OSError as error:
        raise Problem("error.file", file=str(path), detail=error.strerror or str(error)) from error
    except (ValueError, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise Problem("error.gguf_damaged", model=path.name, detail="its header cannot be read") from error
    unknown = [tensor.kind for tensor in header.tensors.values() if tensor.kind not in KINDS]
    if not unknown and size < header.end:
        detail = f"it ends after {size / 1e6:.0f} of {header.end / 1e6:.0f} MB"
        raise Problem("error.gguf_damaged", model=path.name, detail=detail)
    return header


def unreadable(header: Header) -> tuple[str, ...]:
    """The kinds of block in the file that cannot be turned into numbers, whatever the file's name says."""
    kinds = {tensor.kind for tensor in header.tensors.values()}
    return tuple(sorted(name_of(kind) for kind in kinds if kind not in KINDS or name_of(kind) in UNREADABLE))


def parts(path: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """All files of the set that ``path`` belongs to, first part first, and the names of those that are missing.

    A file that is no part of a set is a set of one.
    """
    names = names_of_set(path.name)
    if len(names) == 1:
        return (path,), ()
    beside = {entry.name.lower(): entry for entry in path.parent.iterdir()}
    found = [beside[name.lower()] for name in names if name.lower() in beside]
    return tuple(found), tuple(name for name in names if name.lower() not in beside)


def names_of_set(name: str) -> list[str]:
    """The names of all files of the set that a file of this name belongs to; its own where it belongs to none."""
    match = PART.fullmatch(name)
    count = min(int(match["count"]), MOST_PARTS) if match else 1
    if match is None or count < 2:
        return [name]
    return [f"{match['stem']}-{number:05d}-of-{match['count']}.gguf" for number in range(1, count + 1)]


def listed(missing: Sequence[str]) -> str:
    """Names of missing parts for a sentence: the first few, and that there are more."""
    return ", ".join([*missing[:3], *(["…"] if len(missing) > 3 else [])])


class _Reader:
    """Goes once through a header."""

    def __init__(self, memory: mmap.mmap) -> None:
        self.memory = memory
        self.at = 0

    def header(self) -> Header:
        if self.memory[:4] != b"GGUF":
            raise ValueError("no GGUF")
        self.at = 4
        if self.number("I") not in VERSIONS:
            raise ValueError("version")
        tensors, entries = self.count(), self.count()
        values: dict[str, Any] = {}
        for _ in range(entries):
            key = self.text()
            values[key] = self.value(self.number("I"))
        found: dict[str, Tensor] = {}
        for _ in range(tensors):
            name = self.text()
            dimensions = self.number("I")
            if dimensions > 8:
                raise ValueError("dimensions")
            shape = tuple(self.number("Q") for _ in range(dimensions))
            if name in found:
                raise ValueError("a tensor twice")
            found[name] = Tensor(self.number("I"), shape, self.number("Q"))
        alignment = values.get("general.alignment", ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1:
            raise ValueError("alignment")
        return Header(values, found, -(-self.at // alignment) * alignment)

    def number(self, kind: str) -> Any:
        size = struct.calcsize("<" + kind)
        (number,) = struct.unpack_from("<" + kind, self.memory, self.at)
        self.at += size
        return number

    def count(self) -> int:
        count: int = self.number("Q")
        if count > MOST_ITEMS:
            raise ValueError("count")
        return count

    def text(self) -> str:
        length: int = self.number("Q")
        if length > len(self.memory) - self.at:
            raise ValueError("text")
        self.at += length
        return self.memory[self.at - length : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _LIST:
            raise ValueError("kind of value")
        kind, count = self.number("I"), self.count()
        if kind in _NUMBERS and count <= 1024:
            return [self.number(_NUMBERS[kind]) for _ in range(count)]
        if kind in _NUMBERS:
            self.at += count * struct.calcsize("<" + _NUMBERS[kind])
        elif kind == _TEXT:
            for _ in range(count):
                length = self.number("Q")
                self.at += length
        else:
            raise ValueError("a list of lists")
        if self.at > len(self.memory):
            raise ValueError("list")
        return count
