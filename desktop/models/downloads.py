"""The list of what is being fetched or imported, has failed, or has arrived. It shows the queue and asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QInputDialog, QMessageBox, QVBoxLayout, QWidget

from desktop.models import words
from desktop.models.item import Item, State
from desktop.models.row import Rows
from desktop.sentences import filled, sentence

if TYPE_CHECKING:
    from desktop.models.queue import Queue
    from desktop.models.row import Row
    from desktop.palette import Palette


class Downloads(QWidget):
    """``load_wanted`` carries what a model is chosen by, ``changed`` how many are under way."""

    load_wanted = Signal(str)
    changed = Signal(int)

    def __init__(self, queue: Queue, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self.rows = Rows(self.tr("Downloads"), palette, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.addWidget(self.rows)
        queue.listed.connect(self._show)
        queue.changed.connect(self._on_changed)
        self._show()

    def refresh(self) -> None:
        """Show the queue as it is now."""
        self._show()

    def _show(self) -> None:
        items = self._queue.items
        self.rows.say("" if items else self.tr("Nothing is being fetched. What you download shows here."))
        for row, item in zip(self.rows.show_keys([item.key for item in items]), items, strict=True):
            self._fill(row, item)
        self._count()

    def _on_changed(self, item: Item) -> None:
        row = self.rows.row(item.key)
        if row is not None:
            self._fill(row, item)
        self._count()

    def _count(self) -> None:
        going = (State.WAITING, State.RUNNING)
        self.changed.emit(sum(item.state in going for item in self._queue.items))

    def _fill(self, row: Row, item: Item) -> None:
        queue, is_failed = self._queue, item.state is State.FAILED
        facts = words.transfer(item.done, item.size, item.speed, item.seconds_left) if item.size else ""
        row.show_words(item.name, facts, self._mark(item), self._notice(item), is_bad=is_failed)
        fraction = item.fraction if item.state is State.RUNNING else item.done / item.size if item.size else 0.0
        row.show_progress(fraction, is_shown=item.state is not State.DONE)
        row.begin()
        if item.state in (State.RUNNING, State.WAITING):
            row.offer(self.tr("Pause"), lambda: queue.pause(item))
        elif item.state is State.PAUSED:
            row.offer(self.tr("Resume"), lambda: queue.resume(item))
        elif is_failed and item.notice is not None and item.notice.id == "error.choose_file":
            row.offer(self.tr("Choose…"), lambda: self._ask_for_file(item))
        elif is_failed:
            page = str(item.notice.values.get("page", "")) if item.notice is not None else ""
            if page:
                row.offer(self.tr("Open its page"), lambda: QDesktopServices.openUrl(QUrl(page)))
            row.offer(self.tr("Try again"), lambda: queue.resume(item))
        else:
            row.offer(self.tr("Load"), lambda: self.load_wanted.emit(item.model))
            row.offer(self.tr("Clear"), lambda: queue.forget(item))
        if item.state is not State.DONE:
            row.offer(self.tr("Cancel"), lambda: self.ask_to_cancel(item))
        row.end()

    def _mark(self, item: Item) -> str:
        return {
            State.WAITING: self.tr("waiting"),
            State.RUNNING: self.tr("importing") if item.kind == "import" else self.tr("downloading"),
            State.PAUSED: self.tr("paused"),
            State.FAILED: self.tr("stopped"),
            State.DONE: self.tr("ready"),
        }[item.state]

    def _notice(self, item: Item) -> str:
        """What goes on; a download's progress is told by the figures already."""
        if item.notice is None or item.notice.id == "download.progress" or item.state is State.DONE:
            return ""
        if item.state is State.PAUSED:
            return filled(self.tr("{size} are kept."), size=words.size(item.done)) if item.done else ""
        return sentence(item.notice)

    def ask_to_cancel(self, item: Item) -> None:
        """Take it off the list; where a part is here, ask what becomes of it."""
        if not item.done or item.kind == "import":
            self._queue.cancel(item, keep_part=False)
            return
        box = QMessageBox(self)
        box.setWindowTitle(self.tr("Cancel the download"))
        box.setText(filled(self.tr("{size} of {name} are here."), size=words.size(item.done), name=item.name))
        box.setInformativeText(self.tr("Kept, they are not fetched again when you download it another time."))
        keep = box.addButton(self.tr("Keep them"), QMessageBox.ButtonRole.AcceptRole)
        remove = box.addButton(self.tr("Remove them"), QMessageBox.ButtonRole.DestructiveRole)
        back = box.addButton(self.tr("Go on"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(back)

        def on_clicked() -> None:
            if box.clickedButton() in (keep, remove):
                self._queue.cancel(item, keep_part=box.clickedButton() is keep)
            box.deleteLater()

        box.finished.connect(on_clicked)
        box.open()

    def _ask_for_file(self, item: Item) -> None:
        """Which of a repository's GGUF files it shall be."""
        if item.notice is None:
            return
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Choose a file"))
        dialog.setLabelText(self.tr("Fewer bits take less memory and lose quality; Q4_K_M is a usual choice."))
        dialog.setComboBoxItems(str(item.notice.values["files"]).split(", "))
        dialog.textValueSelected.connect(lambda text: self._on_file(item, text))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_file(self, item: Item, text: str) -> None:
        self._queue.forget(item)
        self._queue.add(Item(item.source, item.name, file=text.rpartition(" (")[0] or text))
