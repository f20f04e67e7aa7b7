"""Paints a row of the side bar: headings quiet, the open chat on its own ground, hits bold. Knows no chats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.history.finding import BEGIN, END
from desktop.icons import icon
from desktop.sidebar.composing import ComposingLine
from desktop.sidebar.rows import ROW
from desktop.sidebar.sections import Heading, Line

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel
    from PySide6.QtGui import QKeyEvent

    from desktop.palette import Palette

Index = QModelIndex | QPersistentModelIndex
HEIGHT = 32
FOUND_HEIGHT = 50
SIDE = 12
ICON = 16


class Painting(QStyledItemDelegate):
    """``open_chat`` is the chat on the page."""

    def __init__(self, palette: Palette, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.open_chat = 0
        self.apply_look(palette, 1.0)

    def apply_look(self, palette: Palette, scale: float) -> None:
        """Other colours and another size."""
        self.palette, self.scale = palette, scale
        size = round(ICON * scale)
        names = ("chevron-down", "chevron-right", "folder")
        self._signs = {name: icon(name, palette.muted, size) for name in names}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW)
        height = FOUND_HEIGHT if isinstance(row, Line) and row.excerpt else HEIGHT
        return QSize(100, round(height * self.scale))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW)
        box = option.rect.adjusted(4, 1, -4, -1)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            self._heading(painter, box, row, option)
        elif isinstance(row, Line):
            is_open = row.chat.id == self.open_chat
            if is_open or state & QStyle.StateFlag.State_MouseOver:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(self.palette.user))
                painter.drawRoundedRect(box, 6, 6)
            self._line(painter, box.adjusted(SIDE - 4, 0, -SIDE + 4, 0), row, option)
        is_current = state & QStyle.StateFlag.State_Selected and state & QStyle.StateFlag.State_HasFocus
        if is_current:
            painter.setPen(QPen(QColor(self.palette.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = _NameField(parent)
        editor.setAccessibleName(self.tr("New name"))
        return editor

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        if isinstance(editor, _NameField) and editor.is_composing and event.type() == QEvent.Type.KeyPress:
            return False  # the input method's own Enter, which Qt would take for the end
        return super().eventFilter(editor, event)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(4, 0, -4, 0))

    def _heading(self, painter: QPainter, box: QRect, row: Heading, option: QStyleOptionViewItem) -> None:
        place = box.adjusted(SIDE - 4, 0, -SIDE, 0)
        font = self._font(option, 12, QFont.Weight.DemiBold)
        if row.folder is not None:
            name = "chevron-down" if row.is_open else "chevron-right"
            place = self._sign(painter, place, name)
            place = self._sign(painter, place, "folder")
        else:
            place.setTop(place.top() + 6)
        self._text(painter, place, row.name, font, self.palette.muted)

    def _line(self, painter: QPainter, box: QRect, row: Line, option: QStyleOptionViewItem) -> None:
        if not row.excerpt:
            self._text(painter, box, row.title, self._font(option, 13), self.palette.text)
            return
        upper = QRect(box.left(), box.top() + 2, box.width(), box.height() // 2)
        lower = QRect(box.left(), upper.bottom(), box.width(), box.height() // 2 - 2)
        self._text(painter, upper, row.title, self._font(option, 13), self.palette.text)
        self._excerpt(painter, lower, row.excerpt, option)

    def _excerpt(self, painter: QPainter, box: QRect, excerpt: str, option: QStyleOptionViewItem) -> None:
        """The words around a hit, which is bold; what does not fit is cut off."""
        x = box.left()
        painter.setPen(QColor(self.palette.muted))
        for part in excerpt.split(BEGIN):
            hit, mark, rest = part.partition(END)
            for words, weight in ((hit, QFont.Weight.Bold), (rest, None)) if mark else ((part, None),):
                painter.setFont(self._font(option, 12, weight))
                room = box.right() - x
                if not words or room <= 0:
                    continue
                shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room)
                painter.drawText(QRect(x, box.top(), room, box.height()), _LEFT, shown)
                x += painter.fontMetrics().horizontalAdvance(shown)

    def _text(self, painter: QPainter, box: QRect, text: str, font: QFont, colour: str) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(box, _LEFT, painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width()))

    def _sign(self, painter: QPainter, box: QRect, name: str) -> QRect:
        size = round(ICON * self.scale)
        top = box.center().y() - size // 2 + 1
        self._signs[name].paint(painter, QRect(box.left(), top, size, size))
        return box.adjusted(size + 4, 0, 0, 0)

    def _font(self, option: QStyleOptionViewItem, pixels: int, weight: QFont.Weight | None = None) -> QFont:
        font = QFont(option.font)
        font.setPixelSize(round(pixels * self.scale))
        if weight is not None:
            font.setWeight(weight)
        return font


class _NameField(ComposingLine):
    """A name that is changed in place."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_composing and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
        else:
            super().keyPressEvent(event)


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading) | int(Qt.TextFlag.TextSingleLine)
