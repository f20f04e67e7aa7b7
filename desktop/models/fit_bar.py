"""A bar of segments: what of a memory a model would take, what others have, what stays free. Only draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.models import words

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from desktop.palette import Palette

HEIGHT = 12
GAP = 2
LEGEND_GAP = 12


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the memory. ``role`` is a colour of the palette, or free."""

    name: str
    size: float
    role: str


@dataclass(frozen=True, slots=True)
class Fit:
    """How a model fits: ``said`` in a sentence, ``segments`` in bytes; ``whole`` is the memory there is."""

    said: str
    whole: float
    segments: tuple[Segment, ...]
    fits: bool

    @property
    def in_words(self) -> str:
        """The segments, for those who cannot see them."""
        return ", ".join(f"{one.name} {words.size(one.size)}" for one in self.segments)


class FitBar(QWidget):
    """Shows one Fit: a sentence over a bar; the parts by name in its tooltip."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._roles = palette
        self._fit: Fit | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_fit(self, fit: Fit) -> None:
        """Show it."""
        self._fit = fit
        self.setToolTip(fit.in_words)
        self.setAccessibleName(fit.said)
        self.setAccessibleDescription(fit.in_words)
        self.update()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._fit is None:
            return
        whole = max(self._fit.whole, sum(one.size for one in self._fit.segments), 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, room = 0.0, self.width() - 1
        if not self._fit.segments:  # not known yet: the place of the bar
            painter.setPen(QPen(QColor(self._roles.line)))
            painter.drawRoundedRect(QRectF(0.5, 0.5, room, HEIGHT - 1), 2, 2)
        for one in self._fit.segments:
            width = room * one.size / whole
            box = QRectF(left + 0.5, 0.5, max(1.0, width - GAP), HEIGHT - 1)
            if one.role == "free":
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(self._roles.control_border)))
            else:
                painter.setBrush(QColor(getattr(self._roles, one.role)))
                painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(box, 2, 2)
            left += width
        if not self._fit.fits:  # where the memory ends
            painter.setPen(QPen(QColor(self._roles.danger), 2))
            at = room * self._fit.whole / whole
            painter.drawLine(round(at), 0, round(at), HEIGHT)
        painter.end()


class Legend(QWidget):
    """What the colours of the bars mean, in as many lines as that takes."""

    def __init__(
        self, parts: tuple[tuple[str, str, str], ...], palette: Palette, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._all = self._parts = parts
        self._roles = palette
        self.setObjectName("quiet")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_only({part for part, _, _ in parts})

    def show_only(self, shown: set[str]) -> None:
        """Leave out the parts that no bar has."""
        self._parts = tuple(one for one in self._all if one[0] in shown)
        self.setAccessibleName(", ".join(name for _, name, _ in self._parts))
        self.updateGeometry()
        self.update()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(80, self.heightForWidth(self.width()))

    def heightForWidth(self, width: int) -> int:
        return (1 + max((line for line, _ in self._places(width)), default=0)) * self._line_height()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._words_font())
        metrics = painter.fontMetrics()
        for (_, name, role), (line, left) in zip(self._parts, self._places(self.width()), strict=True):
            middle = (line + 0.5) * self._line_height()
            box = QRectF(left + 0.5, middle - HEIGHT / 2 + 0.5, HEIGHT - 3, HEIGHT - 3)
            if role == "free":
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(self._roles.control_border)))
            else:
                painter.setBrush(QColor(getattr(self._roles, role)))
                painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(box, 2, 2)
            painter.setPen(QColor(self._roles.muted))
            painter.drawText(round(left + HEIGHT + 2), round(middle + metrics.ascent() / 2 - 2), name)
        painter.end()

    def _places(self, width: int) -> list[tuple[int, float]]:
        """The line of every part, and where in it the part begins."""
        metrics = QFontMetrics(self._words_font())
        found, line, left = [], 0, 0.0
        for _, name, _ in self._parts:
            needed = HEIGHT + 4 + metrics.horizontalAdvance(name)
            if left and left + needed > width:
                line, left = line + 1, 0.0
            found.append((line, left))
            left += needed + LEGEND_GAP
        return found

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4

    def _words_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(10, self.fontInfo().pixelSize() - 1))
        return font
