"""The column of text: its place and width in the view, and room for the formulas within it. Knows no replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from desktop.transcript.editing import EditWithin
from desktop.transcript.objects import KIND, Painter

if TYPE_CHECKING:
    from desktop.transcript.formats import Formats
    from desktop.transcript.formulas import Formulas
    from desktop.transcript.view import Transcript

COLUMN = 760
"""Width of the text column, in pixels."""
MARGIN = 16
SOON_MS = 40
"""Formulas that were drawn within so long are laid out again together."""


class Column:
    """Of the text of ``view``; ``resizing`` runs while formulas wait for the room they need."""

    def __init__(self, view: Transcript, formulas: Formulas, formats: Formats) -> None:
        self._view = view
        self._painter = Painter(view.document(), formulas, formats)
        view.document().documentLayout().registerHandler(KIND, self._painter)
        self._drawn: set[tuple[str, bool]] = set()
        self._is_other_width = False
        self.resizing = QTimer(view)
        self.resizing.setSingleShot(True)
        self.resizing.setInterval(SOON_MS)
        self.resizing.timeout.connect(self._resize_formulas)
        formulas.drawn.connect(self._on_drawn)

    def apply_formats(self, formats: Formats) -> None:
        """Other colours, from the next painting on."""
        self._painter.formats = formats

    def lay_out(self) -> None:
        """Put the column where it belongs at the view's width."""
        view = self._view
        frame = view.document().rootFrame()
        look = frame.frameFormat()
        left = max(MARGIN, (view.width() - COLUMN) // 2)
        right = max(MARGIN // 2, view.viewport().width() - left - COLUMN)
        if (look.leftMargin(), look.rightMargin(), look.topMargin()) != (left, right, MARGIN):
            look.setLeftMargin(left)
            look.setRightMargin(right)
            look.setTopMargin(MARGIN)
            look.setBottomMargin(MARGIN)
            frame.setFrameFormat(look)
        width = max(80.0, view.viewport().width() - left - right - 48)
        if width != self._painter.width:
            self._painter.width = width
            self._is_other_width = True
            self.resizing.start()

    def _on_drawn(self, tex: str, is_display: bool) -> None:
        self._drawn.add((tex, is_display))
        if not self.resizing.isActive():
            self.resizing.start()

    def _resize_formulas(self) -> None:
        """Formulas were drawn, or the column has another width: they get the room they need now."""
        with EditWithin(self._view):
            self.measure()

    def measure(self) -> None:
        """Give the formulas that wait for it their room, within an edit that is going on."""
        if self._drawn or self._is_other_width:
            self._painter.measure_again(None if self._is_other_width else self._drawn)
        self.resizing.stop()
        self._drawn.clear()
        self._is_other_width = False
