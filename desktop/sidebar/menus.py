"""The menus of the side bar: for a chat, for a folder, for all chats. They do it, or say what is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QInputDialog, QMenu

from desktop.sidebar.sections import Shelf, cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from desktop.history.history import History
    from desktop.history.records import ChatRecord
    from desktop.sidebar.sidebar import Sidebar

translate = QCoreApplication.translate


def for_all(bar: Sidebar) -> QMenu:
    """What concerns all chats."""
    menu = QMenu(bar)
    menu.addAction(translate("menus", "Chats"), lambda: bar.show_shelf(Shelf.CHATS))
    menu.addAction(translate("menus", "Archived chats"), lambda: bar.show_shelf(Shelf.ARCHIVED))
    menu.addAction(translate("menus", "Bin"), lambda: bar.show_shelf(Shelf.BIN))
    menu.addSeparator()
    menu.addAction(translate("menus", "New folder…"), lambda: bar.wanted.emit("folder", None))
    menu.addSeparator()
    menu.addAction(translate("menus", "Import…"), lambda: bar.wanted.emit("import", None))
    menu.addAction(translate("menus", "Export all…"), lambda: bar.wanted.emit("export", None))
    menu.addAction(translate("menus", "Back up everything…"), lambda: bar.wanted.emit("backup", None))
    menu.addAction(translate("menus", "Restore a backup…"), lambda: bar.wanted.emit("restore", None))
    menu.addSeparator()
    menu.addAction(translate("menus", "Empty the bin…"), lambda: bar.wanted.emit("empty", None))
    return menu


def for_chat(bar: Sidebar, history: History, chat: ChatRecord, rename: Callable[[], object]) -> QMenu:
    """What can be done with one chat."""
    menu = QMenu(bar)
    if chat.binned is not None:
        menu.addAction(translate("menus", "Put back"), lambda: history.unbin(chat.id))
        menu.addAction(translate("menus", "Remove for ever…"), lambda: bar.wanted.emit("remove", chat.id))
        return menu
    action = menu.addAction(translate("menus", "Rename"), rename)
    action.setShortcut(QKeySequence(Qt.Key.Key_F2))
    words = translate("menus", "Unpin") if chat.is_pinned else translate("menus", "Pin")
    menu.addAction(words, lambda: history.change(chat.id, is_pinned=not chat.is_pinned))
    words = translate("menus", "Take out of the archive") if chat.is_archived else translate("menus", "Archive")
    menu.addAction(words, lambda: history.change(chat.id, is_archived=not chat.is_archived))
    folders = menu.addMenu(translate("menus", "Folder"))
    none = folders.addAction(translate("menus", "None"), lambda: history.change(chat.id, folder=None))
    _mark(none, chat.folder not in history.store.folders)
    for one in sorted(history.store.folders.values(), key=lambda one: one.name.casefold()):
        name = cut(one.name).replace("&", "&&")
        _mark(folders.addAction(name, _moved(history, chat.id, one.id)), chat.folder == one.id)
    folders.addSeparator()
    folders.addAction(translate("menus", "New folder…"), lambda: bar.wanted.emit("folder", chat.id))
    menu.addAction(translate("menus", "Export…"), lambda: bar.wanted.emit("export", chat.id))
    menu.addSeparator()
    menu.addAction(translate("menus", "Move to the bin"), lambda: bar.binned.emit(chat.id))
    return menu


def for_folder(bar: Sidebar, history: History, folder: int, rename: Callable[[], object]) -> QMenu:
    """What can be done with a folder."""
    menu = QMenu(bar)
    action = menu.addAction(translate("menus", "Rename"), rename)
    action.setShortcut(QKeySequence(Qt.Key.Key_F2))
    menu.addAction(translate("menus", "Remove the folder, keep its chats"), lambda: history.remove_folder(folder))
    return menu


def ask_for_folder(parent: QWidget, on_named: Callable[[str], object]) -> None:
    """Let the user name a new folder."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(translate("menus", "New folder"))
    dialog.setLabelText(translate("menus", "Name of the folder:"))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.textValueSelected.connect(lambda name: on_named(name) if name.strip() else None)
    dialog.open()


def _moved(history: History, chat: int, folder: int) -> Callable[[], None]:
    return lambda: history.change(chat, folder=folder)


def _mark(action: object, is_chosen: bool) -> None:
    action.setCheckable(True)  # type: ignore[attr-defined]
    action.setChecked(is_chosen)  # type: ignore[attr-defined]
