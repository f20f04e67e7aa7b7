"""One round, step by step: the draft, what both models saw at each place, what was decided and why, under either rule.

It shows what it is given and asks for other rounds; the engine lays them open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.sentences import filled, sentence
from desktop.speculation.compare_words import drafter_label
from desktop.speculation.lab_candidates import Candidates
from desktop.speculation.lab_draft import DraftView, shown
from desktop.speculation.legend import Legend
from desktop.speculation.side_by_side import SideBySide
from inference.explained import Explained, ExplainFailed

if TYPE_CHECKING:
    from desktop.palette import Palette
    from inference.explained import Decision

EVERY_MS = 1400
"""Between two steps while it plays."""
LEAST = 330


class Lab(QWidget):
    """``wanted`` carries the turn and the round to be laid open."""

    wanted = Signal(int, int)
    back_wanted = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._round: Explained | None = None
        self._asked: tuple[int, int] | None = None
        self._step = 0
        self._playing = QTimer(self)
        self._playing.setInterval(EVERY_MS)
        self._playing.timeout.connect(self._on_time)
        self.back = QPushButton(self.tr("Back to the chat"), self)
        self.back.setToolTip(self.tr("Back to the chat (Esc)"))
        self.back.clicked.connect(self.back_wanted)
        self.before = QPushButton(self.tr("Earlier round"), self)
        self.before.clicked.connect(lambda: self._ask_for(-1))
        self.after = QPushButton(self.tr("Later round"), self)
        self.after.clicked.connect(lambda: self._ask_for(1))
        self.place = QLabel(self)
        self.place.setObjectName("figure")
        self.rule = QComboBox(self)
        self.rule.setAccessibleName(self.tr("Rule"))
        self.rule.addItem(self.tr("Same text (coupled rule)"), "coupled")
        self.rule.addItem(self.tr("Same odds (textbook rule)"), "textbook")
        self.rule.activated.connect(lambda: self._go_to(0))
        self.about = _line("quiet", self)
        self.context = _line("quiet", self)
        self.draft = DraftView(palette, self)
        self.draft.stepped.connect(self.step)
        self.back_step = QPushButton(self.tr("Step back"), self)
        self.back_step.clicked.connect(lambda: self.step(-1))
        self.next_step = QPushButton(self.tr("Next step"), self)
        self.next_step.setObjectName("send")
        self.next_step.clicked.connect(lambda: self.step(1))
        self.play = QPushButton(self.tr("Play"), self)
        self.play.setCheckable(True)
        self.play.toggled.connect(self._on_play)
        self.count = QLabel(self)
        self.why = _line("heading", self)
        self.target = Candidates(self.tr("The target sees"), palette, self, with_noise=True)
        self.drafter = Candidates(self.tr("The drafter saw"), palette, self, with_noise=False)
        self.sides = SideBySide(LEAST, self)
        self.sides.show_parts((self.target, self.drafter))
        self.legend = Legend(palette, self)
        self._build()
        self._show()

    # Commands

    def ask(self, turn: int, index: int) -> None:
        """Ask for a round, and say so until it is there."""
        self._asked = (turn, index)
        self._round = None
        self._show()
        self.why.setText(self.tr("The round is run again"))
        self.wanted.emit(turn, index)

    def show_waiting(self) -> None:
        """Something else is done before."""
        self.why.setText(self.tr("Waiting for the engine to be free"))

    def take(self, event: Explained | ExplainFailed) -> None:
        """A round was laid open, or could not be; one that is no longer asked for is dropped."""
        if (event.turn, event.round) != self._asked:
            return
        if isinstance(event, ExplainFailed):
            self.why.setText(sentence(event.notice))
            return
        self._round = event
        self.rule.setCurrentIndex(self.rule.findData(event.rule))
        self._go_to(0)
        self.draft.setFocus()

    def step(self, by: int) -> None:
        """Go a step on or back."""
        self._go_to(self._step + by)

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        for part in (self.draft, self.target, self.drafter, self.legend):
            part.apply_palette(palette)

    # Within

    @property
    def _walk(self) -> tuple[Decision, ...]:
        return self._round.walks.get(self.rule.currentData(), ()) if self._round is not None else ()

    def _go_to(self, step: int) -> None:
        self._step = max(0, min(len(self._walk), step))
        self._show()

    def _ask_for(self, by: int) -> None:
        if self._asked is not None:
            self.ask(self._asked[0], self._asked[1] + by)

    def _on_play(self, is_on: bool) -> None:
        if is_on and self._step >= len(self._walk):
            self._go_to(0)
        (self._playing.start if is_on else self._playing.stop)()

    def _on_time(self) -> None:
        self.step(1)
        if self._step >= len(self._walk):
            self.play.setChecked(False)

    def _show(self) -> None:
        found, walk = self._round, self._walk
        is_there = found is not None
        for part in (self.rule, self.play, self.back_step, self.next_step):
            part.setEnabled(is_there)
        self.before.setEnabled(self._asked is not None and self._asked[1] > 0)
        self.after.setEnabled(found is not None and found.round < found.rounds - 1)
        self.next_step.setEnabled(is_there and self._step < len(walk))
        self.back_step.setEnabled(is_there and self._step > 0)
        self.draft.show_round(found, walk, self._step)
        bar = self._holder.horizontalScrollBar().sizeHint().height()
        self._holder.setFixedHeight(self.draft.height() + bar + 2)
        self.legend.setVisible(is_there)
        self.sides.setVisible(is_there)
        if found is None:
            number = "" if self._asked is None else filled(self.tr("Round {number}"), number=self._asked[1] + 1)
            self.place.setText(number)
            for label in (self.about, self.context, self.count):
                label.setText("")
            return
        self.place.setText(filled(self.tr("Round {number} of {count}"), number=found.round + 1, count=found.rounds))
        self.about.setText(self._about(found))
        self.context.setText("… " + shown_line(found.context))
        self.count.setText(filled(self.tr("Step {step} of {count}"), step=self._step, count=len(walk)))
        self._show_place(found, walk)

    def _show_place(self, found: Explained, walk: tuple[Decision, ...]) -> None:
        """The candidates at the place of the decision just made, or of the first to come."""
        at = walk[max(0, self._step - 1)] if walk else None
        if at is None:
            return
        place = next(one for one in found.places if one.node == at.node)
        drafted = {one.token for one in found.places if one.parent == at.node and one.node != at.node}
        chosen = at.token if self._step else None
        self.target.show_candidates(place.target, drafted, chosen)
        self.drafter.show_candidates(place.drafter, drafted, None)
        self.drafter.setVisible(bool(place.drafter))
        if self._step:
            words = sentence(at.why)
        elif drafted:
            tokens = ", ".join(f"“{shown(one.text)}”" for one in found.places if one.node != -1)
            words = filled(self.tr("The draft: {tokens}. Now the target checks all of it in one pass."), tokens=tokens)
        else:
            words = self.tr("Nothing was drafted in this round; the target takes a step of its own.")
        if self._step == len(walk):
            words += " " + filled(self.tr("The round wrote {count} tokens."), count=len(walk))
        self.why.setText(words)

    def _about(self, found: Explained) -> str:
        rules = {"coupled": self.tr("written by the coupled rule"), "textbook": self.tr("written by the textbook rule")}
        parts = [
            drafter_label(found.drafter) if found.drafter != "none" else self.tr("no draft"),
            f"K {found.k}",
            self.tr("exact") if found.mode == "exact" else self.tr("fast"),
            self.tr("greedy") if found.temperature == 0
            else filled(self.tr("temperature {value:.2f}"), value=found.temperature),
            rules[found.rule],
        ]  # fmt: skip
        if not found.is_same:
            parts.append(self.tr("run again, a near tie fell otherwise than then"))
        return " · ".join(parts)

    def _build(self) -> None:
        title = QLabel(self.tr("One round, step by step"), self)
        title.setObjectName("title")
        inside = QWidget(self)
        inside.setObjectName("page")
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(_row(self.back, title, stretch=True))
        column.addLayout(_row(self.before, self.place, self.after, stretch=True))
        column.addLayout(_row(self.rule, stretch=True))
        for label in (self.about, self.context):
            column.addWidget(label)
        holder = QScrollArea(self)
        holder.setObjectName("pageScroll")
        holder.setFrameShape(QFrame.Shape.NoFrame)
        holder.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder.setWidget(self.draft)
        self._holder = holder
        column.addWidget(holder)
        column.addWidget(self.legend)
        column.addLayout(_row(self.back_step, self.next_step, self.play, self.count, stretch=True))
        column.addWidget(self.why)
        column.addWidget(self.sides)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setObjectName("pageScroll")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)


def shown_line(text: str) -> str:
    """Text on one line."""
    return text.replace("\n", "⏎")


def _line(name: str, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def _row(*parts: QWidget, stretch: bool) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part)
    if stretch:
        row.addStretch(1)
    return row
