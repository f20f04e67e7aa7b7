"""A dialog whose parts scroll where the window is small, over Ok and Cancel that always stay in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 460
LEAST, MOST = 300, 680
AROUND = 40


def lay_out(dialog: QDialog, parts: Iterable[QWidget | str]) -> None:
    """Put parts one below the other; a text becomes a heading."""
    inside = QWidget(dialog)
    inside.setObjectName("dialogPage")
    column = QVBoxLayout(inside)
    column.setContentsMargins(16, 16, 16, 16)
    column.setSpacing(12)
    for part in parts:
        if isinstance(part, str):
            heading = QLabel(part, inside)
            heading.setObjectName("figure")
            column.addWidget(heading)
        elif isinstance(part, QPushButton):
            column.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            column.addWidget(part)
    column.addStretch(1)
    area = QScrollArea(dialog)
    area.setObjectName("dialogScroll")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    standard = QDialogButtonBox.StandardButton
    buttons = QDialogButtonBox(standard.Ok | standard.Cancel, parent=dialog)
    for button in buttons.buttons():
        button.setIcon(QIcon())  # some desktops put pictures on them
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    foot = QHBoxLayout()
    foot.setContentsMargins(16, 8, 16, 12)
    foot.addWidget(buttons)
    whole = QVBoxLayout(dialog)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.setSpacing(0)
    whole.addWidget(area, 1)
    whole.addLayout(foot)


def size_beside(parent: QWidget | None) -> QSize:
    """As large as the parent has room for."""
    if parent is None:
        return QSize(WIDTH, MOST)
    room = parent.window().size()
    return QSize(min(WIDTH, room.width()), max(LEAST, min(MOST, room.height() - AROUND)))
