"""Chooses how a model is asked to think, among what its template offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence


class LevelBox(QComboBox):
    """`level` is what is chosen, empty for the template's own way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Thinking"))
        self.offer((), "")

    @property
    def level(self) -> str:
        """What is chosen."""
        return str(self.currentData() or "")

    def offer(self, levels: Sequence[str], level: str) -> None:
        """Offer these levels and show one; one that is not offered is kept all the same."""
        names = {
            "on": self.tr("Think"),
            "off": self.tr("Do not think"),
            "low": self.tr("Think a little"),
            "medium": self.tr("Think"),
            "high": self.tr("Think hard"),
        }
        self.blockSignals(True)
        self.clear()
        self.addItem(self.tr("Think as it likes"), "")
        for one in dict.fromkeys((*levels, level)):
            if one:
                self.addItem(names.get(one, one), one)
        self.setCurrentIndex(self.findData(level))
        self.setEnabled(bool(levels))
        self.setToolTip("" if levels else self.tr("This model's template has no switch for thinking"))
        self.blockSignals(False)
