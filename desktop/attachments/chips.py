"""What is attached, over the field: a name, how much it is, a way to take it out again. It reads no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QLayoutItem, QPushButton, QSizePolicy, QWidget

from desktop.elided import ElidedLabel
from desktop.sentences import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.attachments.quoting import Attachment

WIDEST = 260


class Chips(QWidget):
    """``removed`` carries the place of an attachment, ``given_up`` the name of a file that is still being read."""

    removed = Signal(int)
    given_up = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = Flow(self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.hide()

    def show_all(self, attachments: Sequence[Attachment], waiting: Sequence[str]) -> None:
        """Show what is attached, and what will be."""
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for place, one in enumerate(attachments):
            words = filled(self.tr("{count} characters"), count=QLocale().toString(len(one.text)))
            chip = _Chip(one.name or self.tr("Long text"), words, self.tr("Take {name} out"), self)
            if not one.name:
                chip.setToolTip(self.tr("Too long for the field; it is sent as it stands."))
            chip.button.clicked.connect(lambda _checked=False, place=place: self.removed.emit(place))
            self._flow.addWidget(chip)
        for name in waiting:
            chip = _Chip(name, self.tr("reading"), self.tr("Stop reading {name}"), self)
            chip.button.clicked.connect(lambda _checked=False, name=name: self.given_up.emit(name))
            self._flow.addWidget(chip)
        self.setVisible(bool(attachments) or bool(waiting))
        self.updateGeometry()


class _Chip(QFrame):
    def __init__(self, name: str, amount: str, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        label = ElidedLabel(self)
        label.setText(name)
        label.setToolTip(name)
        label.setMinimumWidth(min(label.fontMetrics().horizontalAdvance(name) + 4, 140))
        size = QLabel(amount, self)
        size.setObjectName("quiet")
        self.button = QPushButton("×", self)
        self.button.setObjectName("chipButton")
        self.button.setFixedSize(22, 22)
        self.button.setToolTip(filled(hint, name=name))
        self.button.setAccessibleName(filled(hint, name=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 2, 2)
        row.setSpacing(6)
        row.addWidget(label, 1)
        row.addWidget(size)
        row.addWidget(self.button)
        self.setMaximumWidth(WIDEST)


class Flow(QLayout):
    """Puts widgets beside one another and goes on below where the width ends, from right to left where that is read."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(6)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), is_trial=True)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, is_trial=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(QSize(0, item.sizeHint().height()))
        return size

    def _place(self, rect: QRect, *, is_trial: bool) -> int:
        x, y, high = rect.x(), rect.y(), 0
        owner = self.parentWidget()
        is_mirrored = owner is not None and owner.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for item in self._items:
            hint = item.sizeHint()
            width = min(hint.width(), rect.width())
            if x + width > rect.right() + 1 and high:
                x, y, high = rect.x(), y + high + self.spacing(), 0
            if not is_trial:
                left = rect.left() + rect.right() - x - width + 1 if is_mirrored else x
                item.setGeometry(QRect(QPoint(left, y), QSize(width, hint.height())))
            x += width + self.spacing()
            high = max(high, hint.height())
        return y + high - rect.y()
