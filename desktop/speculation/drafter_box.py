"""Which drafter drafts: those the model can have to choose from, the others greyed with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from desktop.sentences import sentence
from desktop.speculation.compare_words import drafter_label
from inference.settings import DRAFTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inference.events import Notice


class DrafterBox(QComboBox):
    """``chosen`` carries the name of the drafter that the user picks."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Drafter"))
        self.setToolTip(self.tr("What drafts, from the next round on"))
        self.setPlaceholderText(self.tr("no drafter"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.setEnabled(False)
        self.activated.connect(lambda index: self.chosen.emit(self.itemData(index)))

    def show_drafters(
        self, offered: Sequence[str], refused: Mapping[str, Notice], current: str, recipes: Sequence[Notice] = ()
    ) -> None:
        """Offer these; those refused stay greyed, with their reasons. ``recipes`` as in Loaded."""
        self.clear()
        for name in reversed(DRAFTERS):
            if name == "none" or (name not in offered and name not in refused):
                continue
            words = drafter_label(name)
            self.addItem(words[:1].upper() + words[1:], name)
            row = self.count() - 1
            if name == "twin" and recipes:
                self.setItemData(row, "\n".join(map(sentence, recipes)), Qt.ItemDataRole.ToolTipRole)
            if name not in offered:
                self.setItemData(row, sentence(refused[name]), Qt.ItemDataRole.ToolTipRole)
                model = self.model()
                if isinstance(model, QStandardItemModel):
                    model.item(row).setEnabled(False)
        about = [self.tr("What drafts, from the next round on"), *map(sentence, recipes)]
        self.setToolTip("\n".join(about))
        self.setCurrentIndex(self.findData(current))
        self.setEnabled(any(name != "none" for name in offered))
