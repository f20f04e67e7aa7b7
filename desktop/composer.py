"""Where a message is written: grows with its text, sends on Enter, never in the middle of input method composition.

It knows neither the chat nor the engine; it says what was submitted and that a stop is wanted.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop.plain_text import cleaned

if TYPE_CHECKING:
    from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QResizeEvent

MOST_LINES = 8


class Readiness(Enum):
    """What the button does."""

    WAITING = "waiting"
    READY = "ready"
    WRITING = "writing"
    STOPPING = "stopping"


class Composer(QFrame):
    """The text field and its one button, which is Send or Stop.

    While a question is asked otherwise, `editing_ended` says that it was given up.
    """

    submitted = Signal(str)
    stop_wanted = Signal()
    editing_ended = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.field = _Field(self)
        self.field.setPlaceholderText(self.tr("Message"))
        self.field.setAccessibleName(self.tr("Message"))
        self.button = QPushButton(self)
        self.button.setObjectName("send")
        self.button.setMinimumWidth(84)
        self.editing = QFrame(self)
        words = QLabel(self.tr("Asking otherwise; the other version stays."), self.editing)
        words.setObjectName("quiet")
        words.setWordWrap(True)
        self.give_up = QPushButton(self.tr("Cancel"), self.editing)
        self.give_up.clicked.connect(self.end_editing)
        about = QHBoxLayout(self.editing)
        about.setContentsMargins(4, 0, 0, 0)
        about.addWidget(words, 1)
        about.addWidget(self.give_up)
        self.editing.hide()
        self._draft = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        column.addWidget(self.editing)
        column.addLayout(row)
        row.addWidget(self.field, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self._readiness = Readiness.WAITING
        self.field.sent.connect(self.submit)
        self.field.textChanged.connect(self._update_button)
        self.button.clicked.connect(self._on_clicked)
        self.setFocusProxy(self.field)
        self.show_readiness(Readiness.WAITING)

    def text(self) -> str:
        """What is written, safe to send, with its no-break spaces."""
        return cleaned(self.field.document().toRawText())

    def put(self, text: str) -> None:
        """Replace what is written."""
        self.field.setPlainText(text)
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)

    @property
    def is_editing(self) -> bool:
        """Whether a question is asked otherwise."""
        return not self.editing.isHidden()

    def begin_editing(self, text: str) -> None:
        """Let a question be asked otherwise; what was being written comes back afterwards."""
        if not self.is_editing:
            self._draft = self.text()
        self.editing.show()
        self.put(text)
        self.field.setFocus()

    def end_editing(self) -> None:
        """Leave the question as it is."""
        if self.is_editing:
            self.editing.hide()
            self.put(self._draft)
            self.editing_ended.emit()

    def show_readiness(self, readiness: Readiness) -> None:
        """Send, Stop, or why neither can be pressed."""
        self._readiness = readiness
        writing = readiness in (Readiness.WRITING, Readiness.STOPPING)
        labels = {Readiness.WRITING: self.tr("Stop"), Readiness.STOPPING: self.tr("Stopping")}
        hints = {
            Readiness.WAITING: self.tr("The model is not ready yet; you can already write."),
            Readiness.READY: self.tr("Send the message (Enter)"),
            Readiness.WRITING: self.tr("Stop writing (Esc)"),
            Readiness.STOPPING: self.tr("The reply is being ended"),
        }
        self.button.setText(labels.get(readiness, self.tr("Send")))
        self.button.setToolTip(hints[readiness])
        self.button.setAccessibleDescription(hints[readiness])
        self.button.setProperty("writing", writing)
        self.button.style().unpolish(self.button)
        self.button.style().polish(self.button)
        self._update_button()

    def submit(self) -> None:
        """Send what is written, if it can be sent now."""
        text = self.text()
        if self._readiness is Readiness.READY and text.strip() and not self.field.is_composing:
            was_editing = self.is_editing
            self.field.clear()
            self.editing.hide()
            self.submitted.emit(text)
            if was_editing:
                self.put(self._draft)

    def _update_button(self) -> None:
        ready = self._readiness is Readiness.READY and not self.field.document().isEmpty()
        self.button.setEnabled(ready or self._readiness is Readiness.WRITING)

    def _on_clicked(self) -> None:
        if self._readiness is Readiness.WRITING:
            self.stop_wanted.emit()
        else:
            self.submit()


class _Field(QPlainTextEdit):
    """A text field as high as its text."""

    sent = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(4)
        self.is_composing = False
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._grow()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self.is_composing = bool(event.preeditString())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self.is_composing:
            event.accept()  # the input method's own Enter: it neither sends nor breaks the line
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            self.sent.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._grow()

    def _grow(self, *_: object) -> None:
        lines = self.document().documentLayout().documentSize().height()  # QPlainTextEdit counts lines, not pixels
        shown = max(1, min(MOST_LINES, round(lines)))
        height = shown * self.fontMetrics().lineSpacing() + 2 * int(self.document().documentMargin()) + 2
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if lines > MOST_LINES else policy.ScrollBarAlwaysOff)
        if height != self.height():
            self.setFixedHeight(height)
