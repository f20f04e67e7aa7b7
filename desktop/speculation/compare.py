"""The page that runs settings side by side: setup, columns that stream, result. It asks for runs; it runs nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.sentences import filled, sentence
from desktop.speculation.compare_column import TURNS, Column
from desktop.speculation.compare_result import Result
from desktop.speculation.compare_setup import Setup, check
from desktop.speculation.compare_words import drafter_label, kind_label, mode_label, setting_label
from desktop.speculation.side_by_side import SideBySide, in_order
from inference.bench.comparison import Compared, ComparePhase, RunBegan, RunEnded, RunGrew
from inference.bench.record import read
from inference.events import Notice, Problem

if TYPE_CHECKING:
    from desktop.palette import Palette
    from inference.bench.comparison import CompareEvent, Comparison, Plan, Run

LEAST_COLUMN = 240
LARGEST_RECORD = 200_000_000


class Compare(QWidget):
    """``wanted`` carries the plan to run, ``stop_wanted`` and ``back_wanted`` nothing.

    ``round_wanted`` carries the turn of a run whose rounds are to be laid open.
    """

    wanted = Signal(object)
    stop_wanted = Signal()
    back_wanted = Signal()
    round_wanted = Signal(int)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._roles = palette
        self._plan: Plan | None = None
        self._runs: list[Run] = []
        self._is_own = False
        self.is_running = False
        self.back = QPushButton(self.tr("Back to the chat"), self)
        self.back.setToolTip(self.tr("Back to the chat (Esc)"))
        self.back.clicked.connect(self.back_wanted)
        title = QLabel(self.tr("Compare"), self)
        title.setObjectName("title")
        self.open = QPushButton(self.tr("Open a record…"), self)
        self.open.clicked.connect(self.ask_for_record)
        self.setup = Setup(palette, self)
        self.setup.run_wanted.connect(self.begin)
        self.setup.refused.connect(self.tell)
        self.words = QLabel(self)
        self.words.setObjectName("progress")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Runs done"))
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.clicked.connect(self.stop_wanted)
        self.prompts = QComboBox(self)
        self.prompts.setAccessibleName(self.tr("Prompt shown"))
        self.prompts.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.prompts.setMinimumContentsLength(12)
        self.prompts.activated.connect(self._on_prompt)
        self.rounds = QPushButton(self.tr("One round, step by step"), self)
        self.rounds.setToolTip(self.tr("Lay the rounds of the last setting's reply open"))
        self.rounds.clicked.connect(self._on_rounds)
        self.columns = SideBySide(LEAST_COLUMN, self)
        self.result = Result(palette, self)
        self.result.told.connect(self.tell)
        self.result.said.connect(self._say)
        self._build(title)
        self._show_state()
        QShortcut(
            QKeySequence("Ctrl+Return"), self, self.setup.start, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
        )

    # Commands

    def begin(self, plan: Plan) -> None:
        """Ask for a plan to be run."""
        self._plan = plan
        self._runs = []
        self._is_own = True
        self.is_running = True
        self._show_plan(plan)
        self.bar.setRange(0, plan.runs)
        self.bar.setValue(0)
        self._say(self.tr("Waiting for the engine"))
        self._show_state()
        self.stop.setFocus()
        self.wanted.emit(plan)

    def show_waiting(self) -> None:
        """A reply of the chat comes first."""
        self._say(self.tr("Waiting for the reply in the chat to end; the comparison comes then."))

    def take(self, event: CompareEvent) -> None:
        """Take in what the engine did."""
        if not self.is_running or self._plan is None:
            return
        if isinstance(event, ComparePhase):
            self._say(self._phase(event.notice))
        elif isinstance(event, RunBegan):
            self._on_began(event)
        elif isinstance(event, RunGrew):
            self._column(event.setting).grow(event.text, event.round)
        elif isinstance(event, RunEnded):
            self._runs.append(event.run)
            self.bar.setValue(self.bar.value() + event.is_border)
        elif isinstance(event, Compared):
            self._on_compared(event)

    def show_comparison(self, comparison: Comparison, *, is_own: bool) -> None:
        """Show a comparison that is over; ``is_own`` says that its replies were written since the model was loaded."""
        self._plan, self._runs, self._is_own = comparison.plan, list(comparison.runs), is_own
        self._show_plan(comparison.plan)
        self.result.show_comparison(comparison)
        self._show_texts()
        self._show_state()

    def tell(self, notice: Notice) -> None:
        """Say what went wrong."""
        self._say(self._phase(notice), is_wrong=True)

    def ask_for_record(self) -> None:
        """Let the user choose a record to look at."""
        dialog = QFileDialog(self, self.tr("Open a record"), "", self.tr("Records (*.json)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.open_record)
        dialog.open()

    def open_record(self, name: str) -> None:
        """Show a record that was saved, with its settings on the cards."""
        file = Path(name)
        try:
            check(file, LARGEST_RECORD)
            comparison = read(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            detail = error.strerror if isinstance(error, OSError) and error.strerror else self.tr("it is no text")
            self.tell(Notice("error.file", {"file": file.name, "detail": detail}))
        except Problem as problem:
            self.tell(problem.notice)
        else:
            self.setup.show_plan(comparison.plan)
            self.show_comparison(comparison, is_own=False)
            self._say(filled(self.tr("{file} is shown."), file=file.name))

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self.setup.apply_palette(palette)
        self.result.apply_palette(palette)
        for column in self.columns.parts:
            if isinstance(column, Column):
                column.apply_palette(palette)

    # Within

    def _on_began(self, event: RunBegan) -> None:
        if self._plan is None:
            return
        words = self.tr("Run {number} of {total}: {setting}, prompt {prompt}, repeat {repeat}")
        setting = setting_label(self._plan.settings[event.setting])
        self._say(
            filled(
                words, number=event.number, total=event.total, setting=setting,
                prompt=event.prompt + 1, repeat=event.repeat + 1,
            )
        )  # fmt: skip
        if self.prompts.currentIndex() != event.prompt:
            self.prompts.setCurrentIndex(event.prompt)
            self._show_texts()
        if event.step == 0:
            self._column(event.setting).begin()

    def _on_compared(self, event: Compared) -> None:
        self.is_running = False
        comparison = event.comparison
        if len(comparison.runs) < len(self._runs):  # the engine lost what was told before
            comparison = replace(comparison, runs=tuple(self._runs))
        self._plan = comparison.plan
        self._runs = list(comparison.runs)
        if self._runs:
            self.result.show_comparison(comparison, self.prompts.currentIndex())
        self._show_texts()
        self._show_state()
        if event.failure is not None:
            self.tell(event.failure)
        elif comparison.is_whole:
            self._say(self.tr("Done."))
        else:
            self._say(self.tr("Stopped; what was measured is kept."))
        (self.result.copy if self._runs else self.setup.run).setFocus()

    def _on_prompt(self) -> None:
        self._show_texts()
        self.result.show_prompt(self.prompts.currentIndex())

    def _on_rounds(self) -> None:
        shown = [run for run in self._runs if run.prompt == self.prompts.currentIndex()]
        drafted = [run for run in shown if any(one.drafted for one in run.rounds)]
        for run in (drafted or shown)[-1:]:
            self.round_wanted.emit(run.turn)

    def _show_plan(self, plan: Plan) -> None:
        self.columns.show_parts([Column(setting, self._roles, self) for setting in plan.settings])
        texts = [part.text for part in self.columns.parts if isinstance(part, Column)]
        in_order(self.setup.run, self.stop, self.prompts, self.rounds, *texts, *self.result.controls)
        self.prompts.clear()
        for at, prompt in enumerate(plan.prompts):
            kind = kind_label(prompt.group)
            name = prompt.turns[0][:60] if prompt.group in ("prompt", "prompts") else kind
            self.prompts.addItem(f"{at + 1}. {name}")

    def _show_texts(self) -> None:
        """The first repeat of the prompt chosen, all its turns, in every column."""
        if self._plan is None:
            return
        prompt = self.prompts.currentIndex()
        for at in range(len(self._plan.settings)):
            reference = self._plan.reference(at)
            other = None if reference is None else [run.text for run in self._first(reference, prompt)]
            self._column(at).show_runs(self._first(at, prompt), None if other is None else TURNS.join(other))

    def _first(self, setting: int, prompt: int) -> list[Run]:
        """The first repeat of a prompt, all its turns."""
        return [run for run in self._runs if (run.setting, run.prompt, run.repeat) == (setting, prompt, 0)]

    def _column(self, at: int) -> Column:
        column = self.columns.parts[at]
        assert isinstance(column, Column)
        return column

    def _phase(self, notice: Notice) -> str:
        """A sentence in which settings, drafters and modes are called as on the cards."""
        settings = (*self.setup.settings, *(self._plan.settings if self._plan is not None else ()))
        labels = {one.name: setting_label(one) for one in settings}
        labels |= {one.drafter: drafter_label(one.drafter) for one in settings if one.on}
        labels |= {mode: mode_label(mode) for mode in ("exact", "fast")}
        told = {"setting", "drafter", "mode"} & notice.values.keys()
        named = {name: labels.get(str(notice.values[name]), notice.values[name]) for name in told}
        return sentence(Notice(notice.id, {**notice.values, **named}))

    def _say(self, words: str, *, is_wrong: bool = False) -> None:
        self.words.setText(words)
        self.words.setProperty("failed", is_wrong)
        self.words.style().unpolish(self.words)
        self.words.style().polish(self.words)
        self.words.setVisible(bool(words))

    def _show_state(self) -> None:
        is_over = bool(self._runs) and not self.is_running
        self.setup.setEnabled(not self.is_running)
        self.open.setEnabled(not self.is_running)
        self.bar.setVisible(self.is_running)
        self.stop.setVisible(self.is_running)
        self.columns.setVisible(self._plan is not None)
        self.prompts.setVisible(self._plan is not None and len(self._plan.prompts) > 1)
        self.prompts.setEnabled(not self.is_running)
        self.rounds.setVisible(is_over and self._is_own)
        self.result.setVisible(is_over)

    def _build(self, title: QLabel) -> None:
        head = QHBoxLayout()
        head.addWidget(self.back)
        head.addWidget(title, 1)
        head.addWidget(self.open)
        progress = QHBoxLayout()
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.stop)
        shown = QHBoxLayout()
        shown.addWidget(self.prompts)
        shown.addWidget(self.rounds)
        shown.addStretch(1)
        inside = QWidget(self)
        inside.setObjectName("page")
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(self.setup)
        column.addWidget(self.words)
        column.addLayout(progress)
        column.addLayout(shown)
        column.addWidget(self.columns)
        column.addWidget(self.result)
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
