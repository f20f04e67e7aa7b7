"""One setting of a comparison as a card: who drafts, how far, by which rule, in which mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from desktop.icons import icon
from desktop.speculation.compare_words import drafter_label, mode_label, setting_label
from inference.bench.comparison import ModeName, Setting
from inference.settings import LARGEST_K, RECIPES, RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.palette import Palette

OFF = ""
WITH_TWIN = ("twin", "hybrid", "auto")
"""Drafters for which the twin's recipe matters."""


class Card(QFrame):
    """``changed`` comes when the setting is another, ``removed`` when the card is no longer wanted."""

    changed = Signal()
    removed = Signal()

    def __init__(
        self,
        setting: Setting,
        drafters: Sequence[str],
        modes: Sequence[ModeName],
        palette: Palette,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.title = QLabel(self)
        self.title.setObjectName("figure")
        self.title.setWordWrap(True)
        self.remove = QToolButton(self)
        self.remove.clicked.connect(self.removed)
        self.drafter = _box(
            self.tr("Drafter"), [(self.tr("off"), OFF), *((drafter_label(n), n) for n in drafters)], self
        )
        lengths: list[tuple[str, object]] = [(self.tr("auto"), None), *((str(k), k) for k in range(1, LARGEST_K + 1))]
        self.length = _box(self.tr("Draft length K"), lengths, self)
        rules = {"coupled": self.tr("same text"), "textbook": self.tr("same odds (textbook)")}
        self.rule = _box(self.tr("Rule"), [(rules[name], name) for name in RULES], self)
        self.mode = _box(self.tr("Mode"), [(mode_label(name), name) for name in modes], self)
        recipes = [(self.tr("as loaded"), None), *((name, name) for name in RECIPES if name != "auto")]
        self.recipe = _box(self.tr("Recipe"), recipes, self)
        self.recipe.setToolTip(self.tr("How the self-draft copy is made; one that is not there is made first"))
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.remove)
        form = QFormLayout()
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for label, box in (
            (self.tr("Drafter"), self.drafter),
            (self.tr("K"), self.length),
            (self.tr("Rule"), self.rule),
            (self.tr("Mode"), self.mode),
            (self.tr("Recipe"), self.recipe),
        ):
            form.addRow(label, box)
            box.activated.connect(self._on_changed)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(12, 8, 8, 12)
        whole.addLayout(head)
        whole.addLayout(form)
        self.apply_palette(palette)
        self.show_setting(setting)

    @property
    def setting(self) -> Setting:
        """What is set on the card."""
        mode: ModeName = "exact" if self.mode.currentData() == "exact" else "fast"
        if self.drafter.currentData() == OFF:
            return Setting(mode)
        return Setting(
            mode,
            on=True,
            drafter=self.drafter.currentData(),
            k=self.length.currentData(),
            rule=self.rule.currentData(),
            recipe=self.recipe.currentData() if self.recipe.isEnabled() else None,
        )

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """What can be used on the card, in order."""
        return self.drafter, self.length, self.rule, self.mode, self.recipe, self.remove

    def show_setting(self, setting: Setting) -> None:
        """Set the card. What the model does not have is set too: running it tells why it cannot be had."""
        for box, value in (
            (self.drafter, setting.drafter if setting.on else OFF),
            (self.length, setting.k),
            (self.rule, setting.rule),
            (self.mode, setting.mode),
            (self.recipe, setting.recipe),
        ):
            with QSignalBlocker(box):
                at = next((row for row in range(box.count()) if box.itemData(row) == value), box.count())
                if at == box.count():
                    box.addItem(mode_label(drafter_label(str(value))), value)
                box.setCurrentIndex(at)
        self._show_title()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.remove.setIcon(icon("x", palette.muted))

    def _on_changed(self) -> None:
        self._show_title()
        self.changed.emit()

    def _show_title(self) -> None:
        self.recipe.setEnabled(self.drafter.currentData() in WITH_TWIN)
        setting = self.setting
        self.title.setText(setting_label(setting))
        self.length.setEnabled(setting.on)
        self.rule.setEnabled(setting.on)
        words = self.tr("Remove “{setting}”").format(setting=setting_label(setting))
        self.remove.setAccessibleName(words)
        self.remove.setToolTip(words)


def _box(name: str, items: Sequence[tuple[str, object]], parent: QWidget) -> QComboBox:
    box = QComboBox(parent)
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    for words, value in items:
        box.addItem(words, value)
    return box
