"""The drawings of a comparison: a bar for each setting, and when each token of a prompt arrived.

pyqtgraph is imported with this module, which takes up to a second; so this module is imported when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.sentences import number
from desktop.speculation.compare_words import setting_label
from desktop.speculation.side_by_side import SideBySide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.palette import Palette
    from inference.bench.comparison import Comparison, Run
    from inference.bench.figures import Figures

HEIGHT = 220
LEAST = 380
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
MARKS = ("o", "s", "t", "d")


class Plots(SideBySide):
    """Both drawings, side by side where there is room. What they say stands in the table too."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(LEAST, parent)
        self._roles = palette
        self._comparison: Comparison | None = None
        self._figures: tuple[Figures, ...] = ()
        self._prompt = 0
        self.bars = _plot(self.tr("Tokens a second, by setting"), self)
        self.arrivals = _plot(self.tr("When the tokens arrived"), self)
        self.show_parts((self.bars, self.arrivals))

    def show_comparison(self, comparison: Comparison, figures: tuple[Figures, ...], prompt: int) -> None:
        """Draw the figures of all prompts, and the arrivals of one."""
        self._comparison, self._figures, self._prompt = comparison, figures, prompt
        self._draw()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self._draw()

    def colour(self, at: int) -> str:
        """The colour of a setting; styles of lines and marks tell them apart too."""
        roles = self._roles
        return (roles.muted, roles.accent, roles.accepted, roles.bonus)[at % 4]

    def _draw(self) -> None:
        for plot in (self.bars, self.arrivals):
            plot.clear()
            plot.setBackground(self._roles.surface)
            for side in ("left", "bottom"):
                axis = plot.getAxis(side)
                axis.setPen(QPen(QColor(self._roles.control_border)))
                axis.setTextPen(QColor(self._roles.muted))
        if self._comparison is not None:
            self._draw_bars(self._comparison)
            self._draw_arrivals(self._comparison)

    def _draw_bars(self, comparison: Comparison) -> None:
        names, top = [], 1.0
        for at, one in enumerate(self._figures):
            names.append((at, setting_label(comparison.plan.settings[at]).replace(", ", ",\n")))
            if one.rate is None:
                continue
            top = max(top, one.rate.high)
            bar = pg.BarGraphItem(
                x=[at], height=[one.rate.median], width=0.6, brush=QColor(self.colour(at)), pen=QPen(Qt.PenStyle.NoPen)
            )
            self.bars.addItem(bar)
            middle = one.rate.median
            spread = pg.ErrorBarItem(
                x=_array([at]), y=_array([middle]), top=_array([one.rate.high - middle]),
                bottom=_array([middle - one.rate.low]), beam=0.2, pen=QPen(QColor(self._roles.text), 0),
            )  # fmt: skip
            self.bars.addItem(spread)
            value = pg.TextItem(number(middle, 1), color=self._roles.text, anchor=(0.5, 1))
            value.setPos(at, one.rate.high)
            self.bars.addItem(value)
        self.bars.getAxis("bottom").setTicks([names])
        self.bars.getAxis("bottom").setHeight(58)
        self.bars.setXRange(-0.6, len(self._figures) - 0.4, padding=0)
        self.bars.setYRange(0, top * 1.18, padding=0)
        self.bars.setTitle(self.tr("Tokens a second"), color=self._roles.text, size="10pt")

    def _draw_arrivals(self, comparison: Comparison) -> None:
        legend = self.arrivals.addLegend(offset=(-4, -4), verSpacing=-6)
        legend.clear()
        legend.setLabelTextColor(QColor(self._roles.text))
        legend.setBrush(QColor(self._roles.surface))  # what it says can be read across a line
        for at, setting in enumerate(comparison.plan.settings):
            runs = [run for run in comparison.runs if (run.setting, run.prompt, run.step) == (at, self._prompt, 0)]
            if not runs:
                continue
            seconds, tokens = arrivals(_middle(runs))
            colour = QColor(self.colour(at))
            self.arrivals.plot(
                seconds, tokens, pen=pg.mkPen(colour, width=1.6, style=STYLES[at % 4]), symbol=MARKS[at % 4],
                symbolSize=4, symbolBrush=colour, symbolPen=None, name=setting_label(setting),
            )  # fmt: skip
        self.arrivals.getAxis("bottom").enableAutoSIPrefix(False)
        self.arrivals.setLabel("bottom", self.tr("seconds after asking"), color=self._roles.muted)
        self.arrivals.setTitle(self.tr("Tokens that had arrived"), color=self._roles.text, size="10pt")
        self.arrivals.enableAutoRange()


def arrivals(run: Run) -> tuple[list[float], list[int]]:
    """Seconds and how many tokens had arrived then, a point a round, from nothing at the first token's round on."""
    seconds, tokens = [0.0], [0]
    for one in run.rounds:
        seconds.append(one.at)
        tokens.append(tokens[-1] + one.tokens)
    return seconds, tokens


def _middle(runs: Sequence[Run]) -> Run:
    """The run of middle length in time."""
    return sorted(runs, key=lambda run: run.seconds)[(len(runs) - 1) // 2]


def _array(values: Sequence[float]) -> Any:
    import numpy as np

    return np.array(values, dtype=float)


class _Axis(pg.AxisItem):  # type: ignore[misc]
    """Writes its numbers as the language does."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        point = QLocale().decimalPoint()
        return [text.replace(".", point) for text in super().tickStrings(values, scale, spacing)]


def _plot(name: str, parent: QWidget) -> Any:
    plot = pg.PlotWidget(parent, axisItems={side: _Axis(side) for side in ("left", "bottom")})
    plot.setAccessibleName(name)
    plot.setMinimumHeight(HEIGHT)
    plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    plot.setMouseEnabled(x=False, y=False)
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setAntialiasing(True)
    plot.getAxis("left").setWidth(40)
    return plot
