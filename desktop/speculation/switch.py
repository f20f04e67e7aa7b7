"""A sliding switch: a check box painted otherwise, so that keyboard and screen reader know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from desktop.palette import Palette

TRACK = QSize(34, 18)
GAP = 8


class Switch(QCheckBox):
    """On is the accent with the knob to the right, off an empty track with the knob to the left."""

    def __init__(self, text: str, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setAccessibleName(text)
        self._roles = palette
        self._shows_text = True

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def show_text(self, shows_text: bool) -> None:
        """With or without its words beside it; the name for screen readers stays."""
        self._shows_text = shows_text
        self.setToolTip("" if shows_text else self.text())
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + GAP if self._shows_text else 0
        return QSize(TRACK.width() + words + 6, max(TRACK.height() + 6, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        roles = self._roles
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        track = QRectF(area.right() - TRACK.width() - 3, 0, TRACK.width(), TRACK.height())
        track.moveTop(area.center().y() - TRACK.height() / 2)
        if self._shows_text:
            painter.setPen(QColor(roles.text if self.isEnabled() else roles.muted))
            words = area.adjusted(0, 0, -TRACK.width() - GAP, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        is_on = self.isChecked() and self.isEnabled()
        painter.setPen(QPen(QColor(roles.accent if is_on else roles.control_border), 1.5))
        painter.setBrush(QColor(roles.accent if is_on else roles.surface))
        painter.drawRoundedRect(track.adjusted(1, 1, -1, -1), TRACK.height() / 2, TRACK.height() / 2)
        radius = TRACK.height() / 2 - 4
        x = track.right() - radius - 4 if is_on else track.left() + radius + 4
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(roles.on_accent if is_on else roles.control_border))
        painter.drawEllipse(QPointF(x, track.center().y()), radius, radius)
        if self.hasFocus():
            painter.setPen(QPen(QColor(roles.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), TRACK.height() / 2 + 2, TRACK.height() / 2 + 2)
        painter.end()
