"""The draft of one round, painted: tokens in boxes by depth, as far as the walk through it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from inference.explained import ROOT

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QPaintEvent

    from desktop.palette import Palette
    from inference.explained import Decision, Explained

PAD = 8
GAP = 28
HEIGHT = 28
BETWEEN = 10
EDGE = 6
LONGEST = 18
NAMES = {"accepted": "accepted", "correction": "correction", "bonus": "bonus", "plain": "accent"}
STYLES = {
    "accepted": Qt.PenStyle.SolidLine,
    "correction": Qt.PenStyle.DashLine,
    "bonus": Qt.PenStyle.DotLine,
    "plain": Qt.PenStyle.SolidLine,
}


class DraftView(QWidget):
    """``stepped`` carries -1 or 1, when an arrow key asks for another step."""

    stepped = Signal(int)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Draft"))
        self.setAccessibleDescription(self.tr("Left and right go from step to step"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._roles = palette
        self._round: Explained | None = None
        self._walk: tuple[Decision, ...] = ()
        self._step = 0
        self._boxes: dict[int, QRectF] = {}
        self._own = QRectF()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.update()

    def show_round(self, explained: Explained | None, walk: tuple[Decision, ...], step: int) -> None:
        """Show a round as it stands after so many decisions."""
        self._round, self._walk, self._step = explained, walk, step
        self._place()
        self.updateGeometry()
        self.setFixedSize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        boxes = [*self._boxes.values(), self._own]
        right = max((box.right() for box in boxes), default=0) + EDGE
        bottom = max((box.bottom() for box in boxes), default=HEIGHT) + EDGE + 2
        return QSize(round(right), round(bottom))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step:
            self.stepped.emit(step)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._round is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        done = self._walk[: self._step]
        hits = {step.hit for step in done if step.hit is not None}
        refused = {node for step in done for node in step.offered if node != step.hit}
        now = self._walk[self._step].node if self._step < len(self._walk) else None
        for place in self._round.places:
            box = self._boxes[place.node]
            if place.node != ROOT:
                painter.setPen(QPen(QColor(self._roles.control_border), 1))
                painter.drawLine(_right_of(self._boxes[place.parent]), _left_of(box))
            if place.node == ROOT:
                self._paint(painter, box, place.text, "text", None)
            elif place.node in hits:
                self._paint(painter, box, place.text, "accepted", Qt.PenStyle.SolidLine)
            else:
                self._paint(painter, box, place.text, "muted", None, is_struck=place.node in refused)
            if place.node == now:
                painter.setPen(QPen(QColor(self._roles.accent), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 6, 6)
        last = done[-1] if done else None
        if last is not None and last.hit is None:
            painter.setPen(QPen(QColor(self._roles.control_border), 1))
            painter.drawLine(_right_of(self._boxes[last.node]), _left_of(self._own))
            self._paint(painter, self._own, last.text, NAMES[last.kind], STYLES[last.kind])
        if self.hasFocus():
            painter.setPen(QPen(QColor(self._roles.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()

    def _paint(
        self, painter: QPainter, box: QRectF, text: str, role: str, line: Qt.PenStyle | None, *, is_struck: bool = False
    ) -> None:
        colour = QColor(getattr(self._roles, role))
        painter.setPen(QPen(colour if line is not None else QColor(self._roles.control_border), 1))
        painter.setBrush(QColor(self._roles.surface))
        painter.drawRoundedRect(box, 6, 6)
        painter.setPen(colour)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown(text))
        if line is not None:
            painter.setPen(QPen(colour, 2, line))
            base = box.bottom() - 5
            painter.drawLine(QPointF(box.left() + PAD, base), QPointF(box.right() - PAD, base))
        if is_struck:
            middle = box.center().y()
            painter.drawLine(QPointF(box.left() + PAD - 3, middle), QPointF(box.right() - PAD + 3, middle))

    def _place(self) -> None:
        self._boxes = {}
        self._own = QRectF()
        if self._round is None:
            return
        places = {place.node: place for place in self._round.places}
        children: dict[int, list[int]] = {}
        for place in self._round.places:
            if place.node != ROOT:
                children.setdefault(place.parent, []).append(place.node)
        widths: dict[int, float] = {}
        for place in self._round.places:
            widths[place.depth] = max(widths.get(place.depth, 0.0), self._width(place.text))
        lefts, x = {}, float(EDGE)
        for depth in sorted(widths):
            lefts[depth] = x
            x += widths[depth] + GAP
        rows = 0

        def lay(node: int) -> float:
            nonlocal rows
            below = children.get(node, [])
            if below:
                tops = [lay(child) for child in below]
                top = tops[0]
            else:
                top = EDGE + rows * (HEIGHT + BETWEEN)
                rows += 1
            depth = places[node].depth
            self._boxes[node] = QRectF(lefts[depth], top, widths[depth], HEIGHT)
            return top

        lay(ROOT)
        last = self._walk[-1] if self._walk else None
        if last is not None and last.hit is None:
            at = self._boxes[last.node]
            behind = children.get(last.node)
            top = EDGE + rows * (HEIGHT + BETWEEN) if behind else at.top()
            self._own = QRectF(at.right() + GAP, top, self._width(last.text), HEIGHT)

    def _width(self, text: str) -> float:
        return self.fontMetrics().horizontalAdvance(shown(text)) + 2 * PAD


def shown(text: str) -> str:
    """A token so that its spaces and line ends can be seen."""
    text = text.replace("\n", "⏎").replace("\t", "⇥").replace(" ", "␣" if not text.strip(" ") else " ")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _right_of(box: QRectF) -> QPointF:
    return QPointF(box.right(), box.center().y())


def _left_of(box: QRectF) -> QPointF:
    return QPointF(box.left(), box.center().y())
