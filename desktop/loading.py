"""How far loading is, in words and a bar; and when it failed, why and what to do. Knows nothing of the engine."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from desktop.sentences import sentence

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

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
        self._ways = (self.starter, self.retry, self.models, self.folder)
        for before, after in pairwise(self._ways):
            QWidget.setTabOrder(before, after)
        self._placed: list[tuple[QPushButton, tuple[int, int]]] = []
        self._buttons = QGridLayout()
        self._buttons.setSpacing(8)
        self._buttons.setColumnStretch(len(self._ways), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.bar)
        column.addLayout(self._buttons)
        self._place()
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

    def _place(self) -> None:
        """The buttons side by side, or two by two where there is no room for that."""
        ways = [button for button in self._ways if not button.isHidden()]
        room = self.width() - 24
        wide = sum(button.sizeHint().width() + self._buttons.spacing() for button in ways) <= room
        places = [(button, (0, at) if wide else divmod(at, 2)) for at, button in enumerate(ways)]
        if places != self._placed:
            self._placed = places
            for button, place in places:
                self._buttons.addWidget(button, *place)

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
        self._place()
        self.show()

    # Qt

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())  # narrower than the buttons side by side: they move

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()
