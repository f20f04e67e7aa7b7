"""What is marked on the page: the origin of every token, the tokens of one round, what was found. Writes no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit

from desktop.transcript.colours import OriginColours

if TYPE_CHECKING:
    from desktop.reply import Reply
    from desktop.transcript.find import FindBar
    from desktop.transcript.formats import Formats
    from desktop.transcript.sheet import Sheet


class Marks:
    """Marks on the text of ``view``, whose replies ``sheet`` knows."""

    def __init__(self, view: QTextEdit, sheet: Sheet, find_bar: FindBar, formats: Formats) -> None:
        self._view = view
        self._sheet = sheet
        self._find_bar = find_bar
        self._formats = formats
        self.colours = OriginColours(view, formats, sheet.passage_at)
        self.is_coloured = False
        self._lit: tuple[Reply, int] | None = None

    def apply_formats(self, formats: Formats) -> None:
        """Other colours, from the next mark on."""
        self._formats = self.colours.formats = formats

    def colour(self, is_coloured: bool) -> None:
        """Show or hide the origin of every token."""
        if is_coloured != self.is_coloured:
            self.is_coloured = is_coloured
            self.colours.setDocument(self._view.document() if is_coloured else None)

    def light(self, reply: Reply | None, index: int) -> None:
        """Light the tokens of one round, or none."""
        lit = None if reply is None else (reply, index)
        if lit != self._lit:
            self._lit = lit
            self.show()

    def forget(self) -> None:
        """Nothing is lit any more; the page is written anew."""
        self._lit = None

    def lit_text(self) -> str:
        """The text that is lit now."""
        return "".join(mark.cursor.selectedText() for mark in self._lit_marks())

    def show(self) -> None:
        """Bring the marks to where their text stands now."""
        self._view.setExtraSelections(self._find_bar.marks(self._formats) + self._lit_marks())

    def _lit_marks(self) -> list[QTextEdit.ExtraSelection]:
        if self._lit is None:
            return []
        reply, index = self._lit
        passage = self._sheet.passage_of(reply)
        marks = []
        for span in reply.spans_of_round(index) if passage else ():
            for start, end in passage.ranges(span.start, span.end) if passage else ():
                look = self._formats.origin(span.origin, on_user=True) or self._formats.body()
                look.setBackground(self._formats.lit)
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = QTextCursor(self._view.document()), look
                mark.cursor.setPosition(start)
                mark.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                marks.append(mark)
        return marks
