"""The fields for how replies are asked for: what is usually wanted at once, the rest behind one button."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop.plain_text import cleaned
from desktop.sentences import sentence
from desktop.settings.chat_settings import ChatSettings
from desktop.settings.level_box import LevelBox
from desktop.settings.lines import as_lines, bias_as_lines, bias_from_lines, from_lines
from inference.settings import Sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QWheelEvent

    from inference.events import Problem

LARGEST_WHOLE = 1_000_000
NUMBERS = 120
NAMES = 180
"""Width of the names, so that the fields of both parts stand below one another."""


class Form(QWidget):
    """``changed`` comes with every change. `settings` is what the fields say."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before = ChatSettings()
        self._levels: tuple[str, ...] = ()
        self.temperature = self._decimal(0, 10, self.tr("0 always takes the likeliest word"))
        self.top_p = self._decimal(0.01, 1, self.tr("Only the likeliest words that together have this share"))
        self.seed = QLineEdit(self)
        self.seed.setPlaceholderText(self.tr("drawn for each reply"))
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,18}"), self.seed))
        self.max_new_tokens = self._whole(1)
        self.max_new_tokens.setSingleStep(128)
        self.thinking = LevelBox(self)
        self.top_k = self._whole(0, self.tr("Only so many of the likeliest words; 0 for all"))
        self.min_p = self._decimal(0, 1, self.tr("Only words with at least this part of the likeliest one's odds"))
        self.repetition_penalty = self._decimal(0.01, 100, self.tr("Makes what came before less likely; 1 is off"))
        self.presence_penalty = self._decimal(-10, 10, self.tr("Against words that the reply already has; 0 is off"))
        self.frequency_penalty = self._decimal(-10, 10, self.tr("The same, for each time they came; 0 is off"))
        self.min_new_tokens = self._whole(0, self.tr("The reply does not end before so many tokens"))
        self.stop = self._lines(self.tr("One text a line; \\n stands for a line break"))
        self.logit_bias = self._lines(self.tr("One a line, as text=value, from -1000 to 1000"))
        self.complaint = QLabel(self)
        self.complaint.setObjectName("complaint")
        self.complaint.setWordWrap(True)
        self.complaint.hide()
        self.more = QPushButton(self.tr("More"), self)
        self.more.setCheckable(True)
        self.beyond = QWidget(self)
        self.beyond.hide()
        self.more.toggled.connect(self.beyond.setVisible)
        self._lay_out()
        for field in (self.seed, self.stop, self.logit_bias):
            field.textChanged.connect(self._on_changed)
        self.thinking.currentIndexChanged.connect(self._on_changed)

    def show_settings(self, settings: ChatSettings) -> None:
        """Put settings into the fields."""
        self._before = settings
        how = settings.sampling
        self.temperature.setValue(how.temperature)
        self.top_p.setValue(how.top_p)
        self.seed.setText("" if how.seed is None else str(how.seed))
        self.max_new_tokens.setValue(settings.max_new_tokens)
        self.top_k.setValue(how.top_k)
        self.min_p.setValue(how.min_p)
        self.repetition_penalty.setValue(how.repetition_penalty)
        self.presence_penalty.setValue(how.presence_penalty)
        self.frequency_penalty.setValue(how.frequency_penalty)
        self.min_new_tokens.setValue(how.min_new_tokens)
        self.stop.setPlainText(as_lines(settings.stop))
        self.logit_bias.setPlainText(bias_as_lines(how.logit_bias))
        self.thinking.offer(self._levels, settings.thinking)
        if self._is_uncommon(settings):
            self.more.setChecked(True)

    def settings(self) -> ChatSettings:
        """What the fields say; a number that was not touched stays as exact as it was. Raises Problem."""
        was = self._before.sampling
        sampling = Sampling(
            temperature=_kept(self.temperature, was.temperature),
            top_k=self.top_k.value(),
            top_p=_kept(self.top_p, was.top_p),
            min_p=_kept(self.min_p, was.min_p),
            repetition_penalty=_kept(self.repetition_penalty, was.repetition_penalty),
            presence_penalty=_kept(self.presence_penalty, was.presence_penalty),
            frequency_penalty=_kept(self.frequency_penalty, was.frequency_penalty),
            seed=int(self.seed.text()) if self.seed.text() else None,
            min_new_tokens=self.min_new_tokens.value(),
            logit_bias=bias_from_lines(cleaned(self.logit_bias.document().toRawText())),
        )
        stop = from_lines(cleaned(self.stop.document().toRawText()))
        return ChatSettings(sampling, self.max_new_tokens.value(), stop, self.thinking.level)

    def complain(self, problem: Problem | None) -> None:
        """Say what is wrong with the fields."""
        self.complaint.setText("" if problem is None else sentence(problem.notice))
        self.complaint.setVisible(problem is not None)

    def offer_thinking(self, levels: Sequence[str]) -> None:
        """The levels of thinking that the model's template knows; without any there is no choice."""
        self._levels = tuple(levels)
        self.thinking.offer(self._levels, self.thinking.level)

    # Within

    def _is_uncommon(self, settings: ChatSettings) -> bool:
        usual = ChatSettings()
        how = settings.sampling
        common = replace(how, temperature=0.7, top_p=usual.sampling.top_p, seed=None)
        return bool(settings.stop) or common != replace(usual.sampling, temperature=0.7)

    def _on_changed(self) -> None:
        self.changed.emit()

    def _decimal(self, low: float, high: float, hint: str) -> QDoubleSpinBox:
        box = _Decimal(self)
        box.setRange(low, high)
        box.setSingleStep(0.05)
        box.setDecimals(2)
        self._dress(box, hint)
        box.valueChanged.connect(self._on_changed)
        return box

    def _whole(self, low: int, hint: str = "") -> QSpinBox:
        box = _Whole(self)
        box.setRange(low, LARGEST_WHOLE)
        self._dress(box, hint)
        box.valueChanged.connect(self._on_changed)
        return box

    def _dress(self, box: QSpinBox | QDoubleSpinBox, hint: str) -> None:
        box.setObjectName("number")
        box.setFixedWidth(NUMBERS)
        box.lineEdit().setTextMargins(6, 0, 6, 0)
        box.setToolTip(hint)

    def _lines(self, hint: str) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setObjectName("lines")
        field.setTabChangesFocus(True)
        field.setPlaceholderText(hint)
        field.setFixedHeight(64)
        return field

    def _lay_out(self) -> None:
        near, far = _rows(), _rows(self.beyond)
        far.setContentsMargins(0, 0, 0, 0)
        for rows, name, field in (
            (near, self.tr("Temperature"), self.temperature),
            (near, self.tr("Top-p"), self.top_p),
            (near, self.tr("Seed"), self.seed),
            (near, self.tr("Longest reply, in tokens"), self.max_new_tokens),
            (near, self.tr("Thinking"), self.thinking),
            (far, self.tr("Top-k"), self.top_k),
            (far, self.tr("Min-p"), self.min_p),
            (far, self.tr("Repetition penalty"), self.repetition_penalty),
            (far, self.tr("Presence penalty"), self.presence_penalty),
            (far, self.tr("Frequency penalty"), self.frequency_penalty),
            (far, self.tr("Shortest reply, in tokens"), self.min_new_tokens),
            (far, self.tr("End the reply at"), self.stop),
            (far, self.tr("Change the odds of"), self.logit_bias),
        ):
            field.setAccessibleName(name)
            label = QLabel(name, self)
            label.setBuddy(field)
            label.setMinimumWidth(NAMES)
            rows.addRow(label, field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(near)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.beyond)
        column.addWidget(self.complaint)


class _Decimal(QDoubleSpinBox):
    """A turn of the wheel over it does not change it: the dialog scrolls instead."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Whole(QSpinBox):
    """A turn of the wheel over it does not change it: the dialog scrolls instead."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def _rows(parent: QWidget | None = None) -> QFormLayout:
    rows = QFormLayout(parent) if parent is not None else QFormLayout()
    rows.setSpacing(12)
    rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    return rows


def _kept(box: QDoubleSpinBox, before: float) -> float:
    value = round(box.value(), 2)
    return before if value == round(before, 2) else value
