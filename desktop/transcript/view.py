"""The page: one text that grows at its end, stays where the reader reads, and never loads anything.

It is told what to show; it does not know the engine or the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, Qt, QUrl, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QTextBrowser, QToolButton, QWidget

from desktop.icons import icon
from desktop.plain_text import storable
from desktop.transcript.colouring import Colouring
from desktop.transcript.column import MARGIN, Column
from desktop.transcript.editing import Edit
from desktop.transcript.find import FindBar
from desktop.transcript.formats import Formats
from desktop.transcript.formulas import Formulas
from desktop.transcript.grounds import paint_grounds
from desktop.transcript.marks import Marks
from desktop.transcript.pressing import Pressing
from desktop.transcript.selection import text_between
from desktop.transcript.sheet import Sheet
from desktop.transcript.turns import AT_THE_TOP, Turns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent

    from desktop.conversation import Turn
    from desktop.palette import Palette
    from desktop.reply import Reply
    from desktop.transcript.passage import Passage

NEAR_END = 3


class Transcript(QTextBrowser):
    """All turns of the chat in one document."""

    copy_requested = Signal(int)
    again_requested = Signal(int)
    continue_requested = Signal()
    edit_requested = Signal(int)
    branch_requested = Signal(int, bool)
    """Of which reply, and whether its question is left out, too."""
    figures_requested = Signal(int)
    both_requested = Signal(int)
    version_requested = Signal(int, int, bool)
    """Of which reply, how many steps on, and whether it is the question that is wanted in another version."""

    def __init__(self, palette: Palette, scale: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Chat"))
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # A bar that comes and goes would have everything laid out twice.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.scroll_rest = 0.0
        """What a whole number of pixels left over when the page was last moved under the reader."""
        self.is_following = True
        """Whether the view stays at the end as text is added."""
        self._formats = Formats(palette, scale, self.font())
        self._formulas = Formulas(self)
        self._column = Column(self, self._formulas, self._formats)
        self._latest = QToolButton(self)
        self._latest.setObjectName("latest")
        self._latest.setAccessibleName(self.tr("Go to the latest text"))
        self._latest.setToolTip(self.tr("Go to the latest text"))
        self._latest.clicked.connect(self.follow)
        self._latest.hide()
        self._colouring = Colouring(self.document(), self)
        self._sheet = Sheet(self.document(), self._formats, self._colouring)
        self.find_bar = FindBar(palette, self)
        self._marks = Marks(self, self._sheet, self.find_bar, self._formats)
        self._turns = Turns(self, self._sheet, self._marks)
        self._pressing = Pressing(self, self._sheet, self._marks)
        self.find_bar.changed.connect(self._marks.show)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.find_bar.open_bar)
        self.anchorClicked.connect(self._pressing.press)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        self.apply_look(palette, scale, ())

    # What is shown

    def apply_look(self, palette: Palette, scale: float, turns: Iterable[Turn]) -> None:
        """Show everything anew in other colours or another size."""
        self._formats = self._sheet.formats = Formats(palette, scale, self.font())
        self._marks.apply_formats(self._formats)
        self._column.apply_formats(self._formats)
        self.document().setDefaultFont(self._formats.font)
        self._latest.setIcon(icon("arrow-down", palette.text))
        self.find_bar.apply_palette(palette)
        self.show_turns(turns)

    def show_turns(self, turns: Iterable[Turn], first: Turn | None = None) -> None:
        """Show these turns: of a long chat the newest at once, or those from ``first`` on, the others bit by bit."""
        place = self._turns.hold(turns, first)
        self._marks.forget()
        self.clear()
        self._sheet.clear()
        self._column.lay_out()
        with Edit(self) as cursor:
            self._sheet.write_top(cursor, place)
        self._turns.begin(place)
        self.find_bar.search_again()
        self.follow()
        self._turns.filling.begin()

    def show_question(self, question: str, turn: Turn | None = None) -> None:
        """Add a question at the end."""
        self._turns.append_all()
        self._turns.add_question(question, turn)

    def begin_reply(self, reply: Reply, turn: Turn | None = None) -> None:
        """A reply will be added at the end."""
        self._turns.append_all()
        self._turns.add_reply(reply, turn)

    def extend(self) -> None:
        """Show what was added to the last reply since; only what is still open is laid out anew."""
        self._turns.append_all()
        self._turns.grow()

    def finish(self) -> None:
        """Lay out the last reply to its end, and put its figures, or what went wrong, under it."""
        self._turns.append_all()
        self._turns.finish()

    def show_earlier(self) -> None:
        """Lay out more of a long chat; what is read stays where it is."""
        self._turns.fill_before(AT_THE_TOP)
        self._turns.filling.begin()

    def show_whole(self, number: int) -> None:
        """Lay out all of a long reply, bit by bit; what is read stays where it is."""
        self._turns.show_whole(number)

    def catch_up(self) -> None:
        """Within an edit: give formulas and words of code what they wait for."""
        self._colouring.paint()
        self._column.measure()

    def drop_reply(self) -> None:
        """Take the last reply away with everything under it."""
        self.light(None, 0)
        self._turns.drop_reply()

    # What is marked

    def colour(self, is_coloured: bool) -> None:
        """Show or hide the origin of every token."""
        self._marks.colour(is_coloured)

    def light(self, reply: Reply | None, index: int) -> None:
        """Light the tokens of one round, or none."""
        self._marks.light(reply, index)

    def lit_text(self) -> str:
        """The text that is lit now."""
        return self._marks.lit_text()

    def passage_at(self, position: int) -> Passage | None:
        """The reply in whose part of the document this position lies."""
        return self._sheet.passage_at(position)

    # Where the reader is

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.is_following = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._latest.hide()

    def go_to(self, reply: Reply) -> None:
        """Scroll to a turn."""
        passage = self._sheet.passage_of(reply)
        if passage is not None:
            before = self.document().findBlock(passage.start).previous()
            top = self.document().documentLayout().blockBoundingRect(before).top()
            self.verticalScrollBar().setValue(round(top) - MARGIN)

    def show_position(self, position: int) -> None:
        """Scroll so far that a place in the document can be seen, with some text around it."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(position, self.document().characterCount() - 1))
        box = self.cursorRect(cursor)
        if box.top() < 48 or box.bottom() > self.viewport().height() - 32:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + box.top() - self.viewport().height() // 3)

    def turn_in_view(self) -> Turn | None:
        """The lowest turn that begins on the visible part of the page, of those that have versions."""
        low = self.cursorForPosition(self.viewport().rect().bottomLeft()).position()
        seen = [one.turn for one in self._sheet.passages if one.start <= low and one.turn is not None]
        return next((turn for turn in reversed(seen) if turn.has_versions), None)

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        self.scroll_rest = 0.0
        self.is_following = value >= bar.maximum() - NEAR_END
        self._latest.setVisible(not self.is_following)
        if value <= self.viewport().height() // 2 and not self.is_following and not self._turns.is_filling:
            self._turns.fill_before(AT_THE_TOP)

    def _on_range_changed(self, _low: int, high: int) -> None:
        self.verticalScrollBar().setEnabled(high > 0)
        if self.is_following:
            self.verticalScrollBar().setValue(high)

    # Qt

    def loadResource(self, type: int, name: QUrl | str) -> object:
        """Nothing is ever read or fetched for the page."""
        return QByteArray()

    def createMimeDataFromSelection(self) -> QMimeData:
        """The selected text as it was written: Qt's own way turns no-break spaces into plain ones."""
        cursor = self.textCursor()
        data = QMimeData()
        data.setText(storable(text_between(self.document(), cursor.selectionStart(), cursor.selectionEnd())))
        return data

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Home and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.is_following = False
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_grounds(self, self._formats.palette, event.rect())
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._column.lay_out()
        super().resizeEvent(event)
        self._latest.move(self.width() // 2 - self._latest.width() // 2, self.height() - self._latest.height() - 12)
        self.find_bar.place()

    def clear(self) -> None:
        self.setExtraSelections([])
        super().clear()
