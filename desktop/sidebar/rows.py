"""The rows of the side bar as Qt's list model. Knows nothing of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from desktop.history.finding import BEGIN, END
from desktop.sidebar.sections import Heading, Line

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from desktop.sidebar.sections import Row

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole


class Rows(QAbstractListModel):
    """``renamed`` carries the id of a chat or folder, the new name, and whether it is a folder."""

    renamed = Signal(object, str, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []

    def show(self, rows: list[Row]) -> None:
        """List these rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row(self, index: Index) -> Row | None:
        """What stands in a place."""
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def place_of(self, one: int) -> QModelIndex:
        """Where a chat or a folder is listed; an invalid index if it is not."""
        for number, row in enumerate(self._rows):
            if one == (row.chat.id if isinstance(row, Line) else row.folder):
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: Index | None = None) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW:
            return row
        name = row.name if isinstance(row, Heading) else row.title
        if role == Qt.ItemDataRole.EditRole and isinstance(row, Line):
            return row.chat.title or name
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{name}, {plain(row.excerpt)}" if isinstance(row, Line) and row.excerpt else name
        if role == Qt.ItemDataRole.ToolTipRole:
            return _as_text(name)
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.row(index)
        if row is None or role != Qt.ItemDataRole.EditRole or not str(value).strip():
            return False
        if isinstance(row, Line):
            self.renamed.emit(row.chat.id, str(value), False)
        elif row.folder is not None:
            self.renamed.emit(row.folder, str(value), True)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index)
        if isinstance(row, Heading) and row.folder is None:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable


def plain(excerpt: str) -> str:
    """An excerpt without the marks around its hits."""
    return excerpt.replace(BEGIN, "").replace(END, "")


def _as_text(name: str) -> str:
    """A tooltip that shows markup as it is written."""
    escaped = name.replace("&", "&amp;").replace("<", "&lt;")
    return f"<span>{escaped}</span>"
