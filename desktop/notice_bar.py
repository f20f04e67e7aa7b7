"""One line over the composer: what went wrong with the history, or what was just done and how to undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from desktop.history.words import in_words
from desktop.icons import icon

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.history.trouble import Trouble
    from desktop.palette import Palette


class NoticeBar(QFrame):
    """Hidden while there is nothing to say. What is said stays until it is closed, undone or replaced."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.button = QPushButton(self)
        self.close_button = QToolButton(self)
        self.close_button.setAccessibleName(self.tr("Close the notice"))
        self.close_button.setToolTip(self.tr("Close the notice"))
        self._action: Callable[[], object] | None = None
        self.button.clicked.connect(self._on_button)
        self.close_button.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.setSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.apply_palette(palette)
        self.hide()

    def say(self, words: str, button: str = "", action: Callable[[], object] | None = None) -> None:
        """Say something; ``action`` is what the button does."""
        self._action = action
        self.words.setText(words)
        self.button.setText(button)
        self.button.setVisible(action is not None)
        self.show()

    def tell(self, trouble: Trouble | None) -> None:
        """Say what is wrong with the history, or no longer."""
        if trouble is None:
            self.hide()
        else:
            self.say(in_words(trouble))

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.close_button.setIcon(icon("x", palette.muted))

    def _on_button(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
