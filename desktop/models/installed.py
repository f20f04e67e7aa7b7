"""The list of what is installed: load it, import it where it is a GGUF file, check it, remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop.models import words
from desktop.models.details import details
from desktop.models.fit_bar import Fit, Legend
from desktop.models.parts import fit_of, parts, shown
from desktop.models.row import Rows, centred
from desktop.models.same import is_same
from desktop.sentences import filled, sentence
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QHideEvent, QShowEvent

    from desktop.models.row import Row
    from desktop.palette import Palette

Entry = dict[str, Any]
"""A model as the job `library` prints it."""


class Installed(QWidget):
    """``load_wanted`` carries what a model is chosen by, ``import_wanted`` a path; ``unload_wanted`` lets a model go.

    ``remove_wanted`` and ``trust_wanted`` carry an entry.
    """

    load_wanted = Signal(str)
    unload_wanted = Signal()
    import_wanted = Signal(str)
    remove_wanted = Signal(object)
    trust_wanted = Signal(object)
    folder_wanted = Signal()
    file_wanted = Signal()
    watched = Signal(bool)
    """Whether the list is on screen, so that figures are wanted."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] | None = None
        self._loaded = ""
        self._loading = ""
        self._fits: dict[str, dict[str, Any]] | None = None
        self._cards: Callable[[str], Sequence[dict[str, Any]]] = lambda _: ()
        self._opened: set[str] = set()
        self.rows = Rows(self.tr("Installed models"), palette, self)
        self.folder = QPushButton(self.tr("Add a folder…"), self)
        self.file = QPushButton(self.tr("Import a GGUF file…"), self)
        self.folder.clicked.connect(self.folder_wanted)
        self.file.clicked.connect(self.file_wanted)
        head = QWidget(self)
        self.legend = Legend(parts(), palette, self)
        ways = QHBoxLayout()
        ways.setSpacing(8)
        ways.addStretch(1)
        ways.addWidget(self.folder)
        ways.addWidget(self.file)
        above = QVBoxLayout(head)
        above.setContentsMargins(0, 12, 0, 0)
        above.setSpacing(8)
        above.addLayout(ways)
        above.addWidget(self.legend)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(centred(head, self))
        column.addWidget(self.rows, 1)
        self._show()

    @property
    def entries(self) -> list[Entry]:
        """What is installed, as far as it is known."""
        return self._entries or []

    def show_entries(self, entries: list[Entry]) -> None:
        """The list is here, or is another."""
        self._entries = entries
        self._show()

    def show_state(self, loaded: str, loading: str) -> None:
        """Which model is loaded, and which is being loaded, by what they are chosen by."""
        if (loaded, loading) != (self._loaded, self._loading):
            self._loaded, self._loading = loaded, loading
            self._show()

    def show_fits(
        self, fits: dict[str, dict[str, Any]] | None, cards: Callable[[str], Sequence[dict[str, Any]]]
    ) -> None:
        """How each model fits, by what it is chosen by, and what gives the forecasts for cards."""
        self._fits, self._cards = fits, cards
        self._show()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.rows.apply_palette(palette)
        self.legend.apply_palette(palette)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watched.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watched.emit(False)

    def _show(self) -> None:
        if self._entries is None:
            self.rows.say(self.tr("Looking for models…"))
        elif not self._entries:
            self.rows.say(self.tr("There is no model here yet. Discover shows which suit this machine."))
        else:
            self.rows.say("")
        entries = {entry["model"]: entry for entry in self.entries}
        self.legend.setVisible(bool(self._fits))
        self.legend.show_only(shown((self._fits or {}).values()))
        for row, (model, entry) in zip(self.rows.show_keys(list(entries)), entries.items(), strict=True):
            self._fill(row, model, entry)

    def _fill(self, row: Row, model: str, entry: Entry) -> None:
        mark = ""
        is_loaded = is_same(model, self._loaded, entry)
        if is_loaded:
            mark = self.tr("loaded")
        elif is_same(model, self._loading, entry):
            mark = self.tr("loading")
        problem = entry.get("problem")
        trouble = sentence(Notice(problem["id"], problem["values"])) if problem else ""
        is_raw = entry["kind"] == "gguf" and entry["complete"]
        fit = self._fit(model, entry)
        row.show_words(entry["name"], facts(entry), mark, trouble or (fit.said if fit else ""), is_bad=bool(problem))
        row.show_fit(fit)
        is_open = model in self._opened
        row.show_details(details(entry, fit if self._fits else None, self._cards(model)) if is_open else "")
        row.begin()
        if mark:
            row.offer(self.tr("Unload") if is_loaded else self.tr("Stop loading"), self.unload_wanted.emit)
        elif entry["ready"]:
            row.offer(self.tr("Load"), lambda: self.load_wanted.emit(model))
        elif is_raw and not problem:
            row.offer(self.tr("Import"), lambda: self.import_wanted.emit(model))
        elif problem and problem["id"] == "error.remote_code":
            row.offer(self.tr("See its code…"), lambda: self.trust_wanted.emit(entry))
        remove = row.offer(self.tr("Remove"), lambda: self.remove_wanted.emit(entry), is_possible=not mark)
        remove.setToolTip(self.tr("Unload it first.") if mark else "")
        more = row.offer(self.tr("Details"), lambda: self._on_details(model))
        more.setCheckable(True)
        more.setChecked(is_open)
        row.end()

    def _fit(self, model: str, entry: Entry) -> Fit | None:
        """How it fits; while that is being reckoned, its place."""
        if self._fits is not None or not (entry["ready"] or entry["kind"] == "gguf") or entry.get("problem"):
            return fit_of((self._fits or {}).get(model))
        return Fit(self.tr("Reckoning what it takes of the memory…"), 0, (), fits=True)

    def _on_details(self, model: str) -> None:
        self._opened ^= {model}
        self._show()


def facts(entry: Entry) -> str:
    """What is known of an installed model, in one line."""
    parts = [
        words.parameters(entry["parameters"]) if entry["parameters"] else "",
        words.size(entry["size"]) if entry["size"] else "",
        entry["dtype"],
        filled(QCoreApplication.translate("models", "context {count}"), count=entry["context"])
        if entry["context"]
        else "",
        entry["licence"] or "",
        _source(entry),
    ]
    return words.SEPARATOR.join(filter(None, parts))


def _source(entry: Entry) -> str:
    return {
        "starter": QCoreApplication.translate("models", "comes with Borrador"),
        "converted": QCoreApplication.translate("models", "converted here"),
        "hub": QCoreApplication.translate("models", "from the hub"),
        "folder": QCoreApplication.translate("models", "in your folders"),
    }.get(str(entry["source"]), "")
