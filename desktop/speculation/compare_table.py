"""The figures of a comparison as rows of words, for the table on screen and for the clipboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem, QWidget

from desktop.sentences import filled
from desktop.speculation.compare_words import setting_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QResizeEvent

    from inference.bench.comparison import Comparison
    from inference.bench.figures import Figures, SpeedUp, Spread

NOTHING = "–"
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of all settings, and what it means."""

    name: str
    cells: tuple[str, ...]
    hint: str = ""


def rows_of(comparison: Comparison, figures: Sequence[Figures]) -> list[Row]:
    """The rows of the table; those that nothing was measured for are left out."""
    plan = comparison.plan
    rows = [
        _row(translate("compare", "Tokens a second"), figures, lambda one: _spread(one.rate, 1),
             translate("compare", "Of decoding: median, and the middle half of the runs")),
        *(_speed_ups(figures, base, setting_label(plan.settings[base])) for base in plan.baselines),
        _row(translate("compare", "First token after, s"), figures, lambda one: _spread(one.ttft, 2)),
        _row(translate("compare", "Whole reply, s"), figures, lambda one: _spread(one.seconds, 2)),
        _row(translate("compare", "Tokens a round"), figures, lambda one: _number(one.tokens_per_round, 2)),
        _row(translate("compare", "Accepted"), figures, lambda one: _percent(one.acceptance)),
        _row(translate("compare", "Accepted by depth"), figures, lambda one: _depths(one.accepted_by_depth),
             translate("compare", "Of the first drafted token of a round, of the second, and so on")),
        _row(translate("compare", "Draft, ms a round"), figures, lambda one: _number(_draft_ms(one), 1)),
        _row(translate("compare", "Verify, ms a round"), figures, lambda one: _number(one.verify_ms, 1)),
        _row(translate("compare", "Memory, MB"), figures,
             lambda one: _number(one.memory / 1e6 if one.memory is not None else None, 0)),
        _row(translate("compare", "Energy, J a token"), figures, lambda one: _number(one.energy, 2)),
        _row(translate("compare", "Identical text"), figures, lambda one: _same(one, comparison)),
        _row(translate("compare", "Identity"), figures, lambda one: ", ".join(one.identities) or NOTHING,
             translate("compare", "Names kernels, threads, precision and width; equal ones give equal bits")),
    ]  # fmt: skip
    return [row for row in rows if any(cell != NOTHING for cell in row.cells)]


def markdown(heads: Sequence[str], rows: Sequence[Row]) -> str:
    """The table as Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return (
        "\n".join(
            [
                line(["", *heads]),
                "| --- |" + " ---: |" * len(heads),
                *(line([row.name, *row.cells]) for row in rows),
            ]
        )
        + "\n"
    )


class Table(QTableWidget):
    """As high as its rows; arrow keys go from cell to cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figures")
        self.setAccessibleName(self.tr("Figures"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().setVisible(False)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_rows(self, heads: Sequence[str], rows: Sequence[Row]) -> None:
        """Show these."""
        self.clear()
        self.setRowCount(len(rows))
        self.setColumnCount(len(heads) + 1)
        self.setHorizontalHeaderLabels(["", *heads])
        for at, row in enumerate(rows):
            for column, words in enumerate((row.name, *row.cells)):
                item = QTableWidgetItem(words)
                item.setToolTip(row.hint)
                side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(at, column, item)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 12)
        self._fit_columns()
        height = self.rowCount() * self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(height + self.horizontalHeader().sizeHint().height() + bar + 2)

    @property
    def needed_width(self) -> int:
        """What all columns need so that nothing scrolls, in pixels."""
        return sum(self._needed()) + 2 * self.frameWidth() + 2

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _needed(self) -> list[int]:
        header = self.horizontalHeader()
        return [max(self.sizeHintForColumn(at), header.sectionSizeHint(at)) for at in range(self.columnCount())]

    def _fit_columns(self) -> None:
        """Figures share the width where there is room; else they are as wide as they are, and the table scrolls."""
        header = self.horizontalHeader()
        count, needed = self.columnCount(), self._needed()
        fits = count > 1 and needed[0] + (count - 1) * max(needed[1:]) <= self.viewport().width()
        header.setStretchLastSection(sum(needed) <= self.viewport().width())  # else nothing paints the rest of the head
        mode = QHeaderView.ResizeMode.Stretch if fits else QHeaderView.ResizeMode.ResizeToContents
        for at in range(count):
            header.setSectionResizeMode(at, mode if at else QHeaderView.ResizeMode.ResizeToContents)


def _row(name: str, figures: Sequence[Figures], cell: Callable[[Figures], str], hint: str = "") -> Row:
    return Row(name, tuple(cell(one) for one in figures), hint)


def _draft_ms(figures: Figures) -> float | None:
    """What drafting took; nothing where nothing was drafted, though looking whether to takes a moment too."""
    return figures.draft_ms if figures.acceptance is not None else None


def _speed_ups(figures: Sequence[Figures], base: int, setting: str) -> Row:
    name = filled(translate("compare", "Times as fast as “{setting}”"), setting=setting)
    hint = translate("compare", "With the interval that holds it in 95 of 100 cases (bootstrap)")
    return _row(name, figures, lambda one: _speed_up(one, base), hint)


def _number(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else filled(f"{{value:.{decimals}f}}", value=value)


def _spread(spread: Spread | None, decimals: int) -> str:
    if spread is None:
        return NOTHING
    median = _number(spread.median, decimals)
    if spread.count < 2:
        return median
    return f"{median} ({_number(spread.low, decimals)} – {_number(spread.high, decimals)})"


def _percent(share: float | None) -> str:
    return NOTHING if share is None else filled("{percent:.0f} %", percent=100 * share)


def _depths(shares: Sequence[float]) -> str:
    return " · ".join(_percent(share) for share in shares) or NOTHING


def _speed_up(figures: Figures, base: int) -> str:
    found: SpeedUp | None = next((one for one in figures.speed_ups if one.baseline == base), None)
    if found is None:
        return NOTHING
    value = f"{_number(found.value, 2)}x"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({_number(found.low, 2)} – {_number(found.high, 2)})"


def _same(figures: Figures, comparison: Comparison) -> str:
    same = figures.sameness
    if same.reference < 0 or not same.prompts:
        return NOTHING
    words = filled(translate("compare", "{identical} of {prompts}"), identical=same.identical, prompts=same.prompts)
    if same.identical == same.prompts:
        return filled(translate("compare", "yes, {count}"), count=words)
    first = next((one for one in comparison.differences if one.setting == figures.setting), None)
    if first is None:
        return words
    return words + filled(translate("compare", "; from token {token} on"), token=first.position + 1)
