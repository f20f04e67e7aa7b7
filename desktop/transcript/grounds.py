"""Paints what stands behind text: the question's ground, code, the bar of a quotation, a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from desktop.transcript.formats import GROUND, GROUND_GROUP, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QTextBlock
    from PySide6.QtWidgets import QTextEdit

    from desktop.palette import Palette

CORNER = 6.0
PAD = 8.0


def paint_grounds(view: QTextEdit, palette: Palette, area: QRect) -> None:
    """Paint the grounds of the blocks in ``area`` of the viewport, before the text is painted."""
    painter = QPainter(view.viewport())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    offset = view.verticalScrollBar().value()
    frame = view.document().rootFrame().frameFormat()
    left, right = frame.leftMargin(), view.viewport().width() - frame.rightMargin()
    for ground, top, bottom, is_right_to_left in _visible(view, area, offset):
        box = QRectF(left, top - offset, right - left, bottom - top)
        if ground in (Ground.USER, Ground.CODE):
            painter.setBrush(QColor(palette.user))
            painter.drawRoundedRect(box.adjusted(0, -PAD, 0, PAD), CORNER, CORNER)
        elif ground == Ground.QUOTE:
            painter.setBrush(QColor(palette.control_border))
            x = box.left() if not is_right_to_left else box.right() - 3
            painter.drawRect(QRectF(x, box.top(), 3, box.height()))
        elif ground == Ground.RULE:
            painter.setBrush(QColor(palette.line))
            painter.drawRect(QRectF(box.left(), box.center().y(), box.width(), 1))
    painter.end()


def _visible(view: QTextEdit, area: QRect, offset: int) -> Iterator[tuple[Ground, float, float, bool]]:
    """(ground, top, bottom, is right to left) in document coordinates; neighbouring blocks of one group are one."""
    layout = view.document().documentLayout()
    block = view.cursorForPosition(QPoint(0, max(0, area.top()))).block()
    block = block.previous() if block.previous().isValid() else block
    last: tuple[int, int] | None = None
    top = bottom = 0.0
    is_rtl = False
    while block.isValid():
        box = layout.blockBoundingRect(block)
        if box.top() > offset + area.bottom() + PAD:
            break
        key = _key(block)
        if key != last:
            if last is not None:
                yield Ground(last[0]), top, bottom, is_rtl
            last, top = key, box.top() - (2 * CORNER if key and _key(block.previous()) == key else 0)
        bottom = box.bottom()
        is_rtl = block.textDirection() == Qt.LayoutDirection.RightToLeft
        block = block.next()
    if last is not None:
        yield Ground(last[0]), top, bottom + (2 * CORNER if block.isValid() and _key(block) == last else 0), is_rtl


def _key(block: QTextBlock) -> tuple[int, int] | None:
    look = block.blockFormat()
    ground = look.intProperty(GROUND)
    return (ground, look.intProperty(GROUND_GROUP)) if ground else None
