"""The middle of the window: the chat or the welcome, and under it loading, notices and the composer. It only places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop.composer import Composer
from desktop.elided import ElidedLabel
from desktop.loading import Loading
from desktop.notice_bar import NoticeBar
from desktop.transcript.column import COLUMN
from desktop.transcript.view import Transcript
from desktop.welcome import Welcome

if TYPE_CHECKING:
    from desktop.palette import Palette


class Page(QWidget):
    """Its parts are for the window to use."""

    def __init__(self, palette: Palette, scale: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.welcome = Welcome(self)
        self.transcript = Transcript(palette, scale, self)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.transcript)
        self.loading = Loading(self)
        self.notice = NoticeBar(palette, self)
        self.composer = Composer(self)
        self.status_line = ElidedLabel(self)
        self.status_line.setObjectName("statusLine")
        below = QWidget(self)
        below.setMaximumWidth(COLUMN + 32)
        stacked(below, (self.loading, self.notice, self.composer, self.status_line), (16, 4, 16, 8), 8)
        centred = QWidget(self)
        row = QHBoxLayout(centred)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(below, 1000)
        row.addStretch(1)
        stacked(self, (self.pages, centred)).setStretch(0, 1)

    def show_chat(self, is_begun: bool) -> None:
        """Show the chat, or the welcome while nothing has been asked."""
        self.pages.setCurrentWidget(self.transcript if is_begun else self.welcome)


def stacked(
    inside: QWidget, parts: tuple[QWidget, ...], margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 0
) -> QVBoxLayout:
    """``parts`` one below the other."""
    column = QVBoxLayout(inside)
    column.setContentsMargins(*margins)
    column.setSpacing(spacing)
    for part in parts:
        column.addWidget(part)
    return column
