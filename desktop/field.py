"""The field a message is written in: as high as its text, with each paragraph in its own direction.

It sends on Enter but never in the middle of input method composition; files and long texts it hands on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from desktop.plain_text import cleaned

if TYPE_CHECKING:
    from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QResizeEvent

MOST_LINES = 8
LONGEST_TEXT = 50_000
LONGEST_LINE = 8_000
"""More than this, or a line longer than that, takes too long to lay out with every key."""


def is_long(text: str) -> bool:
    """Whether a text is too long for the field."""
    return len(text) > LONGEST_TEXT or any(len(line) > LONGEST_LINE for line in text.split("\n"))


class Field(QTextEdit):
    """``sent`` comes with Enter, ``earlier`` and ``later`` with the arrow keys at the edges of the text.

    ``files_given`` carries paths, ``long_given`` a text too long for the field; ``picture_given`` says that somebody
    tried to paste a picture.
    """

    sent = Signal()
    earlier = Signal()
    later = Signal()
    files_given = Signal(object)
    long_given = Signal(str)
    picture_given = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(4)
        self.is_composing = False
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._grow()

    def text(self) -> str:
        """What is written, safe to send, with its no-break spaces."""
        return cleaned(self.document().toRawText())

    def put(self, text: str, *, at_end: bool = True) -> None:
        """Replace what is written."""
        self.setPlainText(text)
        edge = QTextCursor.MoveOperation.End if at_end else QTextCursor.MoveOperation.Start
        self.moveCursor(edge)

    # Qt

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self.is_composing = bool(event.preeditString())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._is_at_edge(event):
            if key == Qt.Key.Key_Down:
                self.later.emit()
            elif self.textCursor().atStart():
                self.earlier.emit()
            else:
                self.moveCursor(QTextCursor.MoveOperation.Start)
        elif key not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self.is_composing:
            event.accept()  # the input method's own Enter: it neither sends nor breaks the line
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            self.sent.emit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() or source.hasUrls() or source.hasImage()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files are handed on, rich text loses its looks, a text too long for the field is handed on, too."""
        if paths := files_in(source):
            self.files_given.emit(paths)
        elif source.hasText():
            text = cleaned(source.text().replace("\r\n", "\n").replace("\r", "\n"))
            if is_long(text) or len(text) + self.document().characterCount() > LONGEST_TEXT:
                self.long_given.emit(text)
            else:
                self.insertPlainText(text)
                self.ensureCursorVisible()
        elif source.hasImage():
            self.picture_given.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._grow()

    # Within

    def _is_at_edge(self, event: QKeyEvent) -> bool:
        """Whether the arrow has nowhere to go within the text."""
        if self.is_composing or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        cursor = self.textCursor()
        if cursor.hasSelection():
            return False
        move = QTextCursor.MoveOperation
        return not cursor.movePosition(move.Up if event.key() == Qt.Key.Key_Up else move.Down)

    def _grow(self, *_: object) -> None:
        margins = 2 * int(self.document().documentMargin())
        line = self.fontMetrics().lineSpacing()
        whole = self.document().size().height() - margins
        most = MOST_LINES * line
        height = round(max(line, min(most, whole))) + margins + 2
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if whole > most + 1 else policy.ScrollBarAlwaysOff)
        if height != self.height():
            self.setFixedHeight(height)


def files_in(source: QMimeData) -> list[Path]:
    """The files that are pasted or dropped; none where it is text or addresses of elsewhere."""
    urls = source.urls() if source.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls] if urls and all(url.isLocalFile() for url in urls) else []
