"""What is to be compared: the prompts, two to four settings, and how often. It gives a plan; it runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
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
ONE_GROUP = "prompt"
LEAST_CARD = 216
MOST_FROM_FILE = 500
LARGEST_FILE = 20_000_000
MOST_TOKENS = 2**24
DECIMALS = 2
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class _Given:
    """Prompts that came from elsewhere, and what holds for them as long as they are the ones asked."""

    prompts: tuple[Prompt, ...]
    sampling: Sampling
    before: tuple[Message, ...]


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
        self._given: _Given | None = None
        self._from_file: tuple[Prompt, ...] = ()
        self._file_words = ""
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
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setWordWrap(True)
        self.cards = SideBySide(LEAST_CARD, self)
        self.add = QPushButton(self.tr("Add a setting"), self)
        self.add.clicked.connect(lambda: self.add_setting())
        self.repeats = _whole(1, MOST_REPEATS, 3, self)
        self.tokens = _whole(1, MOST_TOKENS, 128, self)
        self.tokens.setSingleStep(32)
        self.temperature = QDoubleSpinBox(self)
        self.temperature.setObjectName("number")
        self.temperature.setRange(0, 10)
        self.temperature.setSingleStep(0.1)
        self.temperature.setDecimals(DECIMALS)
        self.seed = QLineEdit("1", self)
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,18}"), self.seed))
        self.run = QPushButton(self.tr("Run"), self)
        self.run.setObjectName("send")
        self.run.clicked.connect(self.start)
        self._build()
        self.show_settings((Setting("fast"), Setting("exact"), Setting("exact", on=True)))
        self._show_source(ONE)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings on the cards."""
        return tuple(card.setting for card in self._cards)

    def plan(self) -> Plan:
        """What is asked for. Raises Problem."""
        if self._usual is None:
            raise Problem("error.no_model")
        prompts = self._prompts()
        given = self._given if self._given is not None and self._given.prompts == prompts else None
        usual = given.sampling if given is not None else self._usual
        shown = round(self.temperature.value(), DECIMALS)
        return Plan(
            settings=self.settings,
            prompts=prompts,
            sampling=replace(
                usual,
                temperature=usual.temperature if round(usual.temperature, DECIMALS) == shown else shown,
                seed=int(self.seed.text() or "1"),
            ),
            max_new_tokens=self.tokens.value(),
            repeats=self.repeats.value(),
            before=given.before if given is not None else (),
        )

    def start(self) -> None:
        """Ask for the plan to be run, or say why it cannot be; without prompts of a file, ask for one."""
        if self.source.currentData() == FILE and not self._from_file:
            self._ask_for_file()
            return
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
        self._given = _Given(plan.prompts, plan.sampling, plan.before)
        first = plan.prompts[0]
        if plan.prompts == KINDS:
            self._show_source(TWELVE)
        elif len(plan.prompts) == len(first.turns) == 1 and first.group == ONE_GROUP:
            self.prompt.setPlainText(first.turns[0])
            self._show_source(ONE)
        else:
            self._from_file = plan.prompts
            self._file_words = filled(self.tr("Prompts of the record: {count}"), count=len(plan.prompts))
            self._show_source(FILE)
        self._show_how(plan.sampling, plan.max_new_tokens)
        self.repeats.setValue(plan.repeats)
        self.show_settings(plan.settings)

    def show_question(self, question: str, before: tuple[Message, ...], sampling: Sampling, tokens: int) -> None:
        """Compare on one question of a chat, behind the messages before it, sampled as its reply was."""
        self._given = _Given((Prompt(ONE_GROUP, (question,)),), sampling, before)
        self.prompt.setPlainText(question)
        self._show_source(ONE)
        self._show_how(sampling, tokens)

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

    def _prompts(self) -> tuple[Prompt, ...]:
        source = self.source.currentData()
        if source == TWELVE:
            return KINDS
        if source == FILE:
            return self._from_file
        typed = (Prompt(ONE_GROUP, (_plain(self.prompt.toPlainText()),)),)
        given = self._given.prompts if self._given is not None else ()
        is_given = typed == tuple(Prompt(one.group, tuple(map(_plain, one.turns))) for one in given)
        return given if is_given else typed  # to the letter, whatever the field made of it

    def _show_how(self, sampling: Sampling, tokens: int) -> None:
        self.temperature.setValue(sampling.temperature)
        self.seed.setText(str(1 if sampling.seed is None else sampling.seed))
        self.tokens.setValue(tokens)

    def _show_source(self, source: str) -> None:
        self.source.setCurrentIndex(self.source.findData(source))
        self.prompt.setVisible(source == ONE)
        words = ""
        if source == TWELVE:
            words = self.tr("Twelve prompts of twelve kinds: poem, code, translation, summary and more.")
        elif source == FILE:
            hint = self.tr("A text file with a prompt a line, or JSON lines with category and turns.")
            words = self._file_words or hint
        elif self._given is not None and self._given.before:
            words = self.tr("Asked behind the messages of the chat, while the question stays as it is.")
        self.about.setText(words)
        self.about.setVisible(bool(words))

    def _on_source(self) -> None:
        self._show_source(self.source.currentData())
        if self.source.currentData() == FILE:
            self._ask_for_file()

    def _ask_for_file(self) -> None:
        dialog = QFileDialog(self, self.tr("File with prompts"), "", self.tr("Prompts (*.txt *.jsonl);;All files (*)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.take_file)
        dialog.open()

    def take_file(self, name: str) -> None:
        """Take the prompts of a file; where it has none, those taken before stay."""
        file = Path(name)
        try:
            check(file, LARGEST_FILE)
            found = read_prompts(file)
        except Problem as problem:
            self.refused.emit(problem.notice)
            return
        self._from_file = found[:MOST_FROM_FILE]
        words = self.tr("Prompts of {file}: {count}")
        if len(found) > MOST_FROM_FILE:
            words = self.tr("Prompts of {file}: the first {count} of {all}")
        self._file_words = filled(words, count=len(self._from_file), file=file.name, all=len(found))
        self._show_source(FILE)

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
            if isinstance(box, QAbstractSpinBox):
                box.lineEdit().setTextMargins(9, 0, 9, 0)
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


def check(file: Path, most: int) -> None:
    """Raises Problem for what is too large to be read at once, and for a device or pipe, which never ends."""
    detail = ""
    try:
        if not file.is_file() and file.exists():
            detail = translate("compare", "it is no file")
        elif file.stat().st_size > most:
            detail = translate("compare", "it is too large")
    except OSError as error:
        detail = error.strerror or str(error)
    if detail:
        raise Problem("error.file", file=file.name, detail=detail)


def _plain(text: str) -> str:
    return cleaned(text).strip()


def _whole(low: int, high: int, value: int, parent: QWidget) -> QSpinBox:
    box = QSpinBox(parent)
    box.setObjectName("number")
    box.setRange(low, high)
    box.setValue(value)
    return box
