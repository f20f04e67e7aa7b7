"""The strip of rounds: drafted tokens as outlines, accepted ones filled, then the mark of the target's own token.

Painted by hand; only the rows in view are painted, and adding a round costs the same however many there are.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

    from desktop.palette import Palette
    from inference.events import Round

CELL = 9
HEIGHT = 14
GAP = 2
LABEL = 12
BETWEEN = 12
ROW = 26
EDGE = 4
MOST_CELLS = 16
MOST = 600
"""Older rounds are no longer shown."""


class Strip(QWidget):
    """``pointed`` carries the index in the reply of the round under the pointer or cursor, -1 for none.

    ``chosen`` carries that of a round that was clicked, or pointed at when Enter was pressed.
    """

    pointed = Signal(int)
    chosen = Signal(int)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Rounds"))
        self.setAccessibleDescription(self.tr("Left and right go from round to round, Enter lays one open"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._roles = palette
        self._rounds: list[Round] = []
        self._places: list[tuple[int, int]] = []
        self._row_starts: list[int] = [0]
        self._right = EDGE
        self._pointed = -1
        self.setFixedHeight(ROW)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds shown, oldest first."""
        return tuple(self._rounds)

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def clear(self) -> None:
        """Show no rounds."""
        self._rounds = []
        self._place_all()
        self._point(-1)

    def add(self, rounds: list[Round]) -> None:
        """Show more rounds at the end."""
        if len(self._rounds) + len(rounds) > 2 * MOST:
            self._rounds = [*self._rounds, *rounds][-MOST:]
            self._place_all()
            return
        for item in rounds:
            self._rounds.append(item)
            self._place(item)
        self._set_height()
        self.update()

    def place_of(self, index: int) -> QRectF:
        """Where the round with this index in the reply stands; empty if it is not shown."""
        at = self._at(index)
        if at < 0:
            return QRectF()
        row, x = self._places[at]
        return QRectF(x, row * ROW, _width(self._rounds[at]), ROW)

    def sizeHint(self) -> QSize:
        return QSize(240, ROW * len(self._row_starts))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = self.font()
        font.setPixelSize(10)
        painter.setFont(font)
        first = max(0, event.rect().top() // ROW)
        last = event.rect().bottom() // ROW
        start = self._row_starts[first] if first < len(self._row_starts) else len(self._rounds)
        for at in range(start, len(self._rounds)):
            if self._places[at][0] > last:
                break
            self._paint(painter, at)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self._roles.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place_all()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._index_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._index_at(event.position())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(index)

    def leaveEvent(self, event: QEvent) -> None:
        self._point(-1)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._point(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._pointed >= 0:
            self.chosen.emit(self._pointed)
            return
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step or not self._rounds:
            super().keyPressEvent(event)
            return
        at = self._at(self._pointed)
        at = len(self._rounds) - 1 if at < 0 else max(0, min(len(self._rounds) - 1, at + step))
        self._point(self._rounds[at].index)

    def _paint(self, painter: QPainter, at: int) -> None:
        item, (row, x) = self._rounds[at], self._places[at]
        roles = self._roles
        top = row * ROW + (ROW - HEIGHT) / 2
        if item.index == self._pointed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(roles.lit))
            painter.drawRoundedRect(QRectF(x - 3, row * ROW + 1, _width(item) + 5, ROW - 2), 4, 4)
        painter.setPen(QColor(roles.muted))
        painter.drawText(QRectF(x, top, LABEL, HEIGHT), Qt.AlignmentFlag.AlignVCenter, str(item.k))
        x += LABEL
        for depth in range(_cells(item)):
            accepted = depth < item.accepted
            painter.setPen(QPen(QColor(roles.accepted if accepted else roles.muted), 1))
            painter.setBrush(QColor(roles.accepted) if accepted else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(x + 0.5, top + 0.5, CELL - 1, HEIGHT - 1), 2, 2)
            x += CELL + GAP
        self._paint_mark(painter, item, QPointF(x + CELL / 2 + 2, top + HEIGHT / 2))

    def _paint_mark(self, painter: QPainter, item: Round, centre: QPointF) -> None:
        """Correction: a diamond. Bonus: a plus. Plain: a dot."""
        roles = self._roles
        last = item.origins[-1] if item.origins else "accepted"
        painter.setPen(Qt.PenStyle.NoPen)
        if last == "correction":
            painter.setBrush(QColor(self._on(item, roles.correction, roles.correction_on_user)))
            half = 5.0
            painter.drawPolygon(
                QPolygonF([centre + QPointF(*p) for p in ((0.0, -half), (half, 0.0), (0.0, half), (-half, 0.0))])
            )
        elif last == "bonus":
            painter.setPen(QPen(QColor(roles.bonus), 2.2))
            painter.drawLine(centre - QPointF(4.5, 0), centre + QPointF(4.5, 0))
            painter.drawLine(centre - QPointF(0, 4.5), centre + QPointF(0, 4.5))
        elif last == "plain":
            painter.setBrush(QColor(roles.muted))
            painter.drawEllipse(centre, 2.5, 2.5)

    def _on(self, item: Round, plain: str, on_user: str) -> str:
        return on_user if item.index == self._pointed else plain

    def _place(self, item: Round) -> None:
        width = _width(item)
        if self._right > EDGE and self._right + width > self.width() - EDGE:
            self._row_starts.append(len(self._places))
            self._right = EDGE
        self._places.append((len(self._row_starts) - 1, self._right))
        self._right += width + BETWEEN

    def _place_all(self) -> None:
        self._places, self._row_starts, self._right = [], [0], EDGE
        for item in self._rounds:
            self._place(item)
        self._set_height()
        self.update()

    def _set_height(self) -> None:
        height = ROW * len(self._row_starts)
        if height != self.height():
            self.setFixedHeight(height)

    def _at(self, index: int) -> int:
        first = self._rounds[0].index if self._rounds else 0
        at = index - first
        return at if 0 <= at < len(self._rounds) else -1

    def _index_at(self, point: QPointF) -> int:
        row = int(point.y() // ROW)
        if not 0 <= row < len(self._row_starts):
            return -1
        at = bisect_right(self._places, (row, int(point.x()))) - 1
        if at < 0 or self._places[at][0] != row:
            return -1
        index = self._rounds[at].index
        return index if self.place_of(index).contains(point) else -1

    def _point(self, index: int) -> None:
        if index != self._pointed:
            self._pointed = index
            self.update()
            self.pointed.emit(index)


def _cells(item: Round) -> int:
    """One for each drafted token of a chain, and for each level of a tree."""
    return min(item.drafted, item.k, MOST_CELLS)


def _width(item: Round) -> int:
    return LABEL + _cells(item) * (CELL + GAP) + CELL + 3
