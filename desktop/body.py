"""Chats, page and rounds side by side; where the window is narrow, chats or rounds are a sheet over the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

SHEET_BELOW = 900
PANEL = 300
SIDE = 260
SIDE_SHEET_BELOW = 640
LEAST_PAGE = 420
"""Less width than this between chats and rounds makes the rounds a sheet, too."""


class Body(QWidget):
    """Places its three children by hand. ``side_shown`` says when the chats come or go by themselves."""

    side_shown = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side: QWidget | None = None
        self._page: QWidget | None = None
        self._panel: QWidget | None = None
        self._is_side_wanted = True

    def hold(self, side: QWidget, page: QWidget, panel: QWidget) -> None:
        """Take the three children."""
        self._side, self._page, self._panel = side, page, panel
        for child in (page, side, panel):
            child.setParent(self)
        panel.hide()

    @property
    def is_sheet(self) -> bool:
        """Whether the rounds cover the page."""
        return self.width() < SHEET_BELOW or self.width() - PANEL - self._beside() < LEAST_PAGE

    @property
    def is_side_sheet(self) -> bool:
        """Whether the chats cover the page."""
        return self.width() < SIDE_SHEET_BELOW

    def show_panel(self, is_shown: bool) -> None:
        """Open or close the rounds."""
        if self._panel is not None:
            self._panel.setVisible(is_shown)
            self._place()

    def show_side(self, is_shown: bool) -> None:
        """Open or close the chats; where there is room beside the page, that stays so in other sizes."""
        if self._side is not None:
            if not self.is_side_sheet:
                self._is_side_wanted = is_shown
            self._side.setVisible(is_shown)
            self._place()
            self.side_shown.emit(is_shown)

    def want_side(self, is_wanted: bool) -> None:
        """Whether the chats are to be shown where there is room."""
        self._is_side_wanted = is_wanted
        self._fit_side()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        was_sheet = event.oldSize().width() < SIDE_SHEET_BELOW
        if was_sheet != self.is_side_sheet or event.oldSize().width() < 0:
            self._fit_side()
        self._place()

    def _fit_side(self) -> None:
        if self._side is not None:
            is_shown = self._is_side_wanted and not self.is_side_sheet
            self._side.setVisible(is_shown)
            self.side_shown.emit(is_shown)
            self._place()

    def _beside(self) -> int:
        return SIDE if self._side is not None and not self._side.isHidden() and not self.is_side_sheet else 0

    def _place(self) -> None:
        if self._page is None or self._panel is None or self._side is None:
            return
        width, height = self.width(), self.height()
        is_open = not self._panel.isHidden()
        left = self._beside()
        right = PANEL if is_open and not self.is_sheet else 0
        self._page.setGeometry(left, 0, width - left - right, height)
        self._side.setGeometry(0, 0, min(SIDE, width), height)
        self._panel.setGeometry(max(0, width - PANEL), 0, min(PANEL, width), height)
        self._side.raise_()
        self._panel.raise_()
