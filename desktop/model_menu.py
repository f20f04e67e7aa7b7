"""The menu on the model's name: which model to load, and in which mode. It only says what was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QWidget

    from inference.settings import ModelChoice

STARTER = "starter"


class ModelMenu(QMenu):
    """``chosen`` carries the ModelChoice to load."""

    chosen = Signal(object)

    def __init__(self, choice: ModelChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        self.addAction(self.tr("Starter model"), lambda: self._choose(model=STARTER))
        self.addAction(self.tr("Open folder…"), self.ask_for_folder)
        self.addAction(self.tr("From the hub…"), self.ask_for_hub_name)
        self.addSeparator()
        modes = QActionGroup(self)
        for words, exact in (
            (self.tr("Exact where it costs little"), None),
            (self.tr("Always exact"), True),
            (self.tr("Always fast"), False),
        ):
            action = self._mode(words, exact)
            modes.addAction(action)

    @property
    def choice(self) -> ModelChoice:
        """What was chosen last."""
        return self._choice

    def ask_for_folder(self) -> None:
        """Let the user point at a folder with a model."""
        dialog = QFileDialog(self.parentWidget(), self.tr("Folder of a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda folder: self._choose(model=folder))
        dialog.open()

    def ask_for_hub_name(self) -> None:
        """Let the user name a model of the hub."""
        dialog = QInputDialog(self.parentWidget())
        dialog.setWindowTitle(self.tr("From the hub"))
        dialog.setLabelText(self.tr("Name of the model, as owner/name or owner/name@revision:"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.choose_hub_name)
        dialog.open()

    def choose_hub_name(self, text: str) -> None:
        """Load ``owner/name[@revision]``; the engine says what is wrong with any other text."""
        if text.strip():
            self._choose(model=text.strip())

    def _mode(self, words: str, exact: bool | None) -> QAction:
        action = self.addAction(words, lambda: self._choose(exact=exact))
        action.setCheckable(True)
        action.setChecked(self._choice.exact is exact)
        return action

    def _choose(self, **changes: object) -> None:
        self._choice = replace(self._choice, **changes)  # type: ignore[arg-type]
        self.chosen.emit(self._choice)
