"""Colours the words of code by a process beside the window, some time after they were written. Writes no text.

Telling 5,000 lines of code apart takes half a second of plain Python: on the window's thread it would hold up frames.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextCursor

from desktop.transcript.beside import Beside
from desktop.transcript.lexing import ROLES

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCharFormat, QTextDocument

    from desktop.transcript.passage import Stretch
    from desktop.transcript.uncoloured import Uncoloured

SOON_MS = 25
"""Answers that came within so long are painted together."""
Answer = tuple[list[int], list[str], bool]
Awaited = tuple["Stretch", "Uncoloured", tuple[str, str]]


class Colouring(QObject):
    """Words of ``document``, a stretch at a time; ``is_going_on`` while colours are awaited."""

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._awaited: deque[Awaited] = deque()
        self._answered: list[tuple[Awaited, Answer]] = []
        self._painting = QTimer(self)
        self._painting.setSingleShot(True)
        self._painting.setInterval(SOON_MS)
        self._painting.timeout.connect(self.paint)
        self._beside = Beside("desktop.transcript.lexing", parent)
        self._beside.answered.connect(self._on_answered)

    @property
    def is_going_on(self) -> bool:
        """Whether colours are still awaited."""
        return self._beside.is_busy or bool(self._answered)

    def colour(self, stretch: Stretch) -> None:
        """There may be code in ``stretch`` that has no colours yet."""
        for code in stretch.codes:
            self._ask(stretch, code)

    def forget(self) -> None:
        """The document is empty."""
        for stretch, _, _ in [*self._awaited, *(awaited for awaited, _ in self._answered)]:
            stretch.forget(0)

    def _ask(self, stretch: Stretch, code: Uncoloured) -> None:
        asked = code.ask()
        if asked is not None:
            self._awaited.append((stretch, code, asked))
            self._beside.ask((code.language, code.states, *asked))

    def _on_answered(self, answer: Answer | None) -> None:
        self._answered.append((self._awaited.popleft(), answer if answer is not None else ([], [], True)))
        if not self._painting.isActive():
            self._painting.start()

    def paint(self) -> None:
        """Give the words that are known their colours, in one edit."""
        self._painting.stop()
        answered, self._answered = self._answered, []
        if not answered:
            return
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        for (stretch, code, asked), (words, states, is_known) in answered:
            if code.asked is asked:
                self._paint(cursor, stretch.start + code.pieces[0][0], code, words)
                code.take(tuple(states))
            if not is_known:
                stretch.drop_code(code)
            elif not code.is_gone:
                self._ask(stretch, code)
        cursor.endEditBlock()

    def _paint(self, cursor: QTextCursor, start: int, code: Uncoloured, words: list[int]) -> None:
        looks: list[QTextCharFormat] = [code.formats.word(role) for role in ROLES]
        if code.coloured:
            self._merge(cursor, start, code.coloured, looks[0])
        for at in range(0, len(words), 3):
            self._merge(cursor, start + words[at], words[at + 1], looks[words[at + 2]])

    def _merge(self, cursor: QTextCursor, start: int, length: int, look: QTextCharFormat) -> None:
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)
