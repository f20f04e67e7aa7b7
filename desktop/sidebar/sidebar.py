"""The side bar: a field to search in, the list of chats, and a menu for all of them. It changes the history itself.

Which chat is on the page is for others to do: `chosen` carries the chat, and the message that was found or None.
"""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.icons import icon
from desktop.sidebar import menus
from desktop.sidebar.composing import ComposingLine
from desktop.sidebar.painting import Painting
from desktop.sidebar.rows import Rows
from desktop.sidebar.sections import Heading, Line, Shelf, line, listed
from desktop.store import Unavailable

if TYPE_CHECKING:
    from desktop.history.history import History
    from desktop.palette import Palette

SEARCH_MS = 120
"""So long nothing must be typed before the search begins."""
MINUTE_MS = 60_000


class Sidebar(QFrame):
    """Lists what the history holds; ``wanted`` carries the name of a command for all chats or one, and the chat."""

    chosen = Signal(object, object)
    binned = Signal(object)
    wanted = Signal(str, object)
    left = Signal()

    def __init__(self, history: History, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self._history = history
        self._shelf = Shelf.CHATS
        self._closed: set[int] = set()
        self._is_due = False
        self.search = _SearchField(self)
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search titles and messages"))
        self.search.setToolTip(self.tr("Search titles and messages (Ctrl+K)"))
        self.search.setClearButtonEnabled(True)
        self._glass = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self.more = QToolButton(self)
        self.more.setObjectName("more")
        self.more.setAccessibleName(self.tr("More for all chats"))
        self.more.setToolTip(self.tr("More for all chats"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(menus.for_all(self))
        self.back = QToolButton(self)
        self.back.setObjectName("back")
        self.back.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.back.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.back.clicked.connect(lambda: self.show_shelf(Shelf.CHATS))
        self.note = QLabel(self)
        self.note.setObjectName("quiet")
        self.note.setWordWrap(True)
        self.rows = Rows(self)
        self.rows.renamed.connect(self._on_renamed)
        self.list = _List(self)
        self.list.setModel(self.rows)
        self.painting = Painting(palette, self)
        self.list.setItemDelegate(self.painting)
        self.painting.closeEditor.connect(lambda: QTimer.singleShot(0, self, self._catch_up))
        self._search_timer = QTimer(self)
        self._search_timer.setSingleShot(True)
        self._search_timer.setInterval(SEARCH_MS)
        self._search_timer.timeout.connect(self.refresh)
        self._day = date.today()
        self._day_timer = QTimer(self)
        self._day_timer.timeout.connect(self._on_minute)
        self._day_timer.start(MINUTE_MS)
        self._lay_out()
        self._connect()
        self.apply_look(palette, 1.0)
        self.refresh()

    # What is shown

    def refresh(self) -> None:
        """List what is there now; the row in use stays the same one. While one is renamed the list waits."""
        self._search_timer.stop()
        self._is_due = self.list.is_editing
        if self._is_due:
            return
        current = self.rows.row(self.list.currentIndex())
        bar = self.list.verticalScrollBar()
        place = bar.value()
        words = self.search.text().strip()
        store = self._history.store
        note = ""
        if words:
            try:
                hits = store.search(self.search.text())
            except Unavailable:
                hits, note = [], self.tr("The chats cannot be searched now.")
            rows = [line(store.chats[hit.chat], hit.excerpt, hit.message) for hit in hits if hit.chat in store.chats]
            self.rows.show([*rows])
            note = note or ("" if rows else self.tr("Nothing found."))
        else:
            self.rows.show(listed(store.chats.values(), store.folders, self._shelf, self._closed, date.today()))
            note = "" if self.rows.rowCount() else self._nothing_here()
        if not words and self._shelf is Shelf.BIN and not note:
            note = self.tr("Chats stay here for 30 days.")
        self.list.setUniformItemSizes(not words)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.back.setVisible(self._shelf is not Shelf.CHATS and not words)
        if isinstance(current, Line):
            self.list.setCurrentIndex(self.rows.place_of(current.chat.id))
        bar.setValue(place)

    def show_shelf(self, shelf: Shelf) -> None:
        """List the chats, the archived ones or those in the bin."""
        self._shelf = shelf
        names = {Shelf.CHATS: "", Shelf.ARCHIVED: self.tr("Archived chats"), Shelf.BIN: self.tr("Bin")}
        self.back.setText(names[shelf])
        self.back.setToolTip(self.tr("Back to the chats"))
        self.back.setAccessibleName(self.tr("Back to the chats"))
        self.search.clear()
        self.refresh()

    def show_open(self, chat: int) -> None:
        """Mark the chat that is on the page."""
        self.painting.open_chat = chat
        self.list.viewport().update()

    def apply_look(self, palette: Palette, scale: float) -> None:
        """Other colours, another size."""
        self.painting.apply_look(palette, scale)
        self._glass.setIcon(icon("search", palette.muted))
        self.more.setIcon(icon("ellipsis", palette.text))
        self.back.setIcon(icon("chevron-left", palette.text))
        self.list.doItemsLayout()

    def sizeHint(self) -> QSize:
        return QSize(260, 480)

    # What the user does

    def begin_search(self) -> None:
        """Go to the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _on_activated(self, index: QModelIndex) -> None:
        row = self.rows.row(index)
        if isinstance(row, Heading) and row.folder is not None:
            self._closed ^= {row.folder}
            self.refresh()
        elif isinstance(row, Line) and self._shelf is not Shelf.BIN:
            self.chosen.emit(row.chat.id, row.message)

    def _on_renamed(self, one: int, name: str, is_folder: bool) -> None:
        # The list is made anew by this, and Qt is still closing the editor of the old one.
        change = self._history.rename_folder if is_folder else self._history.rename
        QTimer.singleShot(0, self, lambda: change(one, name))

    def _catch_up(self) -> None:
        if self._is_due:
            self.refresh()

    def _on_menu(self, at: QPoint) -> None:
        index = self.list.indexAt(at)
        row = self.rows.row(index)
        menu: QMenu | None = None
        if isinstance(row, Line):
            menu = menus.for_chat(self, self._history, row.chat, partial(self._rename, row.chat.id))
        elif isinstance(row, Heading) and row.folder is not None:
            menu = menus.for_folder(self, self._history, row.folder, partial(self._rename, row.folder))
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.list.viewport().mapToGlobal(at))

    def _rename(self, one: int) -> None:
        place = self.rows.place_of(one)  # the list may be another than when the menu was opened
        if place.isValid():
            self.list.setCurrentIndex(place)
            self.list.edit(place)

    def _on_minute(self) -> None:
        """After midnight, what was today is yesterday."""
        if date.today() != self._day:
            self._day = date.today()
            self.refresh()

    def _nothing_here(self) -> str:
        return {
            Shelf.CHATS: self.tr("Chats are listed here as soon as something is asked."),
            Shelf.ARCHIVED: self.tr("No chat is archived."),
            Shelf.BIN: self.tr("The bin is empty."),
        }[self._shelf]

    # Construction

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 8, 4)
        head.setSpacing(4)
        head.addWidget(self.search, 1)
        head.addWidget(self.more)
        under = QHBoxLayout()
        under.setContentsMargins(8, 0, 8, 0)
        under.addWidget(self.back)
        about = QHBoxLayout()
        about.setContentsMargins(16, 4, 12, 4)
        about.addWidget(self.note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (head, under, about):
            column.addLayout(part)
        column.addWidget(self.list, 1)

    def _connect(self) -> None:
        self._history.changed.connect(self.refresh)
        self.search.textChanged.connect(self._search_timer.start)
        self.search.down.connect(self._to_list)
        self.search.entered.connect(self._open_first)
        self.search.left.connect(self._leave_search)
        self.list.clicked.connect(self._on_activated)
        self.list.entered_key.connect(self._on_activated)
        self.list.customContextMenuRequested.connect(self._on_menu)

    def _to_list(self) -> None:
        if self._search_timer.isActive():
            self.refresh()
        self.list.setFocus()
        if not self.list.currentIndex().isValid() and self.rows.rowCount():
            self.list.setCurrentIndex(self.rows.index(0))

    def _open_first(self) -> None:
        self._to_list()
        self._on_activated(self.list.currentIndex())

    def _leave_search(self) -> None:
        if self.search.text():
            self.search.clear()
        else:
            self.left.emit()


class _SearchField(ComposingLine):
    """Down goes to what was found, Enter opens the first of it, Esc empties the field and then leaves it."""

    down = Signal()
    entered = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        is_wanted = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_wanted and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # the field's own, not the window's shortcut
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_composing:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Down:
            self.down.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.text().strip():
                self.entered.emit()
        else:
            super().keyPressEvent(event)


class _List(QListView):
    """``entered_key`` carries the place where Enter was pressed."""

    entered_key = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chats")
        self.setAccessibleName(self.tr("Chats"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setTabKeyNavigation(False)

    @property
    def is_editing(self) -> bool:
        """Whether a name is being changed."""
        return self.state() == QAbstractItemView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not self.is_editing:
            self.entered_key.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Menu:
            self.customContextMenuRequested.emit(self.visualRect(self.currentIndex()).center())
        else:
            super().keyPressEvent(event)
