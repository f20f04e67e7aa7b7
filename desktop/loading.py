"""How far loading is, in words and a bar; and when it failed, why and what to do. Knows nothing of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from desktop.sentences import sentence

if TYPE_CHECKING:
    from inference.events import LoadFailed, LoadProgress

STEPS = 1000


class Loading(QFrame):
    """Hidden unless a model is being loaded or could not be."""

    retry_wanted = Signal()
    folder_wanted = Signal()
    models_wanted = Signal()
    starter_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("loading")
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Loading"))
        self.retry = QPushButton(self.tr("Try again"), self)
        self.folder = QPushButton(self.tr("Choose a folder"), self)
        self.retry.clicked.connect(self.retry_wanted)
        self.folder.clicked.connect(self.folder_wanted)
        self.starter = QPushButton(self.tr("Load the starter model"), self)
        self.starter.clicked.connect(self.starter_wanted)
        self._can_go_to_starter = False
        self.models = QPushButton(self.tr("Choose a model"), self)
        self.models.clicked.connect(self.models_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.starter)
        buttons.addWidget(self.retry)
        buttons.addWidget(self.models)
        buttons.addWidget(self.folder)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.bar)
        column.addLayout(buttons)
        self.hide()

    def show_waiting(self, *, is_starter: bool) -> None:
        """Loading was asked for; nothing is known yet. The starter is offered where another model fails."""
        self._can_go_to_starter = not is_starter
        self._show(self.tr("Starting"), None, failed=False)

    def show_progress(self, event: LoadProgress) -> None:
        """Words and how far."""
        self._show(sentence(event.notice), event.fraction, failed=False)

    def show_failure(self, event: LoadFailed) -> None:
        """Why, and the ways on."""
        self._show(sentence(event.notice), None, failed=True)

    def _show(self, words: str, fraction: float | None, *, failed: bool) -> None:
        self.words.setText(words)
        self.words.setProperty("failed", failed)
        self.words.style().unpolish(self.words)
        self.words.style().polish(self.words)
        self.bar.setVisible(not failed)
        if fraction is None:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, STEPS)
            self.bar.setValue(round(STEPS * max(0.0, min(1.0, fraction))))
        self.retry.setVisible(failed)
        self.starter.setVisible(failed and self._can_go_to_starter)
        self.folder.setVisible(failed)
        self.models.setVisible(failed)
        self.show()
