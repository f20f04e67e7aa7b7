"""Places parts side by side where there is room, else below each other; all of a row have the same width."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent


def in_order(*parts: QWidget) -> None:
    """Let the Tab key go through ``parts`` in this order."""
    for one, next_one in pairwise(parts):
        QWidget.setTabOrder(one, next_one)


class SideBySide(QWidget):
    """``least`` is the width that a part needs, in pixels."""

    def __init__(self, least: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._least = least
        self._parts: list[QWidget] = []
        self._count = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """The parts, from left to right."""
        return tuple(self._parts)

    def show_parts(self, parts: Sequence[QWidget]) -> None:
        """Place these and no others; others are let go."""
        for part in self._parts:
            self._grid.removeWidget(part)
            if part not in parts:
                part.hide()
                part.deleteLater()
        self._parts = list(parts)
        self._count = 0
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        if not self._parts:
            return
        fitting = max(1, (self.width() + self._grid.spacing()) // (self._least + self._grid.spacing()))
        rows = -(-len(self._parts) // fitting)
        count = -(-len(self._parts) // rows)
        if count == self._count:
            return
        for column in range(max(count, self._grid.columnCount())):  # those of earlier parts take no room
            self._grid.setColumnStretch(column, 1 if column < count else 0)
        self._count = count
        for at, part in enumerate(self._parts):
            self._grid.addWidget(part, at // count, at % count)
            part.show()
