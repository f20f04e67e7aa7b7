"""The menu on the model's name: what is installed, the way to more, and the mode. It only says what was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFileDialog, QMenu

from desktop.models.same import is_same

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QWidget

    from inference.settings import ModelChoice

STARTER = "starter"
MOST = 12
"""So many models the menu holds; the models page holds all."""


def short_name(model: str) -> str:
    """What a model is called by what it is chosen by: without owner, folder and revision."""
    return model.partition("@")[0].replace("\\", "/").rstrip("/").rpartition("/")[2]


class ModelMenu(QMenu):
    """``chosen`` carries the ModelChoice to load, ``unload_wanted`` asks to let the model go.

    ``models_wanted`` and ``hub_wanted`` lead to the models page.
    """

    chosen = Signal(object)
    unload_wanted = Signal()
    models_wanted = Signal()
    hub_wanted = Signal()

    def __init__(self, choice: ModelChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        self._models: list[QAction] = []
        self._rest = self.addSeparator()
        self.unload = self.addAction("", self.unload_wanted.emit)
        self.addAction(self.tr("All models…"), self.models_wanted.emit)
        self.addAction(self.tr("Find more models…"), self.hub_wanted.emit)
        self.addAction(self.tr("Open folder…"), self.ask_for_folder)
        self.addSeparator()
        modes = QActionGroup(self)
        for words, exact in (
            (self.tr("Exact where it costs little"), None),
            (self.tr("Always exact"), True),
            (self.tr("Always fast"), False),
        ):
            action = self._mode(words, exact)
            modes.addAction(action)
        self.show_models([], "")
        self.show_unload("")

    @property
    def choice(self) -> ModelChoice:
        """What was chosen last."""
        return self._choice

    def show_models(self, entries: list[dict[str, Any]], current: str) -> None:
        """Offer what can be loaded, the one at hand marked; the starter is always offered."""
        for action in self._models:
            self.removeAction(action)
            action.deleteLater()
        ready = [entry for entry in entries if entry["ready"]]
        offered = [(str(entry["name"]), str(entry["model"]), is_same(str(entry["model"]), current, entry))
                   for entry in ready[:MOST]]  # fmt: skip
        if not any(model == STARTER for _, model, _ in offered):
            offered.insert(0, (self.tr("Starter model"), STARTER, current == STARTER))
        self._models = [self._model(*one) for one in offered]

    def show_unload(self, words: str) -> None:
        """Offer in these words to let the model go; nothing where there are none."""
        self.unload.setText(words.replace("&", "&&"))
        self.unload.setVisible(bool(words))

    def ask_for_folder(self) -> None:
        """Let the user point at a folder with a model."""
        dialog = QFileDialog(self.parentWidget(), self.tr("Folder of a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.choose)
        dialog.open()

    def choose(self, model: str) -> None:
        """Load a model; the engine says what is wrong with a text that names none."""
        if model.strip():
            self._choose(model=model.strip(), fetch=True)

    def _model(self, name: str, model: str, is_current: bool) -> QAction:
        action = self.addAction(name.replace("&", "&&"))
        action.triggered.connect(lambda: self.choose(model))
        action.setCheckable(True)
        action.setChecked(is_current)
        self.removeAction(action)
        self.insertAction(self._rest, action)
        return action

    def _mode(self, words: str, exact: bool | None) -> QAction:
        action = self.addAction(words, lambda: self._choose(exact=exact))
        action.setCheckable(True)
        action.setChecked(self._choice.exact is exact)
        return action

    def _choose(self, **changes: object) -> None:
        self._choice = replace(self._choice, **changes)  # type: ignore[arg-type]
        self.chosen.emit(self._choice)
