"""The record of one reply, behind the quiet line under it: every figure, how it was asked for, and what made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from desktop.record import asked_for, noted, seed_of
from desktop.sentences import filled, sentence
from desktop.speculation.compare_table import NOTHING, Row, Table, markdown
from desktop.speculation.compare_words import drafter_label, mode_label, rule_label

if TYPE_CHECKING:
    from desktop.reply import Reply
    from inference.events import Finished, Statistics

translate = QCoreApplication.translate


class ReplyRecord(QDialog):
    """``both_wanted`` and ``rounds_wanted`` carry the reply's number.

    ``seed_kept`` carries the seed with which the chat's next replies are to begin.
    """

    both_wanted = Signal(int)
    rounds_wanted = Signal(int)
    seed_kept = Signal(object)

    def __init__(self, reply: Reply, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Figures of this reply"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._rows = rows_of(reply)
        self.table = Table(self)
        self.table.show_rows([self.tr("Value")], self._rows)
        self.copy = QPushButton(self.tr("Copy figures"), self)
        self.copy.clicked.connect(self.copy_figures)
        self.both = QPushButton(self.tr("Run both"), self)
        self.both.setToolTip(self.tr("The same question with speculation off and on, side by side"))
        self.both.clicked.connect(lambda: self._leave_for(self.both_wanted, reply.turn))
        self.rounds = QPushButton(self.tr("Step by step"), self)
        self.rounds.setEnabled(bool(reply.rounds))
        self.rounds.clicked.connect(lambda: self._leave_for(self.rounds_wanted, reply.turn))
        self.keep_seed = QPushButton(self.tr("Keep this seed"), self)
        self.keep_seed.setToolTip(self.tr("The next replies of this chat begin with this seed"))
        self.keep_seed.setEnabled(seed_of(reply) is not None)
        self.keep_seed.clicked.connect(lambda: self._on_keep_seed(seed_of(reply)))
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        buttons = QHBoxLayout()
        for button in (self.copy, self.keep_seed, self.both, self.rounds):
            buttons.addWidget(button)
        buttons.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setSpacing(12)
        whole.addWidget(_scrolled(self.table, self))
        whole.addLayout(buttons)
        whole.addWidget(self.said)
        self.resize(520, 560)

    def copy_figures(self) -> None:
        """Put the figures on the clipboard, as a Markdown table."""
        QGuiApplication.clipboard().setText(markdown([self.tr("Value")], self._rows))
        self.said.setText(self.tr("The figures are on the clipboard."))

    def _on_keep_seed(self, seed: int | None) -> None:
        self.seed_kept.emit(seed)
        self.keep_seed.setEnabled(False)
        self.said.setText(self.tr("The seed is kept for this chat."))

    def _leave_for(self, signal: object, turn: int) -> None:
        self.accept()
        signal.emit(turn)  # type: ignore[attr-defined]


def rows_of(reply: Reply) -> list[Row]:
    """Every figure of a reply that is over; of one that has none, how it was asked for."""
    rows: list[tuple[str, str]] = []
    if reply.finished is not None:
        rows += _of_finished(reply.finished)
    rows += noted(reply)
    if reply.manner is not None:
        rows += asked_for(reply.manner, seed_of(reply))
    return [Row(name, (value,)) for name, value in rows if value != NOTHING]


def _of_finished(finished: Finished) -> list[tuple[str, str]]:
    figures = finished.statistics
    percent = translate("record", "{percent:.0f} %")
    depths = [
        filled(percent, percent=100 * hits / tests)
        for hits, tests in zip(figures.accepted_by_depth, figures.tested_by_depth, strict=False)
        if tests
    ]
    lengths = [f"K {k}: {count}" for k, count in enumerate(figures.k_histogram) if count]
    accepted = NOTHING if figures.acceptance is None else filled(percent, percent=100 * figures.acceptance)
    counts = translate("record", "{accepted} of {tested} tested, {drafted} drafted")
    return [
        (translate("record", "Ended"), sentence(finished.reason)),
        (translate("record", "Tokens"), str(figures.tokens)),
        (translate("record", "Tokens a second"), _number(figures.tokens_per_second, 1)),
        (translate("record", "Without speculation, about"), _number(figures.plain_tokens_per_second, 1)),
        (translate("record", "First token after, s"), _number(figures.ttft, 2)),
        (translate("record", "Whole reply, s"), _number(figures.seconds, 2)),
        (translate("record", "Prompt, tokens"), _prompt(figures)),
        (translate("record", "Rounds"), str(figures.rounds)),
        (translate("record", "Tokens a round"), _number(figures.tokens_per_round, 2)),
        (translate("record", "Accepted"), accepted),
        (translate("record", "Accepted tokens"), filled(
            counts, accepted=figures.accepted, tested=figures.tested, drafted=figures.drafted
        )),
        (translate("record", "Accepted by depth"), " · ".join(depths) or NOTHING),
        (translate("record", "Rounds by draft length"), " · ".join(lengths) or NOTHING),
        (translate("record", "Draft, ms a round"), _number(figures.draft_ms, 1)),
        (translate("record", "Verify, ms a round"), _number(figures.verify_ms, 1)),
        (translate("record", "Drafter"), drafter_label(figures.drafter)),
        (translate("record", "K"), figures.k),
        (translate("record", "Rule"), rule_label(figures.rule)),
        (translate("record", "Mode"), mode_label(figures.mode)),
        (translate("record", "Model"), figures.model),
        (translate("record", "Device"), f"{figures.device}, {figures.dtype}, {figures.threads}"),
        (translate("record", "Identity"), figures.identity),
        (translate("record", "Versions"), ", ".join(map(" ".join, figures.versions.items())) or NOTHING),
    ]  # fmt: skip


def _prompt(figures: Statistics) -> str:
    words = translate("record", "{count}, of these {reused} still in the cache")
    return filled(words, count=figures.prompt_tokens, reused=figures.reused)


def _number(value: float, decimals: int) -> str:
    return filled(f"{{value:.{decimals}f}}", value=value)


def _scrolled(inside: QWidget, parent: QWidget) -> QWidget:
    area = QScrollArea(parent)
    area.setObjectName("plainScroll")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inside)
    return area
