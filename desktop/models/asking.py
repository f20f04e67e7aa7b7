"""Questions before what cannot be taken back: removing a model, and letting its program code run. Does what is agreed.

Until a yes, nothing is removed and nothing is allowed; the way out is always the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLabel, QMessageBox

from desktop.models.words import size
from desktop.sentences import filled, sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from desktop.jobs import Jobs
    from inference.events import Notice

MOST_FILES = 6


class Asking(QObject):
    """``changed`` comes when what is installed may be otherwise, ``told`` carries a sentence about what was done."""

    changed = Signal()
    told = Signal(str)

    def __init__(self, jobs: Jobs, window: QWidget) -> None:
        super().__init__(window)
        self._jobs = jobs
        self._window = window
        self._asked: set[str] = set()

    def remove(self, entry: dict[str, Any], *, is_listed: bool) -> None:
        """Remove an installed model; one whose folder ``is_listed`` only goes off the list."""
        name = entry["name"]
        if is_listed:
            words = filled(self.tr("Take {name} off the list?"), name=name)
            below = filled(self.tr("Its files stay where they are, in {folder}."), folder=entry["folder"])
            yes = self.tr("Take it off")
        elif entry.get("shared"):  # refused until it is agreed to, with the figures for the question
            self._remove(entry, shared=False)
            return
        else:
            words = filled(self.tr("Remove {name}?"), name=name)
            below = filled(self.tr("This frees {size}."), size=size(entry["size"]))
            yes = self.tr("Remove")
        self._ask(words, below, yes, self.tr("Leave it"), lambda: self._remove(entry, shared=False))

    def trust(self, model: str, name: str, then: Callable[[], object]) -> None:
        """Show what code a model would run; after a yes it may from now on, and ``then`` is done."""
        if model in self._asked:
            return
        self._asked.add(model)
        job = self._jobs.job("trust", model)

        def on_done(event: dict[str, Any]) -> None:
            self._asked.discard(model)
            if event["repository"] is not None:
                self._ask_for_trust(event, name, lambda: self._trust(model, then))

        def on_failed(notice: Notice) -> None:
            self._asked.discard(model)
            self.told.emit(sentence(notice))

        job.done.connect(on_done)
        job.failed.connect(on_failed)
        job.silent.connect(lambda: self._asked.discard(model))
        job.start()

    # Within

    def _remove(self, entry: dict[str, Any], *, shared: bool) -> None:
        job = self._jobs.job("remove", str(entry["model"]), *(["--shared"] if shared else []))
        job.done.connect(lambda event: self._on_removed(entry, event["freed"]))
        job.failed.connect(lambda notice: self._on_not_removed(entry, notice))
        job.start()

    def _on_removed(self, entry: dict[str, Any], freed: float) -> None:
        if freed:
            words = filled(self.tr("{name} was removed; {size} are free now."), name=entry["name"], size=size(freed))
        else:
            words = filled(self.tr("{name} is off the list; its files are where they were."), name=entry["name"])
        self.told.emit(words)
        self.changed.emit()

    def _on_not_removed(self, entry: dict[str, Any], notice: Notice) -> None:
        if notice.id != "error.shared":
            self.told.emit(sentence(notice))
            return
        words = filled(self.tr("Remove {name} for other programs, too?"), name=entry["name"])
        below = filled(
            self.tr("Its files lie in {folder}, where other programs use them as well. Removing them frees {size}."),
            folder=notice.values["folder"], size=size(float(notice.values["size_mb"]) * 1e6),
        )  # fmt: skip
        yes, no = self.tr("Remove them anyway"), self.tr("Leave them")
        self._ask(words, below, yes, no, lambda: self._remove(entry, shared=True))

    def _ask_for_trust(self, event: dict[str, Any], name: str, action: Callable[[], object]) -> None:
        words = filled(self.tr("{name} needs program code of its own. Let it run?"), name=name)
        files = event["files"][:MOST_FILES] + (["…"] if len(event["files"]) > MOST_FILES else [])
        below = filled(
            self.tr(
                "The code comes from {repository}, revision {revision} ({files}). Borrador has not checked it: when "
                "the model is loaded, it can read, change and send whatever you can. Allow it only if you trust its "
                "author. The answer is remembered for this code alone."
            ),
            repository=event["repository"], revision=event["revision"], files=", ".join(files),
        )  # fmt: skip
        self._ask(words, below, self.tr("Allow it"), self.tr("Do not allow it"), action)

    def _trust(self, model: str, then: Callable[[], object]) -> None:
        job = self._jobs.job("trust", model, "--yes")
        job.done.connect(self.changed)
        job.done.connect(lambda _: then())
        job.failed.connect(lambda notice: self.told.emit(sentence(notice)))
        job.start()

    def _ask(self, words: str, below: str, yes: str, no: str, action: Callable[[], object]) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle(self.tr("Models"))
        box.setText(words)
        box.setInformativeText(below)
        for label in box.findChildren(QLabel):  # names are others' texts, not markup
            label.setTextFormat(Qt.TextFormat.PlainText)
        agreed = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
        left = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(left)
        box.setEscapeButton(left)

        def on_finished() -> None:
            if box.clickedButton() is agreed:
                action()
            box.deleteLater()

        box.finished.connect(on_finished)
        box.open()
