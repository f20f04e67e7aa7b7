"""What is done to chats from the side bar and needs asking, telling or undoing. It knows no transcript."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox

from desktop.exchange.leftovers import left_over
from desktop.history.backup import Copying, restored, saved
from desktop.history.words import in_words
from desktop.sentences import filled
from desktop.sidebar import menus
from desktop.sidebar.sections import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QWidget

    from desktop.conversation import Conversation
    from desktop.history.history import History
    from desktop.history.trouble import Trouble
    from desktop.notice_bar import NoticeBar
    from desktop.sidebar.sidebar import Sidebar


LONGEST_NAME = 200
"""So many bytes of a title are the name of a file; file systems take 255 with the ending."""
_RESERVED = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]", re.IGNORECASE)  # on Windows
OWN = "history"
"""So begin the names of all files that chats are kept in."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Steps to be run between other things, with the words for them; ``damaged`` where a file proves to be so."""

    steps: Iterator[int]
    going_on: str
    done: Callable[[int], str]
    damaged: str = ""
    brings_in: bool = False


class Commands(QObject):
    """``opened`` carries a chat that is to be shown, ``gone`` one that no longer is; ``came_in`` tells of new ones."""

    opened = Signal(object)
    gone = Signal(object)
    came_in = Signal()

    def __init__(self, history: History, sidebar: Sidebar, notice: NoticeBar, window: QWidget) -> None:
        super().__init__(window)
        self._history = history
        self._notice = notice
        self._window = window
        self._copying: Copying | None = None
        self._task: _Task | None = None
        self._waiting: list[_Task] = []
        sidebar.binned.connect(self.bin)
        sidebar.wanted.connect(self._on_wanted)

    def bin(self, chat: int) -> None:
        """Put a chat into the bin, and offer to undo that."""
        if chat not in self._history.store.chats:
            return
        title = title_of(self._history.store.chats[chat])
        self._history.bin(chat)
        self.gone.emit(chat)
        words = filled(self.tr("“{title}” is in the bin and stays there for 30 days."), title=title)
        self._notice.say(words, self.tr("Undo"), lambda: self._undo_bin(chat))

    def add_folder(self, chat: int | None) -> None:
        """Ask for the name of a new folder, and put a chat into it."""

        def on_named(name: str) -> None:
            folder = self._history.add_folder(name)
            if chat is not None:
                self._history.change(chat, folder=folder)

        menus.ask_for_folder(self._window, on_named)

    def remove(self, *chats: int) -> None:
        """Ask, then remove chats from the bin for ever."""
        chats = tuple(chat for chat in chats if chat in self._history.store.chats)
        if not chats:
            return
        words = filled(self.tr("Remove {count} chats for ever? This cannot be undone."), count=len(chats))
        if len(chats) == 1:
            title = title_of(self._history.store.chats[chats[0]])
            words = filled(self.tr("Remove “{title}” for ever? This cannot be undone."), title=title)
        self._ask(words, self.tr("Remove"), lambda: self._history.remove(*chats))

    def cancel(self) -> None:
        """Give up what is going on; what waits for it begins."""
        if self._copying is not None:
            self._copying.cancel()
            self._notice.hide()
            self._let_next_begin()

    def begin(self) -> None:
        """Bring in what could not be stored when the program ended."""
        if not self._history.store.is_writable or not left_over(self._places()):
            return
        from desktop.exchange.writing import take_in_leftovers

        if take_in_leftovers(self._history.store, self._places()):
            self._history.reload()

    def end(self, conversations: list[Conversation]) -> None:
        """Store everything; what the history does not take goes into a file, from which it comes back."""
        self._waiting.clear()
        self.cancel()
        if not self._history.end(conversations):
            from desktop.exchange.writing import save_leftovers

            save_leftovers(self._history.store, self._places())
        self._history.store.close()

    # Files

    def export(self, chat: int | None) -> None:
        """Ask for a file and write one chat, or all, into it."""
        kinds = [self.tr("Chats with versions and figures (*.json)")]
        if chat is not None:
            kinds = [self.tr("Markdown (*.md)"), self.tr("Web page (*.html)"), "PDF (*.pdf)", *kinds]
        record = self._history.store.chats.get(chat) if chat is not None else None
        title = record.title if record is not None else self.tr("Chats")
        dialog = self._dialog(self.tr("Export"), kinds, is_new=True)
        dialog.selectFile(file_name(title or self.tr("Chat")))
        dialog.fileSelected.connect(lambda name: self.export_to(chat, with_ending(name, dialog.selectedNameFilter())))

    def export_to(self, chat: int | None, path: Path) -> None:
        """Write one chat, or all, into a file."""
        if self._is_the_history(path):
            return
        chats = [chat] if chat is not None else list(self._history.store.chats)
        from desktop.exchange.writing import exported

        words = filled(self.tr("Exported to {file}."), file=path.name)
        steps = exported(self._history.store, chats, path)
        self._run(_Task(steps, self.tr("Exporting: {count} messages"), lambda _count: words))

    def ask_for_import(self) -> None:
        """Ask for a file with chats."""
        kinds = [self.tr("Chats of Borrador, ChatGPT or Open WebUI (*.json *.zip)"), self.tr("All files (*)")]
        dialog = self._dialog(self.tr("Import"), kinds)
        dialog.fileSelected.connect(lambda name: self.import_from(Path(name)))

    def import_from(self, path: Path) -> None:
        """Bring in the chats of a file."""
        from desktop.exchange.reading import Unknown, chats_in
        from desktop.exchange.writing import imported

        try:
            chats = chats_in(path)
        except Unknown as error:
            words = {
                "newer": self.tr("{file} was written by a newer Borrador; update, then import it."),
                "no_json": self.tr("{file} is no export of chats: it holds no JSON."),
            }.get(str(error), self.tr("{file} holds no chats of Borrador, ChatGPT or Open WebUI."))
            self._notice.say(filled(words, file=path.name))
        except OSError as error:
            self._notice.say(filled(self.tr("{file} cannot be read: {detail}."), file=path.name, detail=error.strerror))
        else:
            cut = filled(
                self.tr("{file} ends too early or is damaged; what could be read of it came in."), file=path.name
            )
            steps = imported(self._history.store, chats)
            self._run(_Task(steps, self.tr("Importing: {count} messages"), self._came_in, cut, brings_in=True))

    def ask_for_backup(self) -> None:
        """Ask for a file and copy everything into it."""
        dialog = self._dialog(self.tr("Back up everything"), [self.tr("Backup (*.sqlite)")], is_new=True)
        dialog.selectFile(f"borrador-{date.today().isoformat()}.sqlite")
        dialog.fileSelected.connect(lambda name: self.back_up_to(with_ending(name, "(*.sqlite)")))

    def back_up_to(self, path: Path) -> None:
        """Copy everything into one file."""
        if not self._is_the_history(path):
            words = filled(self.tr("Everything is in {file}."), file=path.name)
            steps = saved(self._history.store, path)
            self._run(_Task(steps, self.tr("Backing up: {count} messages"), lambda _count: words))

    def ask_for_restore(self) -> None:
        """Ask for a backup and bring it in."""
        dialog = self._dialog(self.tr("Restore a backup"), [self.tr("Backup (*.sqlite)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(lambda name: self.restore_from(Path(name)))

    def restore_from(self, path: Path) -> None:
        """Bring in everything of a backup that is not here."""
        damaged = self.tr("This file is no backup of Borrador, or it is damaged.")
        steps = restored(self._history.store, path)
        self._run(_Task(steps, self.tr("Restoring: {count} messages"), self._came_in, damaged, brings_in=True))

    # Within

    def _places(self) -> tuple[Path, ...]:
        return self._history.store.folder, Path.home()

    def _dialog(self, title: str, kinds: list[str], *, is_new: bool = False) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        mode = QFileDialog.FileMode
        dialog.setFileMode(mode.AnyFile if is_new else mode.ExistingFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave if is_new else QFileDialog.AcceptMode.AcceptOpen)
        dialog.setNameFilters(kinds)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    def _came_in(self, count: int) -> str:
        return filled(self.tr("{count} new messages came in."), count=count)

    def _is_the_history(self, path: Path) -> bool:
        """Whether a file must not be written because the chats themselves are kept in it; that is said."""
        folder = self._history.store.folder
        is_own = path.parent.resolve() == folder.resolve() and path.name.casefold().startswith(OWN)
        if is_own:
            self._notice.say(
                filled(self.tr("The chats themselves are kept in {file}; choose another name."), file=path.name)
            )
        return is_own

    def _run(self, task: _Task) -> None:
        """Run the steps between other things, and say how far they are and how they ended; one after the other."""
        self._waiting.append(task)
        if self._copying is None:
            self._let_next_begin()

    def _let_next_begin(self) -> None:
        ended, self._copying, self._task = self._task, None, None
        if ended is not None and ended.brings_in:
            self._history.reload()
            self.came_in.emit()
        if self._waiting:
            self._begin(self._waiting.pop(0))

    def _begin(self, task: _Task) -> None:
        self._task = task
        self._copying = Copying(task.steps, self)
        self._copying.went_on.connect(
            lambda count: self._notice.say(filled(task.going_on, count=count), self.tr("Cancel"), self.cancel)
        )
        self._copying.ended.connect(lambda count: self._end(task.done(count)))
        self._copying.failed.connect(lambda trouble: self._end(self._failure(trouble, task)))
        self._copying.start()

    def _end(self, words: str) -> None:
        self._let_next_begin()
        self._notice.say(words)

    def _failure(self, trouble: Trouble, task: _Task) -> str:
        if trouble.kind == "damaged" and task.damaged:
            return task.damaged
        if task.brings_in and not self._history.store.is_writable:
            return self.tr("Nothing can come in while the history cannot be written.")
        words = {
            "full": self.tr("The disk is full; free some space and try again."),
            "locked": self.tr("Another program holds the file; try again when it lets go."),
            "gone": in_words(trouble),
            "newer": self.tr("This backup was made by a newer Borrador; update, then restore it."),
        }.get(trouble.kind, self.tr("This could not be done: {detail}."))
        return filled(words, detail=trouble.values.get("detail", ""))

    def _on_wanted(self, what: str, chat: int | None) -> None:
        asks = {"import": self.ask_for_import, "backup": self.ask_for_backup, "restore": self.ask_for_restore}
        if what in asks:
            asks[what]()
        elif what == "export":
            self.export(chat)
        elif what == "folder":
            self.add_folder(chat)
        elif what == "remove" and chat is not None:
            self.remove(chat)
        elif what == "empty":
            binned = [one.id for one in self._history.store.chats.values() if one.binned is not None]
            if binned:
                self.remove(*binned)

    def _undo_bin(self, chat: int) -> None:
        if chat in self._history.store.chats:
            self._history.unbin(chat)
            self.opened.emit(chat)
        else:
            self._notice.say(self.tr("The chat was removed for ever meanwhile."))

    def _ask(self, words: str, button: str, action: Callable[[], object]) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle("Borrador")
        box.setText(words.replace("&", "&amp;").replace("<", "&lt;"))
        yes = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        yes.clicked.connect(action)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


def file_name(title: str) -> str:
    """A title as a name that every file system takes."""
    words = " ".join(re.sub(r'[\x00-\x1f<>:"/\\|?*]', " ", title).split())[:80]
    words = words.encode()[:LONGEST_NAME].decode(errors="ignore").strip(". ") or "chat"
    return f"{words} chat" if _RESERVED.fullmatch(words.split(".")[0].rstrip()) else words


def with_ending(name: str, kind: str) -> Path:
    """The path with the ending of the kind that was chosen, unless it has one that is written here."""
    path = Path(name)
    ending = re.search(r"\*(\.\w+)\)", kind)
    if path.suffix.lower() in (".md", ".html", ".pdf", ".json", ".sqlite") or ending is None:
        return path
    return path.with_name(path.name + ending[1])
