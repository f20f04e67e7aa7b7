"""The write-ahead log of a database: whether a byte in it was changed, and how SQLite is made to read it to its end.

SQLite takes the first frame with a wrong checksum for the end of the log, and what was written behind it for never
written. Follows https://www.sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER, FRAME = 32, 24
LITTLE, BIG = 0x377F0682, 0x377F0683
VERSION = 3_007_000
_PAIR = struct.Struct(">II")


class Frame(NamedTuple):
    """One page as it was written. ``is_whole`` says that its checksum fits it and the frame before."""

    at: int
    is_whole: bool
    is_commit: bool


def is_torn(log: bytes) -> bool:
    """Whether something that was written to its end stands behind something that was changed later."""
    if len(log) < HEADER:
        return False
    frames = list(_frames(log))
    first = (
        0 if not _is_header_whole(log) else next((n for n, one in enumerate(frames) if not one.is_whole), len(frames))
    )
    return any(one.is_whole and one.is_commit for one in frames[first:])


def mended(log: bytes) -> bytes:
    """The log with checksums that fit what is in it, up to the last frame that was written to its end."""
    frames = list(_frames(log))
    ends = [number for number, one in enumerate(frames) if one.is_whole and one.is_commit]
    if not ends:
        return log
    size, salts = _size(log), _salts(log)
    order = ">" if log[:4] == BIG.to_bytes(4, "big") else "<"
    magic = BIG if order == ">" else LITTLE
    head = struct.pack(">III", magic, VERSION, size) + log[12:16] + salts
    sums = _sum(head, (0, 0), order)
    parts = [head, _PAIR.pack(*sums)]
    for one in frames[: ends[-1] + 1]:
        place, page = log[one.at : one.at + 8], log[one.at + FRAME : one.at + FRAME + size]
        sums = _sum(place + page, sums, order)
        parts += [place, salts, _PAIR.pack(*sums), page]
    return b"".join(parts)


def _frames(log: bytes) -> Iterator[Frame]:
    """Those of this log, in order; what is left of an earlier one has other salts."""
    size, salts = _size(log), _salts(log)
    order = ">" if log[:4] == BIG.to_bytes(4, "big") else "<"
    before = _PAIR.unpack(log[24:32])
    for at in range(HEADER, len(log) - FRAME - size + 1, FRAME + size):
        own = log[at + 8 : at + 16]
        if own[:4] != salts[:4] and own[4:] != salts[4:]:
            return
        given = _PAIR.unpack(log[at + 16 : at + 24])
        is_whole = own == salts and given == _sum(log[at : at + 8] + log[at + FRAME : at + FRAME + size], before, order)
        yield Frame(at, is_whole, log[at + 4 : at + 8] != bytes(4))
        before = given


def _size(log: bytes) -> int:
    size = int.from_bytes(log[8:12], "big")
    return size if size & (size - 1) == 0 and 512 <= size <= 65536 else 4096


def _salts(log: bytes) -> bytes:
    """Those of the header; where it says otherwise than the frames in one of the two, those of the frames.

    An earlier log that was begun anew has frames in which both are others.
    """
    salts, at = log[16:24], HEADER + 8
    own, next_own = log[at : at + 8], log[at + FRAME + _size(log) : at + FRAME + _size(log) + 8]
    is_near = own[:4] == salts[:4] or own[4:] == salts[4:]
    return own if is_near and own == next_own else salts


def _is_header_whole(log: bytes) -> bool:
    order = ">" if log[:4] == BIG.to_bytes(4, "big") else "<"
    is_known = int.from_bytes(log[:4], "big") in (LITTLE, BIG) and int.from_bytes(log[4:8], "big") == VERSION
    return is_known and _PAIR.unpack(log[24:32]) == _sum(log[:24], (0, 0), order)


def _sum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    one, other = sums
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
