"""What is to be compared: the prompts, two to four settings, and how often. It gives a plan; it runs nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop.plain_text import cleaned
from desktop.sentences import filled
from desktop.speculation.compare_card import Card
from desktop.speculation.side_by_side import SideBySide, in_order
from inference.bench.comparison import FEWEST, MOST, MOST_REPEATS, ModeName, Plan, Setting
from inference.bench.kinds import KINDS
from inference.bench.prompts import Prompt, read_prompts
from inference.events import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.palette import Palette
    from inference.events import Loaded
    from inference.settings import Message, Sampling

ONE, TWELVE, FILE = "one", "twelve", "file"
LEAST_CARD = 216
MOST_FROM_FILE = 500


class Setup(QWidget):
    """``run_wanted`` carries the plan, ``refused`` the notice of why there is none."""

    run_wanted = Signal(object)
    refused = Signal(object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._roles = palette
        self._drafters: tuple[str, ...] = ("twin", "ngram")
        self._modes: tuple[ModeName, ...] = ("exact", "fast")
        self._usual: Sampling | None = None
        self._before: tuple[Message, ...] = ()
        self._asked = ""
        self._from_file: tuple[Prompt, ...] = ()
        self.source = QComboBox(self)
        self.source.setAccessibleName(self.tr("Prompts"))
        for words, name in (
            (self.tr("One prompt"), ONE),
            (self.tr("Twelve kinds"), TWELVE),
            (self.tr("From a file…"), FILE),
        ):
            self.source.addItem(words, name)
        self.source.activated.connect(self._on_source)
        self.source.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.prompt = QPlainTextEdit(self)
        self.prompt.setObjectName("prompt")
        self.prompt.setAccessibleName(self.tr("Prompt"))
        self.prompt.setPlaceholderText(self.tr("What all settings should answer"))
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 16)
        self.about = QLabel(self)
        self.about.setObjectName("quiet")
        self.about.setWordWrap(True)
        self.cards = SideBySide(LEAST_CARD, self)
        self.add = QPushButton(self.tr("Add a setting"), self)
        self.add.clicked.connect(lambda: self.add_setting())
        self.repeats = _whole(1, MOST_REPEATS, 3, self)
        self.tokens = _whole(8, 8192, 128, self)
        self.tokens.setSingleStep(32)
        self.temperature = QDoubleSpinBox(self)
        self.temperature.setObjectName("number")
        self.temperature.setRange(0, 2)
        self.temperature.setSingleStep(0.1)
        self.temperature.setDecimals(2)
        self.seed = QLineEdit("1", self)
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,18}"), self.seed))
        self.run = QPushButton(self.tr("Run"), self)
        self.run.setObjectName("send")
        self.run.clicked.connect(self.start)
        self._build()
        self.show_settings((Setting("fast"), Setting("exact"), Setting("exact", on=True)))
        self._on_source()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings on the cards."""
        return tuple(card.setting for card in self._cards)

    def plan(self) -> Plan:
        """What is asked for. Raises Problem."""
        if self._usual is None:
            raise Problem("error.no_model")
        seed = int(self.seed.text() or "1")
        return Plan(
            settings=self.settings,
            prompts=self._prompts(),
            sampling=replace(self._usual, temperature=round(self.temperature.value(), 2), seed=seed),
            max_new_tokens=self.tokens.value(),
            repeats=self.repeats.value(),
            before=self._before if self.is_about_a_reply else (),
        )

    @property
    def is_about_a_reply(self) -> bool:
        """Whether the one prompt is still the question that came with a chat before it."""
        return self.source.currentData() == ONE and bool(self._asked) and self._typed() == self._asked

    def start(self) -> None:
        """Ask for the plan to be run, or say why it cannot be."""
        try:
            plan = self.plan()
        except Problem as problem:
            self.refused.emit(problem.notice)
        else:
            self.run_wanted.emit(plan)

    def show_model(self, loaded: Loaded | None, usual: Sampling) -> None:
        """Offer what the loaded model can do; None takes the button away."""
        self._usual = usual if loaded is not None else None
        self.run.setEnabled(loaded is not None)
        if loaded is None:
            return
        drafters = tuple(name for name in loaded.drafters if name != "none")
        has_exact = loaded.mode == "exact" or loaded.mode_notice.id == "exact.off_cost"
        modes: tuple[ModeName, ...] = ("exact", "fast") if has_exact else ("fast",)
        if (drafters, modes) != (self._drafters, self._modes):
            before = self.settings
            self._drafters, self._modes = drafters, modes
            self.show_settings(self._offered(before))

    def show_settings(self, settings: Sequence[Setting]) -> None:
        """Put these on the cards."""
        self._cards = [self._card(setting) for setting in settings[:MOST]]
        self._show_cards()

    def show_plan(self, plan: Plan) -> None:
        """Put everything as it was in a plan, so that it can be run again."""
        if plan.prompts == KINDS:
            self.source.setCurrentIndex(self.source.findData(TWELVE))
            self._on_source()
        elif len(plan.prompts) == 1 and len(plan.prompts[0].turns) == 1:
            self.show_question(plan.prompts[0].turns[0], plan.before, plan.sampling, plan.max_new_tokens)
        else:
            self.source.setCurrentIndex(self.source.findData(FILE))
            self.prompt.hide()
            self._from_file = plan.prompts
            self.about.setText(filled(self.tr("{count} prompts of the record"), count=len(plan.prompts)))
            self.about.show()
        self._usual = plan.sampling if self._usual is not None else None
        self.temperature.setValue(plan.sampling.temperature)
        self.seed.setText(str(1 if plan.sampling.seed is None else plan.sampling.seed))
        self.tokens.setValue(plan.max_new_tokens)
        self.repeats.setValue(plan.repeats)
        self.show_settings(plan.settings)

    def show_question(self, question: str, before: tuple[Message, ...], sampling: Sampling, tokens: int) -> None:
        """Compare on one question of a chat, behind the messages before it, sampled as its reply was."""
        self.source.setCurrentIndex(self.source.findData(ONE))
        self.prompt.setPlainText(question)
        self._asked, self._before = question, before
        self.temperature.setValue(sampling.temperature)
        self.seed.setText(str(sampling.seed if sampling.seed is not None else 1))
        self.tokens.setValue(tokens)
        self._usual = sampling if self._usual is not None else None
        self._on_source()

    def add_setting(self, setting: Setting | None = None) -> None:
        """One more card, of the first setting that is not there yet."""
        if len(self._cards) >= MOST:
            return
        mode: ModeName = self._modes[0]
        drafter = self._drafters[0] if self._drafters else "twin"
        offers = [setting] if setting else [Setting(mode, on=True, drafter=drafter, k=k) for k in (None, 2, 3, 4, 1)]
        new = next((one for one in offers if one not in self.settings), offers[0])
        self._cards.append(self._card(new))
        self._show_cards()
        self._cards[-1].drafter.setFocus()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        for card in self._cards:
            card.apply_palette(palette)

    def _offered(self, settings: Sequence[Setting]) -> list[Setting]:
        """The same with what this model does not have replaced, none twice, two at least."""
        found: list[Setting] = []
        drafter = self._drafters[0] if self._drafters else ""
        for setting in settings:
            one = setting if setting.mode in self._modes else replace(setting, mode=self._modes[0])
            if one.on and one.drafter not in self._drafters:
                one = replace(one, drafter=drafter) if drafter else replace(one, on=False)
            if one not in found:
                found.append(one)
        if len(found) < FEWEST and drafter:
            found.append(Setting(self._modes[0], on=True, drafter=drafter))
        return found

    def _card(self, setting: Setting) -> Card:
        card = Card(setting, self._drafters, self._modes, self._roles, self)
        card.removed.connect(lambda: self._on_removed(card))
        return card

    def _on_removed(self, card: Card) -> None:
        self._cards.remove(card)
        self._show_cards()
        self._cards[-1].drafter.setFocus()

    def _show_cards(self) -> None:
        self.cards.show_parts(self._cards)
        self.add.setEnabled(len(self._cards) < MOST)
        for card in self._cards:
            card.remove.setVisible(len(self._cards) > FEWEST)
        in_order(
            self.source, self.prompt,
            *(part for card in self._cards for part in card.parts),
            self.repeats, self.tokens, self.temperature, self.seed, self.add, self.run,
        )  # fmt: skip

    def _typed(self) -> str:
        return cleaned(self.prompt.toPlainText()).strip()

    def _prompts(self) -> tuple[Prompt, ...]:
        source = self.source.currentData()
        if source == TWELVE:
            return KINDS
        if source == FILE:
            return self._from_file
        return (Prompt("prompt", (self._typed(),)),)

    def _on_source(self) -> None:
        source = self.source.currentData()
        self.prompt.setVisible(source == ONE)
        if source == TWELVE:
            self.about.setText(self.tr("Twelve prompts of twelve kinds: poem, code, translation, summary and more."))
        elif source == FILE:
            self._ask_for_file()
        elif self._before and self._asked:
            self.about.setText(self.tr("Asked behind the messages of the chat, while the question stays as it is."))
        else:
            self.about.setText("")
        self.about.setVisible(bool(self.about.text()))

    def _ask_for_file(self) -> None:
        self.about.setText(self.tr("A text file with a prompt a line, or JSON lines with category and turns."))
        dialog = QFileDialog(self, self.tr("File with prompts"), "", self.tr("Prompts (*.txt *.jsonl);;All files (*)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.take_file)
        dialog.open()

    def take_file(self, name: str) -> None:
        """Take the prompts of a file."""
        try:
            self._from_file = read_prompts(Path(name))[:MOST_FROM_FILE]
        except Problem as problem:
            self.refused.emit(problem.notice)
            return
        words = self.tr("{count} prompts from {file}")
        self.about.setText(filled(words, count=len(self._from_file), file=Path(name).name))

    def _build(self) -> None:
        fields = QGridLayout()
        fields.setHorizontalSpacing(8)
        fields.setVerticalSpacing(4)
        for at, (words, box) in enumerate(
            (
                (self.tr("Repeats"), self.repeats),
                (self.tr("Tokens at most"), self.tokens),
                (self.tr("Temperature"), self.temperature),
                (self.tr("Seed"), self.seed),
            )
        ):
            label = QLabel(words, self)
            label.setObjectName("quiet")
            label.setBuddy(box)
            box.setAccessibleName(words)
            box.setMinimumHeight(self.source.sizeHint().height())
            box.setMaximumWidth(160)
            fields.addWidget(label, 0, at)
            fields.addWidget(box, 1, at)
            fields.setColumnStretch(at, 1)
        fields.setColumnStretch(4, 2)
        top = QHBoxLayout()
        top.addWidget(self.source)
        top.addWidget(self.about, 1)
        top.addStretch(0)
        end = QHBoxLayout()
        end.addWidget(self.add)
        end.addStretch(1)
        end.addWidget(self.run)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(12)
        whole.addLayout(top)
        whole.addWidget(self.prompt)
        whole.addWidget(self.cards)
        whole.addLayout(fields)
        whole.addLayout(end)


def _whole(low: int, high: int, value: int, parent: QWidget) -> QSpinBox:
    box = QSpinBox(parent)
    box.setObjectName("number")
    box.setRange(low, high)
    box.setValue(value)
    return box
