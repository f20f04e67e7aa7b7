"""The page: one text that grows at its end, stays where the reader reads, and never loads anything.

It is told what to show; it does not know the engine or the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QToolButton, QWidget

from desktop.icons import icon
from desktop.plain_text import storable
from desktop.transcript.actions import SCHEME, read
from desktop.transcript.code import code_at
from desktop.transcript.colours import OriginColours
from desktop.transcript.editing import Edit, EditWithin
from desktop.transcript.filling import Filling
from desktop.transcript.find import FindBar
from desktop.transcript.formats import Formats
from desktop.transcript.formulas import Formulas
from desktop.transcript.grounds import paint_grounds
from desktop.transcript.links import ask_to_open
from desktop.transcript.objects import KIND, Painter
from desktop.transcript.selection import text_between
from desktop.transcript.sheet import LONGEST_QUESTION, LONGEST_REPLY, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent

    from desktop.conversation import Turn
    from desktop.palette import Palette
    from desktop.reply import Reply
    from desktop.transcript.passage import Passage

COLUMN = 760
"""Width of the text column, in pixels."""
MARGIN = 16
NEAR_END = 3
SOON_MS = 40
"""Formulas that were drawn within so long are laid out again together."""
SHOWN_CHARACTERS = 9_000
"""Of a longer chat only the newest turns are laid out at first: about so many characters."""
AT_ONCE = 3_000
"""So many characters are laid out in one step while nothing else is to be done."""
MOST_GROWTH = 12_000
"""So many of a reply that grew by more since the last time."""
AT_THE_TOP = 8_000
"""So many when the reader comes to the top."""
MOST_SHOWN = 4_000_000
"""Of a chat that is longer still, earlier turns are laid out only when they are asked for."""


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
        self._formats = Formats(palette, scale, self.font())
        self._formulas = Formulas(self)
        self._formulas.drawn.connect(self._on_drawn)
        self._painter = Painter(self.document(), self._formulas, self._formats)
        self.document().documentLayout().registerHandler(KIND, self._painter)
        self._drawn: set[tuple[str, bool]] = set()
        self._is_other_width = False
        self._resizing = QTimer(self)
        self._resizing.setSingleShot(True)
        self._resizing.setInterval(SOON_MS)
        self._resizing.timeout.connect(self._resize_formulas)
        self._growth = QTimer(self)
        self._growth.setSingleShot(True)
        self._growth.setInterval(0)
        self._growth.timeout.connect(self._on_growth)
        self._sheet = Sheet(self.document(), self._formats)
        self._turns: list[Turn] = []
        self._growing: list[Passage] = []
        self._next = 0
        """The place of the first turn behind those that are laid out."""
        self._shown = 0
        self.scroll_rest = 0.0
        """What a whole number of pixels left over when the page was last moved under the reader."""
        self._is_following = True
        self._is_filling = False
        self._filling = Filling(self._fill, self._may_fill, self)
        self._colours = OriginColours(self, self._formats, self.passage_at)
        self._is_coloured = False
        self._lit: tuple[Reply, int] | None = None
        self._latest = QToolButton(self)
        self._latest.setObjectName("latest")
        self._latest.setAccessibleName(self.tr("Go to the latest text"))
        self._latest.setToolTip(self.tr("Go to the latest text"))
        self._latest.clicked.connect(self.follow)
        self._latest.hide()
        self.find_bar = FindBar(palette, self)
        self.find_bar.changed.connect(self._show_marks)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.find_bar.open_bar)
        self.anchorClicked.connect(self._on_link)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        self.apply_look(palette, scale, ())

    # What is shown

    def apply_look(self, palette: Palette, scale: float, turns: Iterable[Turn]) -> None:
        """Show everything anew in other colours or another size."""
        self._formats = Formats(palette, scale, self.font())
        self._colours.formats = self._painter.formats = self._sheet.formats = self._formats
        self.document().setDefaultFont(self._formats.font)
        self._latest.setIcon(icon("arrow-down", palette.text))
        self.find_bar.apply_palette(palette)
        self.show_turns(turns)

    def show_turns(self, turns: Iterable[Turn], first: Turn | None = None) -> None:
        """Show these turns: of a long chat the newest at once, or those from ``first`` on, the others bit by bit."""
        self._turns = list(turns)
        newest = self._first_of(SHOWN_CHARACTERS)
        at = next((place for place, turn in enumerate(self._turns) if turn is first), newest)
        self._lay_out_turns(min(at, newest))
        self.follow()
        self._filling.begin()

    def show_question(self, question: str, turn: Turn | None = None) -> None:
        """Add a question at the end."""
        self._append_all()
        self._add_question(question, turn)

    def begin_reply(self, reply: Reply, turn: Turn | None = None) -> None:
        """A reply will be added at the end."""
        self._append_all()
        self._add_reply(reply, turn)

    def extend(self) -> None:
        """Show what was added to the last reply since; only what is still open is laid out anew."""
        self._append_all()
        self._grow()

    def finish(self) -> None:
        """Lay out the last reply to its end, and put its figures, or what went wrong, under it."""
        self._append_all()
        self._end()

    def show_earlier(self) -> None:
        """Lay out more of a long chat; what is read stays where it is."""
        self._fill_before(AT_THE_TOP)
        self._filling.begin()

    def show_whole(self, number: int) -> None:
        """Lay out all of a long reply, bit by bit; what is read stays where it is."""
        passage = self._sheet.passage_of(number)
        if passage is not None and passage not in self._growing:
            self._growing.append(passage)
            self._fill()
            self._filling.begin()

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

    def drop_reply(self) -> None:
        """Take the last reply away with everything under it."""
        self.light(None, 0)
        self._growing = []
        with Edit(self) as cursor:
            self._sheet.drop_reply(cursor)

    # What is marked

    def colour(self, is_coloured: bool) -> None:
        """Show or hide the origin of every token."""
        if is_coloured != self._is_coloured:
            self._is_coloured = is_coloured
            self._colours.setDocument(self.document() if is_coloured else None)

    def light(self, reply: Reply | None, index: int) -> None:
        """Light the tokens of one round, or none."""
        lit = None if reply is None else (reply, index)
        if lit != self._lit:
            self._lit = lit
            self._show_marks()

    def lit_text(self) -> str:
        """The text that is lit now."""
        return "".join(mark.cursor.selectedText() for mark in self._lit_marks())

    def passage_at(self, position: int) -> Passage | None:
        """The reply in whose part of the document this position lies."""
        return self._sheet.passage_at(position)

    # Where the reader is

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the end as text is added."""
        return self._is_following

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._is_following = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._latest.hide()

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
            self._is_following = False
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_grounds(self, self._formats.palette, event.rect())
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out_column()
        super().resizeEvent(event)
        self._latest.move(self.width() // 2 - self._latest.width() // 2, self.height() - self._latest.height() - 12)
        self.find_bar.place()

    def clear(self) -> None:
        self.setExtraSelections([])
        super().clear()

    # Within

    def _lay_out_turns(self, first: int) -> None:
        self._lit = None
        self._growing = []
        self.clear()
        self._sheet.clear()
        self._lay_out_column()
        with Edit(self) as cursor:
            self._sheet.write_top(cursor, first)
        self._next = first
        self._shown = 0
        self._append(SHOWN_CHARACTERS)
        self.find_bar.search_again()

    def _append(self, room: int) -> None:
        """Lay out turns at the end that are not laid out yet, of about so many characters."""
        while room > 0 and self._next < len(self._turns):
            turn = self._turns[self._next]
            self._next += 1
            self._shown += _length(turn)
            room -= _length(turn)
            self._add_question(turn.question, turn)
            self._add_reply(turn.reply, turn)
            if turn.reply.is_over:
                self._end(LONGEST_REPLY)
            else:
                self._grow()

    def _append_all(self) -> None:
        if self._next < len(self._turns):
            self._append(sum(map(_length, self._turns[self._next :])))

    def _add_question(self, question: str, turn: Turn | None) -> None:
        with Edit(self) as cursor:
            self._sheet.remove_going_on()
            self._sheet.write_question(cursor, question, turn)

    def _add_reply(self, reply: Reply, turn: Turn | None) -> None:
        with Edit(self) as cursor:
            self._sheet.passages.append(self._sheet.begin_reply(cursor, reply, turn))

    def _grow(self) -> None:
        """Show more of the last reply; what is too much for one step comes with the next."""
        passage = self._sheet.passages[-1]
        stretches = passage.stretches
        shown = passage.answer.shown - passage.reply.thought.answer if passage.answer is not None else 0
        with Edit(self, stretches[-1] if stretches else None) as cursor:
            end = self._sheet.lay_out_reply(cursor, passage, is_over=False, most=shown + MOST_GROWTH)
        if end < len(passage.reply.wide):
            self._growth.start()

    def _on_growth(self) -> None:
        if self._sheet.passages and not self._sheet.passages[-1].reply.is_over:
            self.extend()

    def _end(self, most: int | None = None) -> None:
        """The last reply to its end, or ``most`` characters of it, and what stands under it."""
        passage = self._sheet.passages[-1]
        stretches = passage.stretches
        with Edit(self, stretches[-1] if stretches else None) as cursor:
            shown = self._sheet.lay_out_reply(cursor, passage, is_over=True, most=most)
            self._sheet.end_reply(cursor, passage, shown, is_last=True)
        self._show_marks()

    def _first_of(self, room: int) -> int:
        """The place of the first turn for which there is room."""
        for place in range(len(self._turns) - 1, 0, -1):
            room -= _length(self._turns[place])
            if room <= 0:
                return place
        return 0

    def _may_fill(self) -> bool:
        is_writing = bool(self._sheet.passages) and not self._sheet.passages[-1].reply.is_over
        return self.isVisible() and not is_writing and not QGuiApplication.mouseButtons()

    def _fill(self) -> bool:
        """One step of laying out what is not laid out yet; whether there is more."""
        if self._next < len(self._turns):
            was_following, self._is_following = self._is_following, False
            self._append(AT_ONCE)
            self._is_following = was_following
        elif self._growing:
            with EditWithin(self):
                is_more = self._sheet.write_more(self._growing[0], AT_ONCE)
            if not is_more:
                self._growing.pop(0)
        elif self._shown < MOST_SHOWN:
            self._fill_before(AT_ONCE)
        is_more = bool(self._next < len(self._turns) or self._growing)
        is_more |= self._sheet.earlier > 0 and self._shown < MOST_SHOWN
        if not is_more:
            self.find_bar.search_again()
        return is_more

    def _fill_before(self, room: int) -> None:
        if not self._sheet.earlier:
            return
        self._is_filling = True
        with EditWithin(self):
            while room > 0 and self._sheet.earlier:
                turn = self._turns[self._sheet.earlier - 1]
                self._sheet.write_before(turn)
                room -= _length(turn)
                self._shown += _length(turn)
        self._is_filling = False

    def _lit_marks(self) -> list[QTextEdit.ExtraSelection]:
        if self._lit is None:
            return []
        reply, index = self._lit
        passage = self._sheet.passage_of(reply)
        marks = []
        for span in reply.spans_of_round(index) if passage else ():
            for start, end in passage.ranges(span.start, span.end) if passage else ():
                look = self._formats.origin(span.origin, on_user=True) or self._formats.body()
                look.setBackground(self._formats.lit)
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = QTextCursor(self.document()), look
                mark.cursor.setPosition(start)
                mark.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                marks.append(mark)
        return marks

    def _show_marks(self) -> None:
        self.setExtraSelections(self.find_bar.marks(self._formats) + self._lit_marks())

    def _lay_out_column(self) -> None:
        frame = self.document().rootFrame()
        look = frame.frameFormat()
        left = max(MARGIN, (self.width() - COLUMN) // 2)
        right = max(MARGIN // 2, self.viewport().width() - left - COLUMN)
        if (look.leftMargin(), look.rightMargin(), look.topMargin()) != (left, right, MARGIN):
            look.setLeftMargin(left)
            look.setRightMargin(right)
            look.setTopMargin(MARGIN)
            look.setBottomMargin(MARGIN)
            frame.setFrameFormat(look)
        width = max(80.0, self.viewport().width() - left - right - 48)
        if width != self._painter.width:
            self._painter.width = width
            self._is_other_width = True
            self._resizing.start()

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        self.scroll_rest = 0.0
        self._is_following = value >= bar.maximum() - NEAR_END
        self._latest.setVisible(not self._is_following)
        if value <= self.viewport().height() // 2 and not self._is_following and not self._is_filling:
            self._fill_before(AT_THE_TOP)

    def _on_range_changed(self, _low: int, high: int) -> None:
        self.verticalScrollBar().setEnabled(high > 0)
        if self._is_following:
            self.verticalScrollBar().setValue(high)

    def _on_drawn(self, tex: str, is_display: bool) -> None:
        self._drawn.add((tex, is_display))
        if not self._resizing.isActive():
            self._resizing.start()

    def _resize_formulas(self) -> None:
        """Formulas were drawn, or the column has another width: they get the room they need now."""
        with EditWithin(self):
            self._painter.measure_again(None if self._is_other_width else self._drawn)
        self._drawn.clear()
        self._is_other_width = False

    def _on_link(self, url: QUrl) -> None:
        if url.scheme() != SCHEME:
            ask_to_open(url, self)
            return
        name, number, step = read(url)
        if name == "copy":
            self.copy_requested.emit(number)
        elif name == "again":
            self.again_requested.emit(number)
        elif name == "continue":
            self.continue_requested.emit()
        elif name == "edit":
            self.edit_requested.emit(number)
        elif name in ("branch", "fork"):
            self.branch_requested.emit(number, name == "fork")
        elif name == "figures":
            self.figures_requested.emit(number)
        elif name == "both":
            self.both_requested.emit(number)
        elif name == "earlier":
            self.show_earlier()
        elif name == "whole":
            self.show_whole(number)
        elif name == "thought":
            self._fold(number)
        elif name == "code":
            self._copy_code(number, step)
        elif name in ("question", "reply"):
            self.version_requested.emit(number, step, name == "question")

    def _fold(self, number: int) -> None:
        passage = self._sheet.passage_of(number)
        if passage is not None:
            with EditWithin(self, passage.start):
                self._sheet.fold(number)
            self._show_marks()

    def _copy_code(self, number: int, start: int) -> None:
        passage = self._sheet.passage_of(number)
        if passage is not None:
            QGuiApplication.clipboard().setText(storable(code_at(passage.reply.wide, start)))


def _length(turn: Turn) -> int:
    return min(len(turn.question), LONGEST_QUESTION) + min(len(turn.reply.text), LONGEST_REPLY)
