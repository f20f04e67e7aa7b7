"""Rows read from the pages of a SQLite file itself, for a file that SQLite no longer reads.

Follows https://www.sqlite.org/fileformat2.html (b-tree leaves, records, overflow, write-ahead log). It takes every page
for a leaf and gives whatever decodes; telling rows of one table from others is left to who asks.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Value = int | float | str | bytes | None
USUAL_SIZE = 4096
_WHOLE_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows(path: Path, wal: Path) -> Iterator[tuple[int, list[Value]]]:
    """(row id, values) of every row that can be made out; the row id stands where the record has none."""
    data = path.read_bytes()
    size = _page_size(data)
    pages = {number + 1: data[at : at + size] for number, at in enumerate(range(0, len(data), size))}
    if wal.exists():
        pages.update(_frames(wal.read_bytes(), size))
    for number, page in pages.items():
        yield from _leaf(page.ljust(size, b"\0"), 100 if number == 1 else 0, pages, size)


def _page_size(data: bytes) -> int:
    size = int.from_bytes(data[16:18], "big") if len(data) > 18 else 0
    size = 65536 if size == 1 else size
    fits = size >= 512 and size & (size - 1) == 0 and len(data) % size == 0
    return size if fits else USUAL_SIZE


def _frames(log: bytes, size: int) -> dict[int, bytes]:
    """The newest page of each number that was committed to the write-ahead log."""
    committed: dict[int, bytes] = {}
    open_ones: dict[int, bytes] = {}
    salts = log[16:24]
    for at in range(32, len(log) - size - 23, size + 24):
        number, total = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salts or number == 0:
            break
        open_ones[number] = log[at + 24 : at + 24 + size]
        if total:
            committed.update(open_ones)
            open_ones = {}
    return committed


def _leaf(page: bytes, start: int, pages: dict[int, bytes], size: int) -> Iterator[tuple[int, list[Value]]]:
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for index in range(min(count, (size - start - 8) // 2)):
        place = start + 8 + 2 * index
        cell = int.from_bytes(page[place : place + 2], "big")
        try:
            length, at = _varint(page, cell)
            row, at = _varint(page, at)
            yield _signed(row), _values(_payload(page, at, length, pages, size), _signed(row))
        except (IndexError, ValueError, KeyError, struct.error):
            continue


def _payload(page: bytes, at: int, length: int, pages: dict[int, bytes], size: int) -> bytes:
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        if at + length > size:
            raise ValueError("beyond the page")
        return page[at : at + length]
    if length > len(pages) * size:
        raise ValueError("longer than the file")
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts = [page[at : at + local]]
    missing = length - local
    following = int.from_bytes(page[at + local : at + local + 4], "big")
    while missing > 0:
        more = pages[following]
        parts.append(more[4 : 4 + min(missing, size - 4)])
        missing -= size - 4
        following = int.from_bytes(more[:4], "big")
    return b"".join(parts)


def _values(payload: bytes, row: int) -> list[Value]:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end or not kinds:
        raise ValueError("no header")
    found: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        found.append(value)
    if at != len(payload):
        raise ValueError("another length")
    if found[0] is None:
        found[0] = row
    return found


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[(0, 8, 9).index(kind)], at
    if kind in _WHOLE_BYTES:
        end = at + _WHOLE_BYTES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack(">d", payload[at : at + 8])[0], at + 8
    if kind < 12:
        raise ValueError("a kind that is never written")
    end = at + (kind - 12) // 2
    if end > len(payload):
        raise ValueError("beyond the record")
    raw = payload[at:end]
    return (raw.decode("utf-8", "replace") if kind % 2 else raw), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(9):
        byte = data[at + index]
        if index == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError("no number")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
