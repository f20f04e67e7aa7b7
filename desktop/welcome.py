"""What an empty chat shows: the program's mark and three things to try."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from desktop.icons import mark


class Welcome(QScrollArea):
    """``chosen`` carries the text of a suggestion; ``models_wanted`` leads to the model that suits this machine."""

    chosen = Signal(str)
    models_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget(self)
        page.setObjectName("welcomePage")
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addStretch(1)
        sign = QLabel(page)
        sign.setPixmap(mark(48).pixmap(QSize(48, 48)))
        title = QLabel(self.tr("What shall we draft?"), page)
        title.setObjectName("title")
        below = QLabel(self.tr("A copy of the model drafts, and the model itself checks every word."), page)
        below.setObjectName("quiet")
        below.setWordWrap(True)
        below.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for label in (sign, title):
            column.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(below)
        column.addSpacing(12)
        self.suggestions = [
            QPushButton(text, page)
            for text in (
                self.tr("Write a short poem about the sea."),
                self.tr("Explain how a rainbow forms, in five sentences."),
                self.tr("Give me three ideas for a rainy Sunday."),
            )
        ]
        for button in self.suggestions:
            button.setObjectName("suggestion")
            button.setMaximumWidth(420)
            button.clicked.connect(self._on_clicked)
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.recommended = QPushButton(page)
        self.recommended.setObjectName("link")
        self.recommended.setMaximumWidth(420)
        self.recommended.clicked.connect(self.models_wanted)
        self.recommended.hide()
        column.addSpacing(8)
        column.addWidget(self.recommended, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        self.setWidget(page)

    def show_recommended(self, words: str) -> None:
        """Name a model that suits this machine better than what is here; nothing where ``words`` is empty."""
        self.recommended.setText(words)
        self.recommended.setVisible(bool(words))

    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self.chosen.emit(button.text().replace("&&", "&"))
