"""The likeliest tokens at one place of a draft, as one side sees them, with bars; which were drafted and chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from desktop.sentences import filled
from desktop.speculation.lab_draft import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from PySide6.QtGui import QResizeEvent

    from desktop.palette import Palette
    from inference.explained import Candidate

SHARE = Qt.ItemDataRole.UserRole
ROWS = 6


class Candidates(QTableWidget):
    """Arrow keys go from cell to cell. ``with_noise`` adds what the coupled rule compares."""

    def __init__(self, name: str, palette: Palette, parent: QWidget | None = None, *, with_noise: bool) -> None:
        super().__init__(parent)
        self.setObjectName("figures")
        self.setAccessibleName(name)
        self._with_noise = with_noise
        heads = [name, self.tr("Share")]
        heads += [self.tr("Noise"), self.tr("Score")] if with_noise else []
        self.setColumnCount(len(heads) + 1)
        self.setHorizontalHeaderLabels([*heads, ""])
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 14)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._bars = _Bars(palette, self)
        self.setItemDelegateForColumn(1, self._bars)
        self._fit(ROWS)

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._bars.roles = palette
        self.viewport().update()

    def show_candidates(self, candidates: Sequence[Candidate], drafted: Collection[int], chosen: int | None) -> None:
        """Show these, best first; ``drafted`` and ``chosen`` are token ids."""
        self.setRowCount(len(candidates))
        for row, one in enumerate(candidates):
            cells = [shown(one.text), filled("{percent:.1f} %", percent=100 * one.probability)]
            if self._with_noise:
                cells += [_number(one.noise), _number(one.score)]
            cells.append(self._mark(one.token in drafted, one.token == chosen))
            for column, words in enumerate(cells):
                item = QTableWidgetItem(words)
                if column == 1:
                    item.setData(SHARE, one.probability)
                side = Qt.AlignmentFlag.AlignLeft if column in (0, len(cells) - 1) else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)
        if self._with_noise:
            self.setColumnHidden(2, all(one.noise is None for one in candidates))
        self._fit(max(ROWS, len(candidates)))
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """The last column takes the rest of the width; where there is none, the table scrolls."""
        header = self.horizontalHeader()
        shown = [at for at in range(self.columnCount()) if not self.isColumnHidden(at)]
        needed = sum(max(self.sizeHintForColumn(at), header.sectionSizeHint(at)) for at in shown)
        header.setStretchLastSection(needed <= self.viewport().width())

    def _mark(self, is_drafted: bool, is_chosen: bool) -> str:
        if is_drafted and is_chosen:
            return self.tr("drafted, chosen")
        return self.tr("drafted") if is_drafted else self.tr("chosen") if is_chosen else ""

    def _fit(self, rows: int) -> None:
        each = self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(rows * each + self.horizontalHeader().sizeHint().height() + bar + 4)


class _Bars(QStyledItemDelegate):
    """Paints a share as a bar under its words."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self.roles = palette

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        share: Any = index.data(SHARE)
        super().paint(painter, option, index)
        if share is not None:
            area = QRectF(option.rect)
            width = max(1.0, (area.width() - 8) * float(share))
            painter.fillRect(QRectF(area.left() + 4, area.bottom() - 4, width, 3), QColor(self.roles.accent))


def _number(value: float | None) -> str:
    return "–" if value is None else filled("{value:.2f}", value=value)
