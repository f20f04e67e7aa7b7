"""What the colours and underlines of coloured text mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from desktop.palette import Palette


class Legend(QWidget):
    """Three words, each in its colour over its underline."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._roles = palette
        self._words = (self.tr("accepted"), self.tr("correction"), self.tr("bonus"))
        self.setAccessibleName(self.tr("Accepted words are underlined, corrections dashed, bonus words dotted"))

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def sizeHint(self) -> QSize:
        widths = sum(self.fontMetrics().horizontalAdvance(word) + 16 for word in self._words)
        return QSize(widths, self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        styles = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
        colours = (self._roles.accepted, self._roles.correction, self._roles.bonus)
        x, base = 0, self.fontMetrics().ascent() + 1
        for word, colour, style in zip(self._words, colours, styles, strict=True):
            width = self.fontMetrics().horizontalAdvance(word)
            painter.setPen(QColor(colour))
            painter.drawText(x, base, word)
            painter.setPen(QPen(QColor(colour), 1.5, style))
            painter.drawLine(x, base + 4, x + width, base + 4)
            x += width + 16
        painter.end()
