"""Chooses a preset, and makes, removes, exports and imports them. It changes the form; it stores through QSettings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QInputDialog, QLabel, QMenu, QPushButton, QWidget

from desktop.sentences import filled
from desktop.settings import presets
from desktop.settings.presets import Preset
from inference.events import Problem

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from desktop.settings.chat_settings import ChatSettings
    from desktop.settings.form import Form

KIND = "(*.json)"


class PresetBar(QWidget):
    """``usual`` are the settings for new chats; None where those themselves are being changed."""

    def __init__(self, form: Form, settings: QSettings, usual: ChatSettings | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._form = form
        self._settings = settings
        self._usual = usual
        self.own = presets.stored(settings)
        self.choice = QComboBox(self)
        self.choice.setAccessibleName(self.tr("Preset"))
        self.choice.setPlaceholderText(self.tr("none"))
        self.choice.setMinimumWidth(80)
        self.button = QPushButton(self.tr("Presets"), self)
        menu = QMenu(self.button)
        menu.addAction(self.tr("Save as preset…"), self._ask_for_name)
        self.removal = menu.addAction(self.tr("Remove this preset"), self.remove)
        menu.addSeparator()
        self.export = menu.addAction(self.tr("Export presets…"), self._ask_for_export)
        menu.addAction(self.tr("Import presets…"), self._ask_for_import)
        self.button.setMenu(menu)
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        self.said.setWordWrap(True)
        self.said.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.choice, 1)
        row.addWidget(self.button)
        self.choice.activated.connect(self._on_chosen)
        form.changed.connect(self.show_choice)
        self._fill()

    def show_choice(self) -> None:
        """Name the preset that the form shows, if it is one."""
        try:
            now = self._form.settings()
        except Problem:
            at = -1
        else:
            at = next((index for index, one in enumerate(self._offered()) if one.settings == now), -1)
        self.choice.setCurrentIndex(at)
        self.removal.setEnabled(at >= 0 and self._offered()[at] in self.own)
        self.export.setEnabled(bool(self.own))

    def add(self, name: str) -> None:
        """Keep what the form shows under a name; a preset of the user's with that name is replaced."""
        name = presets.cleaned_name(name)
        if not name:
            return
        try:
            new = Preset(name, self._form.settings())
        except Problem as problem:
            self._form.complain(problem)
            return
        kept = [one for one in self.own if one.name.casefold() != name.casefold()]
        self._keep(presets.joined([*presets.built_in(), *kept], [new])[len(presets.built_in()) :])
        self._say(filled(self.tr("Kept as “{name}”."), name=self.own[-1].name))

    def remove(self) -> None:
        """Remove the preset that is shown."""
        at = self.choice.currentIndex()
        if at >= 0 and (gone := self._offered()[at]) in self.own:
            self._keep([one for one in self.own if one != gone])
            self._say(filled(self.tr("“{name}” is removed; its values are still in the fields."), name=gone.name))

    def export_to(self, path: Path) -> None:
        """Write the user's presets to a file."""
        if not path.suffix:
            path = path.with_suffix(".json")
        try:
            presets.write_file(path, self.own)
        except OSError as error:
            detail = error.strerror or str(error)
            self._say(filled(self.tr("{file} cannot be written: {detail}."), file=path.name, detail=detail))
        else:
            self._say(filled(self.tr("Exported to {file}."), file=path.name))

    def import_from(self, path: Path) -> None:
        """Bring in the presets of a file."""
        try:
            found = presets.read_file(path)
        except presets.Unknown as error:
            words = self.tr("{file} holds no presets of Borrador.")
            if str(error) == "newer":
                words = self.tr("{file} was written by a newer Borrador; update, then import it.")
            self._say(filled(words, file=path.name))
        except OSError as error:
            detail = error.strerror or str(error)
            self._say(filled(self.tr("{file} cannot be read: {detail}."), file=path.name, detail=detail))
        else:
            before = [*presets.built_in(), *self.own]
            whole = presets.joined(before, found)
            self._keep(whole[len(presets.built_in()) :])
            self._say(filled(self.tr("Presets that came in: {count}"), count=len(whole) - len(before)))

    # Within

    def _offered(self) -> list[Preset]:
        first = [] if self._usual is None else [Preset(self.tr("As for new chats"), self._usual)]
        return [*first, *presets.built_in(), *self.own]

    def _fill(self) -> None:
        self.choice.clear()
        self.choice.addItems([one.name for one in self._offered()])
        self.show_choice()

    def _keep(self, own: list[Preset]) -> None:
        self.own = own
        presets.store(self._settings, own)
        self._fill()

    def _say(self, words: str) -> None:
        self.said.setText(words)
        self.said.show()

    def _on_chosen(self, at: int) -> None:
        chosen = self._offered()[at]
        self._form.show_settings(chosen.settings)
        self._form.complain(None)
        self.choice.setCurrentIndex(at)  # another with the same values may stand before it
        self.removal.setEnabled(chosen in self.own)

    def _ask_for_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Save as preset"))
        dialog.setLabelText(self.tr("Name of the preset:"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.add)
        dialog.open()

    def _ask_for_export(self) -> None:
        dialog = QFileDialog(self, self.tr("Export presets"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([f"{self.tr('Presets')} {KIND}"])
        dialog.selectFile("borrador-presets.json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.export_to(Path(name)))
        dialog.open()

    def _ask_for_import(self) -> None:
        dialog = QFileDialog(self, self.tr("Import presets"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([f"{self.tr('Presets')} {KIND}", self.tr("All files (*)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.import_from(Path(name)))
        dialog.open()
