"""Page and rounds side by side; where the window is narrow, the rounds are a sheet over the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from desktop.speculation.panel import Panel

SHEET_BELOW = 900
PANEL = 300


class Body(QWidget):
    """Places its two children by hand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page: QWidget | None = None
        self._panel: Panel | None = None

    def hold(self, page: QWidget, panel: Panel) -> None:
        """Take the two children."""
        self._page, self._panel = page, panel
        page.setParent(self)
        panel.setParent(self)
        panel.hide()

    @property
    def is_sheet(self) -> bool:
        """Whether the rounds cover the page."""
        return self.width() < SHEET_BELOW

    def show_panel(self, is_shown: bool) -> None:
        """Open or close the rounds."""
        if self._panel is not None:
            self._panel.setVisible(is_shown)
            self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        if self._page is None or self._panel is None:
            return
        width, height = self.width(), self.height()
        is_open = not self._panel.isHidden()
        beside = PANEL if is_open and not self.is_sheet else 0
        self._page.setGeometry(0, 0, width - beside, height)
        self._panel.setGeometry(max(0, width - PANEL), 0, min(PANEL, width), height)
        self._panel.raise_()
