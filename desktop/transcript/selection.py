"""What the reader has selected: kept in place while text is added or laid out anew, and copied as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from desktop.transcript.formats import CONTINUES, SILENT
from desktop.transcript.objects import OBJECT, source_of

if TYPE_CHECKING:
    from PySide6.QtGui import QTextBlock, QTextDocument, QTextTable
    from PySide6.QtWidgets import QTextEdit

    from desktop.transcript.passage import Stretch

_AS_WRITTEN = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n", "\u200b": None})


class KeptSelection:
    """Both ends of the selection (or the caret), to be put back after an edit at the end of the document.

    An end inside what is still open of ``stretch`` is remembered by its place in the reply, others by their position.
    """

    def __init__(self, view: QTextEdit, stretch: Stretch | None) -> None:
        self._view = view
        self._stretch = stretch
        cursor = view.textCursor()
        self._ends = [(at, self._place(at)) for at in (cursor.anchor(), cursor.position())]

    def restore(self) -> None:
        """Put both ends back where they belong now."""
        anchor, position = (self._now(at, place) for at, place in self._ends)
        cursor = self._view.textCursor()
        if (cursor.anchor(), cursor.position()) == (anchor, position):
            return
        last = self._view.document().characterCount() - 1
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        self._view.setTextCursor(cursor)

    def _place(self, at: int) -> int | None:
        stretch = self._stretch
        if stretch is None or not stretch.open_blocks:
            return None
        return stretch.source_at(at) if stretch.start + stretch.open_blocks[0][1] < at <= stretch.end else None

    def _now(self, at: int, place: int | None) -> int:
        return at if place is None or self._stretch is None else self._stretch.position_of(place)


def text_between(document: QTextDocument, start: int, end: int, *, with_own_words: bool = False) -> str:
    """Text between two positions as it was written: with its no-break spaces and formulas, cells beside each other.

    The window's own words are left out, unless they are asked for.
    """
    parts: list[str] = []
    block = document.findBlock(start)
    before: QTextBlock | None = None
    while block.isValid() and block.position() < end:
        if with_own_words or not block.blockFormat().boolProperty(SILENT):
            if before is not None:
                parts.append(_between(document, before, block))
            cursor = QTextCursor(document)
            cursor.setPosition(max(start, block.position()))
            cursor.setPosition(min(end, block.position() + block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
            parts.append(_with_sources(block, cursor))
            before = block
        block = block.next()
    return "".join(parts).translate(_AS_WRITTEN)


def _between(document: QTextDocument, before: QTextBlock, block: QTextBlock) -> str:
    if block.blockFormat().boolProperty(CONTINUES):
        return ""
    one, other = QTextCursor(before).currentTable(), QTextCursor(block).currentTable()
    is_one_row = one is not None and one == other and _row(one, before) == _row(one, block)
    return "\t" if is_one_row else "\n"


def _row(table: QTextTable, block: QTextBlock) -> int:
    return table.cellAt(block.position()).row()


def _with_sources(block: QTextBlock, cursor: QTextCursor) -> str:
    """The selected text of one block, with what its painted characters stand for."""
    text = cursor.selectedText()
    if OBJECT not in text:
        return text
    sources = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        source = source_of(fragment.charFormat())
        if source:
            low, high = max(fragment.position(), cursor.selectionStart()), fragment.position() + fragment.length()
            sources += [source] * max(0, min(high, cursor.selectionEnd()) - low)
        iterator += 1
    parts = text.split(OBJECT)
    sources += [OBJECT] * (len(parts) - 1 - len(sources))
    return "".join(part + source for part, source in zip(parts, [*sources, ""], strict=False))
