"""Lays a growing text out, stretch by stretch: what is complete for good, what is still open anew where it changed.

Knows the document through a cursor only, and no reply's figures or actions.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from desktop.transcript.markdown import parse
from desktop.transcript.writing import write_blocks, write_more_code

if TYPE_CHECKING:
    from desktop.transcript.blocks import Block
    from desktop.transcript.formats import Formats
    from desktop.transcript.passage import Stretch

_UNDECIDED = re.compile(
    r"(?:[*_~`$\\]+"
    r"|\n[ \t]*(?:[-+*=#>|: \t`~]+|\d{1,9}[.)]?\s*|(?:```|~~~)[^\n]*)"
    r"|!?\[[^\]\n]{0,80})\Z"
)
"""What stands at the end of a growing text and may yet turn out to be a mark."""
_HEAD = re.compile(r"\n?[ ]{0,3}\|[^\n]*(?:\n[^\n]*)?\Z")
_STARS = re.compile(r"(?<!\\)(\*\*|\*)(?:(?=\S)|(?<=[^\s*]\*)|(?<=[^\s*]\*\*))")
_TICK = re.compile(r"(?<![\\`])`(?!`)")


def lay_out(
    cursor: QTextCursor, stretch: Stretch, text: str, end: int, formats: Formats, number: int, *, is_over: bool
) -> None:
    """Bring ``stretch`` up to ``text[:end]``; the cursor must be in its last block. ``is_over``: no more will come.

    Blocks that are there already stay untouched. ``number`` is that of the reply.
    """
    cuts = stretch.cutter.advance(text, end)
    if end == stretch.shown and not cuts and not is_over:
        return
    settled, state = stretch.settled, stretch.state
    blocks: list[Block] = []
    for cut in cuts:
        piece = parse(text, settled, cut.at, state, behind=cut)
        state = piece[-1].state if piece and cut.lead else ()
        settled = cut
        blocks += piece
    first_open = len(blocks)
    if is_over:
        blocks += parse(text, settled, end, state)
    else:
        far, closing = as_far_as_decided(text, settled.at, end, is_code=stretch.cutter.is_in_code)
        blocks += parse(text[:far] + closing if closing or far < end else text, settled, far + len(closing), state)
    kept = _kept(stretch.open_blocks, blocks)
    placed = stretch.open_blocks[:kept]
    if kept < len(stretch.open_blocks):
        old, position = stretch.open_blocks[kept]
        added = _added(old, blocks[kept]) if kept + 1 == len(stretch.open_blocks) and kept < len(blocks) else None
        if added is None:
            _remove(cursor, stretch, position)
        else:
            write_more_code(cursor, old, added, formats, stretch)
            placed.append((blocks[kept], position))
            kept += 1
    placed += write_blocks(cursor, blocks[kept:], formats, stretch, number)
    stretch.open_blocks = placed[first_open:]
    stretch.settled, stretch.state = settled, state
    stretch.shown = end
    stretch.end = cursor.block().position() + cursor.block().length() - 1


def as_far_as_decided(text: str, start: int, end: int, *, is_code: bool) -> tuple[int, str]:
    """Up to where a growing text can be shown, and marks that close what it left open there.

    So that a star or a dash that has just come does not show before it is known what it means.
    """
    piece = text[start:end]
    if is_code:
        return start + len(_without_fence(piece.rstrip())), ""
    last = piece.rpartition("\n\n")[2]
    head = _HEAD.fullmatch(last) or _HEAD.fullmatch("\n" + last)
    if head and last.count("\n") < 2 and last.lstrip().startswith("|"):
        return end - len(last), ""
    undecided = _UNDECIDED.search("\n" + piece if not piece.startswith("\n") else piece)
    far = end - len(undecided[0]) if undecided else end
    far = max(far, start)
    line = text[max(start, text.rfind("\n\n", start, far)) : far]
    if len(_TICK.findall(line)) % 2:
        return far, "`"
    return far, _open_stars(line)


def _without_fence(code: str) -> str:
    """Code without a last line that may become the one that ends it."""
    before, _, line = code.rpartition("\n")
    mark = line.lstrip(" \t>")
    return before.rstrip() if before and mark and not (mark.strip("`") and mark.strip("~")) else code


def _open_stars(line: str) -> str:
    """What closes the emphasis that is open at the end of the line."""
    opened: list[str] = []
    for found in _STARS.finditer(line):
        mark = found[1]
        if opened and opened[-1] == mark:
            opened.pop()
        elif line[found.end() : found.end() + 1].strip():
            opened.append(mark)
    return "".join(reversed(opened)) if len(opened) < 3 else ""


def _kept(old: list[tuple[Block, int]], new: list[Block]) -> int:
    """How many blocks at the beginning are the same."""
    kept = 0
    for (block, _), other in zip(old, new, strict=False):
        if block != other:
            break
        kept += 1
    return kept


def _added(old: Block, new: Block) -> Block | None:
    """The code to be put behind ``old`` to make ``new`` of it; None where it must be written anew."""
    count = len(old.runs)
    if old.kind != "code" or not count or len(new.runs) < count or old.is_cut:
        return None
    if (
        replace(old, runs=new.runs, is_last=new.is_last, is_cut=new.is_cut) != new
        or old.runs[:-1] != new.runs[: count - 1]
    ):
        return None
    before, after = old.runs[-1], new.runs[count - 1]
    if replace(before, text=after.text) != after or not after.text.startswith(before.text):
        return None
    more = after.text[len(before.text) :]
    source = after.source + len(before.text) if after.source >= 0 else -1
    runs = (replace(after, text=more, source=source), *new.runs[count:]) if more else new.runs[count:]
    return replace(new, runs=runs)


def _remove(cursor: QTextCursor, stretch: Stretch, position: int) -> None:
    """Take away what stands from a position of the stretch to its end; the cursor is then in an empty block."""
    cursor.setPosition(stretch.start + position)
    cursor.setPosition(stretch.end, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
    stretch.forget(position)
