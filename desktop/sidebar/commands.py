"""What is done to chats from the side bar and needs asking, telling or undoing. It knows no transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox

from desktop.sentences import filled
from desktop.sidebar import menus

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from desktop.history.history import History
    from desktop.notice_bar import NoticeBar
    from desktop.sidebar.sidebar import Sidebar


class Commands(QObject):
    """``opened`` carries a chat that is to be shown, ``gone`` one that no longer is."""

    opened = Signal(object)
    gone = Signal(object)

    def __init__(self, history: History, sidebar: Sidebar, notice: NoticeBar, window: QWidget) -> None:
        super().__init__(window)
        self._history = history
        self._notice = notice
        self._window = window
        sidebar.binned.connect(self.bin)
        sidebar.wanted.connect(self._on_wanted)

    def bin(self, chat: int) -> None:
        """Put a chat into the bin, and offer to undo that."""
        title = self._history.store.chats[chat].title or self.tr("New chat")
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
        words = filled(self.tr("Remove {count} chats for ever? This cannot be undone."), count=len(chats))
        if len(chats) == 1:
            title = self._history.store.chats[chats[0]].title or self.tr("New chat")
            words = filled(self.tr("Remove “{title}” for ever? This cannot be undone."), title=title)
        self._ask(words, self.tr("Remove"), lambda: self._history.remove(*chats))

    def cancel(self) -> None:
        """Give up what is going on."""

    def _on_wanted(self, what: str, chat: int | None) -> None:
        if what == "folder":
            self.add_folder(chat)
        elif what == "remove" and chat is not None:
            self.remove(chat)
        elif what == "empty":
            binned = [one.id for one in self._history.store.chats.values() if one.binned is not None]
            if binned:
                self.remove(*binned)

    def _undo_bin(self, chat: int) -> None:
        self._history.unbin(chat)
        self.opened.emit(chat)

    def _ask(self, words: str, button: str, action: Callable[[], object]) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle("Borrador")
        box.setText(words.replace("&", "&amp;").replace("<", "&lt;"))
        yes = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        yes.clicked.connect(action)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
