"""The rounds panel: strip, what the pointed round did, live figures, and the switch that colours the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.icons import icon
from desktop.sentences import filled, sentence
from desktop.speculation.drafter_box import DrafterBox
from desktop.speculation.legend import Legend
from desktop.speculation.strip import ROW, Strip
from desktop.speculation.switch import Switch

if TYPE_CHECKING:
    from desktop.palette import Palette
    from desktop.reply import Reply
    from inference.events import Round


class Panel(QFrame):
    """Shows the rounds of one reply. ``pointed`` carries the index of a round, -1 for none.

    ``round_wanted`` carries the reply's turn and the round that is to be laid open.
    """

    pointed = Signal(int)
    compare_wanted = Signal()
    round_wanted = Signal(int, int)
    colour_wanted = Signal(bool)
    close_wanted = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self._reply: Reply | None = None
        self._shown = 0
        title = QLabel(self.tr("Rounds"), self)
        title.setObjectName("heading")
        self.close_button = QToolButton(self)
        self.close_button.setAccessibleName(self.tr("Close the rounds"))
        self.close_button.setToolTip(self.tr("Close the rounds (Ctrl+J)"))
        self.close_button.clicked.connect(self.close_wanted)
        self.strip = Strip(palette, self)
        self.strip.pointed.connect(self._on_pointed)
        self.strip.chosen.connect(self._on_chosen)
        self._scroll = _scroll_area(self.strip, self)
        self._scroll.setMinimumHeight(4 * ROW)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        self._scroll.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._is_following = True
        self.about = QLabel(self)
        self.about.setObjectName("quiet")
        self.about.setWordWrap(True)
        self.about.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.status = QLabel(self)
        self.status.setWordWrap(True)
        self.drafter = DrafterBox(self)
        self.others = Switch(self.tr("Drafts from other chats"), palette, self)
        self.others.setToolTip(
            self.tr(
                "Repeats are found in the chats before this one too, as long as the program runs. "
                "Drafts change no word of an answer; nothing of this is stored."
            )
        )
        self.colour = Switch(self.tr("Colour the text"), palette, self)
        self.colour.toggled.connect(self.colour_wanted)
        self.legend = Legend(palette, self)
        names = ("accepted", "tokens", "rate", "plain", "draft", "verify", "shape")
        self.figures = {name: QLabel("–", self) for name in names}
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.close_button)
        inside = QWidget(self)
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 0, 16, 12)
        column.setSpacing(8)
        column.addWidget(self._scroll, 1)
        column.addWidget(self.about)
        column.addLayout(self._drafter_row())
        column.addWidget(self.others, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(self._grid())
        column.addWidget(self.status)
        column.addWidget(self.colour, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.legend)
        self.compare = QPushButton(self.tr("Compare"), self)
        self.compare.setToolTip(self.tr("Run settings side by side (Ctrl+Shift+C)"))
        self.compare.clicked.connect(self.compare_wanted)
        self.lab = QPushButton(self.tr("Step by step"), self)
        self.lab.setToolTip(self.tr("One round, step by step; Enter does it for the round pointed at"))
        self.lab.clicked.connect(lambda: self._on_chosen(-1))
        ways = QHBoxLayout()
        ways.addWidget(self.compare)
        ways.addWidget(self.lab)
        ways.addStretch(1)
        column.addLayout(ways)
        outer = _scroll_area(inside, self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 12, 0, 0)
        head.setContentsMargins(16, 0, 12, 0)
        whole.addLayout(head)
        whole.addWidget(outer, 1)
        self.apply_palette(palette)
        self.show_reply(None)

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.close_button.setIcon(icon("x", palette.muted))
        for part in (self.strip, self.others, self.colour, self.legend):
            part.apply_palette(palette)

    def show_reply(self, reply: Reply | None) -> None:
        """Show the rounds of this reply from now on."""
        self._reply = reply
        self._shown = 0
        self._is_following = True
        self.strip.clear()
        for name, label in self.figures.items():
            if name != "shape":
                label.setText("–")
        self.status.clear()
        self.lab.setEnabled(False)
        self.refresh()

    def refresh(self) -> None:
        """Take in the rounds that came since."""
        new = self._reply.rounds[self._shown :] if self._reply else []
        if new:
            self._shown += len(new)
            self.strip.add(new)
            self.lab.setEnabled(True)
            self._show_figures(new[-1])
        if len(self.strip.rounds) == len(new):
            self._describe(-1)

    def show_mode(self, mode: str) -> None:
        """Which drafts the mode allows: in exact mode siblings would change the order of sums, and so last bits."""
        chains = mode == "exact"
        self.figures["shape"].setText(self.tr("chains only (exact)") if chains else self.tr("chains and trees"))
        self.figures["shape"].setToolTip(self.tr("In fast mode a draft may branch; in exact mode it never does."))

    def sizeHint(self) -> QSize:
        return QSize(296, 480)

    def _show_figures(self, last: Round) -> None:
        reply = self._reply
        if reply is None:
            return
        say = self.figures
        if last.acceptance is not None:
            say["accepted"].setText(filled("{percent:.0f} %", percent=100 * last.acceptance))
        say["tokens"].setText(filled("{count:.1f}", count=last.tokens_per_round))
        say["rate"].setText(filled(self.tr("{rate:.0f} tok/s"), rate=last.tokens_per_second))
        say["plain"].setText(filled(self.tr("about {rate:.0f} tok/s"), rate=last.plain_tokens_per_second))
        if last.drafted:
            each = last.draft_ms / last.drafted
            say["draft"].setText(filled(self.tr("{each:.1f} ms x {count}"), each=each, count=last.drafted))
        else:
            say["draft"].setText("–")
        say["verify"].setText(filled(self.tr("{ms:.1f} ms"), ms=last.verify_ms))
        self.status.setText(sentence(last.status))

    def _on_chosen(self, index: int) -> None:
        """Ask for a round to be laid open: the one pointed at, else the last with a draft, else the last."""
        rounds = self.strip.rounds
        if self._reply is None or not rounds:
            return
        wanted = index if index >= 0 else next((r.index for r in reversed(rounds) if r.drafted), rounds[-1].index)
        self.round_wanted.emit(self._reply.turn, wanted)

    def _on_pointed(self, index: int) -> None:
        self._describe(index)
        self.pointed.emit(index)
        if index >= 0:
            centre = self.strip.place_of(index).center().toPoint()
            self._scroll.ensureVisible(centre.x(), centre.y(), 10, 20)

    def _describe(self, index: int) -> None:
        shown = next((r for r in self.strip.rounds if r.index == index), None)
        if shown is not None:
            words = self.tr("Round {number}: K {k}, {accepted} of {drafted} accepted.")
            if shown.drafted > shown.k:
                words = self.tr("Round {number}: K {k}, a tree of {drafted}, {accepted} accepted.")
            times = self.tr("Draft {draft:.1f} ms, verify {verify:.1f} ms.")
            counts = filled(words, number=shown.index + 1, k=shown.k, accepted=shown.accepted, drafted=shown.drafted)
            self.about.setText(f"{counts}\n{filled(times, draft=shown.draft_ms, verify=shown.verify_ms)}")
        elif self.strip.rounds:
            self.about.setText(self.tr("Point at a round to see its words."))
        else:
            self.about.setText(self.tr("A round is one draft and its check. The first reply will fill this strip."))

    def _drafter_row(self) -> QHBoxLayout:
        name = QLabel(self.tr("Drafter"), self)
        name.setObjectName("quiet")
        name.setBuddy(self.drafter)
        row = QHBoxLayout()
        row.addWidget(name, 1)
        row.addWidget(self.drafter)
        return row

    def _grid(self) -> QGridLayout:
        names = {
            "accepted": self.tr("Accepted"),
            "tokens": self.tr("Tokens a round"),
            "rate": self.tr("Speed"),
            "plain": self.tr("Without speculation"),
            "draft": self.tr("Draft"),
            "verify": self.tr("Verify"),
            "shape": self.tr("Drafts"),
        }
        grid = QGridLayout()
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        for row, (key, words) in enumerate(names.items()):
            name = QLabel(words, self)
            name.setObjectName("quiet")
            value = self.figures[key]
            value.setAccessibleName(words)
            value.setObjectName("figure")
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1, Qt.AlignmentFlag.AlignRight)
        return grid

    def _on_range_changed(self, _low: int, high: int) -> None:
        if self._is_following:
            self._scroll.verticalScrollBar().setValue(high)

    def _on_scrolled(self, value: int) -> None:
        self._is_following = value >= self._scroll.verticalScrollBar().maximum() - ROW


def _scroll_area(inside: QWidget, parent: QWidget) -> QScrollArea:
    area = QScrollArea(parent)
    area.setObjectName("plainScroll")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAlignment(Qt.AlignmentFlag.AlignTop)
    area.setWidget(inside)
    return area
