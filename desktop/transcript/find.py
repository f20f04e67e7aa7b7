"""The bar that finds words on the page: typed, counted, stepped through. It knows the page's document only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QTextEdit, QToolButton

from desktop.icons import icon
from desktop.plain_text import storable
from desktop.reply import in_halves
from desktop.sentences import filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject

    from desktop.palette import Palette
    from desktop.transcript.formats import Formats
    from desktop.transcript.view import Transcript

SOON_MS = 120
MOST_MARKED = 500
"""So many places are marked at once, around the one that is stepped to."""
_SPACES = str.maketrans({"\u2029": "\n", "\u2028": "\n", "\u00a0": " "})


class FindBar(QFrame):
    """``changed`` comes when other places are to be marked."""

    changed = Signal()

    def __init__(self, palette: Palette, page: Transcript) -> None:
        super().__init__(page)
        self.setObjectName("findBar")
        self._page = page
        self._places: list[int] = []
        self._length = 0
        self._at = -1
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(self.tr("Find in this chat"))
        self.field.setAccessibleName(self.tr("Find in this chat"))
        self.count = QLabel(self)
        self.count.setObjectName("quiet")
        self.back = self._button(self.tr("Previous (Shift+Enter)"), lambda: self.step(-1))
        self.on = self._button(self.tr("Next (Enter)"), lambda: self.step(1))
        self.end = self._button(self.tr("Close (Escape)"), self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 6, 6)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        for part in (self.count, self.back, self.on, self.end):
            row.addWidget(part)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self.search)
        self.field.textEdited.connect(self._soon.start)
        for typed in (self.field, self.back, self.on, self.end):
            typed.installEventFilter(self)
        self.apply_palette(palette)
        self.hide()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._palette = palette
        for button, name in ((self.back, "chevron-left"), (self.on, "chevron-right"), (self.end, "x")):
            button.setIcon(icon(name, palette.text))

    def open_bar(self) -> None:
        """Be there, ready to type; selected words are what is looked for."""
        selected = self._page.textCursor().selectedText()
        if selected and len(selected) < 100 and "\u2029" not in selected:
            self.field.setText(storable(selected))
        self.show()
        self.raise_()
        self.place()
        self.field.setFocus()
        self.field.selectAll()
        self.search()

    def close_bar(self) -> None:
        """Go away, and leave the place that was found selected."""
        if 0 <= self._at < len(self._places):
            self._page.setTextCursor(self._cursor(self._places[self._at]))
        self.hide()
        self._places, self._at = [], -1
        self.changed.emit()
        self._page.setFocus()

    def place(self) -> None:
        """Stand at the upper right of the page."""
        room = self._page.viewport().width() - 16
        self.resize(min(380, room), self.sizeHint().height())
        self.move(room + 8 - self.width(), 8)

    def search(self) -> None:
        """Look for what is typed, and go to the first place from what is on the page."""
        self._look()
        visible = self._page.cursorForPosition(self._page.viewport().rect().topLeft()).position()
        after = next((index for index, place in enumerate(self._places) if place >= visible), 0)
        self._at = after if self._places else -1
        self._show(is_wanted=True)

    def search_again(self) -> None:
        """The page holds other text now; stay at the place that was stepped to, if it is there."""
        if self.isVisible():
            before = len(self._places) - self._at
            was_at = self._at >= 0
            self._look()
            self._at = max(0, len(self._places) - before) if was_at and self._places else -1
            self._show(is_wanted=False)

    def step(self, by: int) -> None:
        """Go to the next place or the one before, around the ends."""
        self._soon.stop()
        if self._at + by < 0 or not self._places:
            self._page.show_earlier()
        before = len(self._places) - self._at
        is_begun = self._at >= 0
        self._look()
        if not self._places:
            self._at = -1
        elif is_begun:
            self._at = (len(self._places) - before + by) % len(self._places)
        else:
            self._at = len(self._places) - 1 if by < 0 else 0
        self._show(is_wanted=True)

    def marks(self, formats: Formats) -> list[QTextEdit.ExtraSelection]:
        """What is to be marked on the page."""
        if self.isHidden() or not self._places:
            return []
        marks = []
        first = max(0, self._at - MOST_MARKED // 2)
        for index, place in enumerate(self._places[first : first + MOST_MARKED], first):
            mark = QTextEdit.ExtraSelection()
            look = QTextCharFormat()
            look.setBackground(QColor(formats.palette.accent) if index == self._at else formats.lit)
            if index == self._at:
                look.setForeground(QColor(formats.palette.on_accent))
            mark.cursor, mark.format = self._cursor(place), look
            marks.append(mark)
        return marks

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys pressed while typing; the window's own Escape must not come first."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        words = in_halves(self.field.text()).lower()
        self._length = len(words)
        self._places = []
        if not words:
            return
        # Halves of characters count as in the document; characters whose small form is longer stay as they are.
        text = in_halves(self._page.document().toRawText()).translate(_SPACES)
        small = text.lower()
        if len(small) != len(text):
            small = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
        at = small.find(words)
        while at >= 0:
            self._places.append(at)
            at = small.find(words, at + len(words))

    def _show(self, *, is_wanted: bool) -> None:
        count = len(self._places)
        if not self.field.text():
            self.count.clear()
        elif not count:
            self.count.setText(self.tr("not found"))
        else:
            self.count.setText(filled(self.tr("{place} of {count}"), place=self._at + 1, count=count))
        self.changed.emit()
        if is_wanted and count:
            self._page.show_position(self._places[self._at])

    def _cursor(self, place: int) -> QTextCursor:
        cursor = QTextCursor(self._page.document())
        last = self._page.document().characterCount() - 1
        cursor.setPosition(min(place, last))
        cursor.setPosition(min(place + self._length, last), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _button(self, words: str, do: Callable[[], None]) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(do)
        return button
