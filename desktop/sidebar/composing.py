"""A line of text that knows whether an input method is at work in it: then Enter is the input method's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QInputMethodEvent


class ComposingLine(QLineEdit):
    """``is_composing`` while there is text that is not committed yet."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.is_composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self.is_composing = bool(event.preeditString())
