"""What the reader has selected: kept in place while text is added or laid out anew, and copied as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from desktop.transcript.formats import CONTINUES

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument
    from PySide6.QtWidgets import QTextEdit

    from desktop.transcript.passage import Passage

_AS_WRITTEN = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n", "\u200b": None})


class KeptSelection:
    """Both ends of the selection (or the caret), to be put back after an edit.

    An end inside the unsettled tail of ``passage`` is remembered by its place in the reply, any other by its position.
    """

    def __init__(self, view: QTextEdit, passage: Passage | None) -> None:
        self._view = view
        self._passage = passage
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
        passage = self._passage
        return passage.source_at(at) if passage is not None and passage.shown and at > passage.tail else None

    def _now(self, at: int, place: int | None) -> int:
        return at if place is None or self._passage is None else self._passage.position_of(place)


def text_between(document: QTextDocument, start: int, end: int) -> str:
    """Text between two positions with the spaces it was written with; Qt's own way makes no-break spaces plain."""
    parts: list[str] = []
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        if parts:
            parts.append(" " if block.blockFormat().boolProperty(CONTINUES) else "\n")
        cursor = QTextCursor(document)
        cursor.setPosition(max(start, block.position()))
        cursor.setPosition(min(end, block.position() + block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
        parts.append(cursor.selectedText())
        block = block.next()
    return "".join(parts).translate(_AS_WRITTEN)
