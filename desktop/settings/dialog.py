"""The dialog for what holds everywhere: text size, what speculation keeps, how new chats ask for replies.

It gives back new preferences; it stores none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QSpinBox, QWidget

from desktop.settings.form import NUMBERS, Form
from desktop.settings.preferences import LARGEST_TEXT, SMALLEST_TEXT, Preferences
from desktop.settings.preset_bar import PresetBar
from desktop.settings.scrolled import lay_out, size_beside
from inference.events import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QSettings, QSize


class SettingsDialog(QDialog):
    """Call `chosen` after it was accepted."""

    def __init__(
        self,
        preferences: Preferences,
        store: QSettings,
        parent: QWidget | None = None,
        *,
        thinking: Sequence[str] = (),
        network: QWidget | None = None,
        cards: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._usual = preferences.usual
        self.text_size = QSpinBox(self)
        self.text_size.setRange(SMALLEST_TEXT, LARGEST_TEXT)
        self.text_size.setSingleStep(10)
        self.text_size.setSuffix(" %")
        self.text_size.setObjectName("number")
        self.text_size.setFixedWidth(NUMBERS)
        self.text_size.lineEdit().setTextMargins(6, 0, 6, 0)
        self.text_size.setValue(preferences.text_size)
        self.rule = QComboBox(self)
        self.rule.addItem(self.tr("the same text as without"), "coupled")
        self.rule.addItem(self.tr("the same odds as without (textbook)"), "textbook")
        self.rule.setCurrentIndex(self.rule.findData(preferences.rule))
        self.rule.setToolTip(self.tr("What speculation promises. It counts from the next reply on."))
        self.rule.setMinimumWidth(80)
        self.card = QComboBox(self)
        for number, name in enumerate(cards):
            self.card.addItem(f"{number}: {name}", number)
        self.card.setCurrentIndex(max(0, self.card.findData(preferences.card)))
        self.card.setToolTip(self.tr("One card computes. Another choice counts from the next start on."))
        self.card.setMinimumWidth(80)
        self._card = preferences.card
        self.form = Form(self)
        self.form.offer_thinking(thinking)
        self.form.show_settings(preferences.usual)
        self.presets = PresetBar(self.form, store, None, self)
        self.presets.show_choice()
        everywhere = QWidget(self)
        rows = QFormLayout(everywhere)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(12)
        rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        rows.addRow(self.tr("Text size"), self.text_size)
        rows.addRow(self.tr("Speculation keeps"), self.rule)
        if len(cards) > 1:
            rows.addRow(self.tr("Graphics card"), self.card)
        else:
            self.card.hide()
        own = self.tr("Chats without settings of their own")
        hub = (self.tr("The hub, from which models come"), network) if network is not None else ()
        lay_out(self, (everywhere, own, self.presets, self.presets.said, self.form, *hub))

    def chosen(self) -> Preferences:
        """The preferences as set in the dialog."""
        card = self._card if self.card.currentData() is None else self.card.currentData()
        return Preferences(self.text_size.value(), self._usual, self.rule.currentData(), card)

    def accept(self) -> None:
        """Close, unless a field holds what cannot be."""
        try:
            self._usual = self.form.settings()
        except Problem as problem:
            self.form.more.setChecked(True)
            self.form.complain(problem)
        else:
            super().accept()

    def sizeHint(self) -> QSize:
        return size_beside(self.parentWidget())
