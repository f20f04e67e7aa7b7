"""Colours the words of code by a process beside the window, some time after they were written. Writes no text.

Telling 5,000 lines of code apart takes half a second of plain Python: on the window's thread it would hold up frames.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor

from desktop.transcript.beside import Beside
from desktop.transcript.lexing import ROLES

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCharFormat, QTextDocument

    from desktop.transcript.passage import Stretch
    from desktop.transcript.uncoloured import Uncoloured

Answer = tuple[list[int], list[str], bool]
Awaited = tuple["Stretch", "Uncoloured", tuple[str, str]]


class Colouring(QObject):
    """Words of ``document``, a stretch at a time; ``is_going_on`` while colours are awaited."""

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._awaited: deque[Awaited] = deque()
        self._beside = Beside("desktop.transcript.lexing", parent)
        self._beside.answered.connect(self._on_answered)

    @property
    def is_going_on(self) -> bool:
        """Whether colours are still awaited."""
        return self._beside.is_busy

    def colour(self, stretch: Stretch) -> None:
        """There may be code in ``stretch`` that has no colours yet."""
        for code in stretch.codes:
            self._ask(stretch, code)

    def forget(self) -> None:
        """The document is empty."""
        for stretch, _, _ in self._awaited:
            stretch.forget(0)

    def _ask(self, stretch: Stretch, code: Uncoloured) -> None:
        asked = code.ask()
        if asked is not None:
            self._awaited.append((stretch, code, asked))
            self._beside.ask((code.language, code.states, *asked))

    def _on_answered(self, answer: Answer | None) -> None:
        stretch, code, asked = self._awaited.popleft()
        if code.asked is not asked:
            if not code.is_gone:
                self._ask(stretch, code)
            return
        words, states, is_known = answer if answer is not None else ([], [], True)
        self._paint(stretch.start + code.pieces[0][0], code, words)
        code.take(tuple(states))
        if is_known:
            self._ask(stretch, code)
        else:
            stretch.drop_code(code)

    def _paint(self, start: int, code: Uncoloured, words: list[int]) -> None:
        looks: list[QTextCharFormat] = [code.formats.word(role) for role in ROLES]
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if code.coloured:
            self._merge(cursor, start, code.coloured, looks[0])
        for at in range(0, len(words), 3):
            self._merge(cursor, start + words[at], words[at + 1], looks[words[at + 2]])
        cursor.endEditBlock()

    def _merge(self, cursor: QTextCursor, start: int, length: int, look: QTextCharFormat) -> None:
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)
