"""The dialog for text size and sampling. It gives back new preferences; it stores nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression, Qt
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from desktop.settings.preferences import LARGEST_TEXT, SMALLEST_TEXT, Preferences

if TYPE_CHECKING:
    from inference.settings import Sampling


class SettingsDialog(QDialog):
    """Call `chosen` after it was accepted."""

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._before = preferences
        sampling = preferences.sampling
        self.text_size = QSpinBox(self)
        self.text_size.setRange(SMALLEST_TEXT, LARGEST_TEXT)
        self.text_size.setSingleStep(10)
        self.text_size.setSuffix(" %")
        self.text_size.setValue(preferences.text_size)
        self.temperature = _decimal(0, 2, sampling.temperature, self)
        self.temperature.setToolTip(self.tr("0 always takes the likeliest word"))
        self.top_p = _decimal(0.05, 1, sampling.top_p, self)
        self.seed = QLineEdit("" if sampling.seed is None else str(sampling.seed), self)
        self.seed.setPlaceholderText(self.tr("drawn for each reply"))
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,18}"), self.seed))
        self.max_new_tokens = QSpinBox(self)
        self.max_new_tokens.setRange(1, 100_000)
        self.max_new_tokens.setSingleStep(128)
        self.max_new_tokens.setValue(preferences.max_new_tokens)
        self.rule = QComboBox(self)
        self.rule.addItem(self.tr("the same text as without"), "coupled")
        self.rule.addItem(self.tr("the same odds as without (textbook)"), "textbook")
        self.rule.setCurrentIndex(self.rule.findData(preferences.rule))
        self.rule.setToolTip(self.tr("What speculation promises. It counts from the next reply on."))
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout(self)
        form.setSpacing(12)
        form.addRow(self.tr("Text size"), self.text_size)
        form.addRow(self.tr("Temperature"), self.temperature)
        form.addRow(self.tr("Top-p"), self.top_p)
        form.addRow(self.tr("Seed"), self.seed)
        form.addRow(self.tr("Longest reply, in tokens"), self.max_new_tokens)
        form.addRow(self.tr("Speculation keeps"), self.rule)
        form.addRow(buttons)

    def chosen(self) -> Preferences:
        """The preferences as set in the dialog; what it does not show stays."""
        sampling: Sampling = replace(
            self._before.sampling,
            temperature=round(self.temperature.value(), 2),
            top_p=round(self.top_p.value(), 2),
            seed=int(self.seed.text()) if self.seed.text() else None,
        )
        return Preferences(self.text_size.value(), sampling, self.max_new_tokens.value(), self.rule.currentData())


def _decimal(low: float, high: float, value: float, parent: QWidget) -> QDoubleSpinBox:
    box = QDoubleSpinBox(parent)
    box.setRange(low, high)
    box.setSingleStep(0.05)
    box.setDecimals(2)
    box.setValue(value)
    return box
