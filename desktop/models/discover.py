"""What can be had: the list of models that suit this program, and a search of the hub by name, licence and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from desktop.models import words
from desktop.models.fit_bar import Legend
from desktop.models.parts import fit_of, parts, shown
from desktop.models.row import Rows, centred
from desktop.sentences import filled, sentence
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.jobs import Job, Jobs
    from desktop.models.row import Row
    from desktop.palette import Palette

Offer = dict[str, Any]
"""A model as the jobs `tested` and `search` print it."""
SIZES = (2e9, 8e9, 20e9)
"""Weights, in bytes, that can be asked for at most."""


class Discover(QWidget):
    """``download_wanted`` carries an offer, ``load_wanted`` what a model is chosen by.

    ``here`` gives what is chosen to load an offer that is installed, or an empty text; ``coming`` whether it is queued.
    """

    download_wanted = Signal(object)
    load_wanted = Signal(str)

    def __init__(self, jobs: Jobs, palette: Palette, here: Callable[[Offer], str], coming: Callable[[Offer], bool],
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._jobs = jobs
        self._here = here
        self._coming = coming
        self._job: Job | None = None
        self._tested: list[Offer] = []
        self._found: list[Offer] | None = None
        self._room: float | None = None
        self._recommended = ""
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(self.tr("Search the hub by name"))
        self.field.setAccessibleName(self.tr("Search the hub by name"))
        self.field.setClearButtonEnabled(True)
        self.field.returnPressed.connect(self.search)
        self.field.textChanged.connect(self._on_text)
        self.button = QPushButton(self.tr("Search"), self)
        self.button.clicked.connect(self.search)
        self.licence = QComboBox(self)
        self.licence.setAccessibleName(self.tr("Licence"))
        self.licence.addItem(self.tr("any licence"), "any")
        self.licence.addItem(self.tr("free for any use"), "free")
        self.largest = QComboBox(self)
        self.largest.setAccessibleName(self.tr("Size"))
        self.largest.addItem(self.tr("any size"), None)
        self.largest.addItem(self.tr("fits this machine"), "fits")
        for most in SIZES:
            self.largest.addItem(filled(self.tr("at most {size}"), size=words.size(most)), most)
        for box in (self.licence, self.largest):
            box.currentIndexChanged.connect(self._show)
        self.rows = Rows(self.tr("Models that can be had"), palette, self)
        head = QWidget(self)
        above = QGridLayout(head)
        above.setContentsMargins(0, 12, 0, 0)
        above.setSpacing(8)
        above.addWidget(self.field, 0, 0)
        above.addWidget(self.button, 0, 1)
        filters = QGridLayout()
        filters.setSpacing(8)
        filters.addWidget(self.licence, 0, 0)
        filters.addWidget(self.largest, 0, 1)
        self.legend = Legend(parts(), palette, self)
        filters.setColumnStretch(2, 1)
        above.addLayout(filters, 1, 0, 1, 2)
        above.addWidget(self.legend, 2, 0, 1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(centred(head, self))
        column.addWidget(self.rows, 1)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.field.setFocus)
        find.setAutoRepeat(False)

    def show_tested(self, offers: list[Offer], recommended: str, room: float | None) -> None:
        """The program's own list; ``room`` is the memory a model may take on this machine, in bytes."""
        self._tested, self._recommended, self._room = offers, recommended, room
        self._show()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.rows.apply_palette(palette)
        self.legend.apply_palette(palette)

    def refresh(self) -> None:
        """What is installed or queued is otherwise than before."""
        self._show()

    def search(self) -> None:
        """Ask the hub; an empty field shows the own list again."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        asked = self.field.text().strip()
        if not asked:
            self._found = None
            self._show()
            return
        job = self._job = self._jobs.job("search", asked)
        job.done.connect(self._on_found)
        job.failed.connect(self._on_failed)
        job.progressed.connect(lambda notice, _: self.rows.say(sentence(notice)))
        job.silent.connect(lambda: self._on_failed(Notice("error.network", {"detail": asked})))
        self.rows.say(sentence(Notice("download.searching", {"words": asked})))
        job.start()

    # Within

    def _on_text(self, text: str) -> None:
        if not text:
            self.search()

    def _on_found(self, event: dict[str, Any]) -> None:
        self._job = None
        self._found = event["models"]
        self._show()

    def _on_failed(self, notice: Notice) -> None:
        self._job = None
        self.rows.say(sentence(notice))

    def _show(self) -> None:
        offers = [offer for offer in (self._tested if self._found is None else self._found) if self._passes(offer)]
        offers.sort(key=lambda offer: offer["repository"] != self._recommended)
        self.legend.setVisible(self._found is None)
        self.legend.show_only(shown(offer["fit"] for offer in offers if offer.get("fit")))
        if self._job is None:
            self.rows.say(self._introduction(len(offers)))
        for row, offer in zip(self.rows.show_keys([offer["repository"] for offer in offers]), offers, strict=True):
            self._fill(row, offer)

    def _introduction(self, count: int) -> str:
        if self._found is None:
            return self.tr("Models that suit Borrador; the bar shows what of the memory each takes.")
        if not self._found:
            return self.tr("The hub knows no model of that name that can be loaded here.")
        if not count:
            return self.tr("The filters leave none of what was found.")
        return filled(self.tr("{count} models, most fetched first"), count=count)

    def _passes(self, offer: Offer) -> bool:
        if self.licence.currentData() == "free" and not offer["free"]:
            return False
        most = self.largest.currentData()
        if most == "fits":
            if offer.get("fit"):
                return bool(offer["fit"]["fits"])
            most = self._room
        return most is None or offer["size"] is None or offer["size"] <= most

    def _fill(self, row: Row, offer: Offer) -> None:
        here = self._here(offer)
        mark = self.tr("for this machine") if offer["repository"] == self._recommended else ""
        fit = fit_of(offer.get("fit"))
        row.show_words(
            offer["name"], self._facts(offer), self.tr("installed") if here else mark, fit.said if fit else ""
        )
        row.show_fit(fit)
        row.begin()
        if here:
            row.offer(self.tr("Load"), lambda: self.load_wanted.emit(here))
        else:
            is_coming = self._coming(offer)
            row.offer(self.tr("Download"), lambda: self.download_wanted.emit(offer), is_possible=not is_coming)
        row.end()

    def _facts(self, offer: Offer) -> str:
        parts = [
            offer["repository"].partition("/")[0],
            words.parameters(offer["parameters"]) if offer["parameters"] else "",
            words.size(offer["size"]) if offer["size"] else "",
            offer["licence"],
            "GGUF" if offer.get("form") == "gguf" else "",
            self.tr("asks you to accept its licence") if offer["gated"] else "",
            self.tr("has heads that draft") if offer.get("heads") else "",
        ]
        return words.SEPARATOR.join(filter(None, parts))
