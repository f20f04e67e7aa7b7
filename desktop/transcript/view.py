"""The page: one text that grows at its end, stays where the reader reads, and never loads anything.

It is told what to show; it does not know the engine or the window.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QToolButton, QWidget

from desktop.icons import icon
from desktop.sentences import sentence
from desktop.transcript.actions import (
    SCHEME,
    read,
    write_actions,
    write_earlier,
    write_figures,
    write_label,
    write_rest,
)
from desktop.transcript.colours import OriginColours
from desktop.transcript.editing import Edit
from desktop.transcript.figures import quiet_line
from desktop.transcript.formats import Formats
from desktop.transcript.grounds import paint_grounds
from desktop.transcript.markdown import parse
from desktop.transcript.passage import Passage
from desktop.transcript.selection import text_between
from desktop.transcript.writing import begin_block, write_blocks, write_lines, write_plain, write_question

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from desktop.conversation import Turn
    from desktop.palette import Palette
    from desktop.reply import Reply

COLUMN = 760
"""Width of the text column, in pixels."""
MARGIN = 16
LONGEST_QUESTION = 20_000
"""Of a longer question only the beginning is shown; all of it is sent."""
NEAR_END = 3
SHOWN_CHARACTERS = 16_000
"""Of a longer chat only the newest turns are laid out at first: about so many characters."""
LONGEST_REPLY = 30_000
"""Of a longer reply that is opened only the beginning is laid out at first."""
MORE = 4
"""How many times as many are laid out when earlier ones are asked for."""


class Transcript(QTextBrowser):
    """All turns of the chat in one document."""

    copy_requested = Signal(int)
    again_requested = Signal(int)
    continue_requested = Signal()
    edit_requested = Signal(int)
    branch_requested = Signal(int, bool)
    """Of which reply, and whether its question is left out, too."""
    figures_requested = Signal(int)
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
        self._turns: list[Turn] = []
        self._room = SHOWN_CHARACTERS
        self._first = 0
        self._whole: set[int] = set()
        self._passages: list[Passage] = []
        self._again: tuple[int, int] | None = None
        self._is_following = True
        self._colours = OriginColours(self, self._formats, self.passage_at)
        self._is_coloured = False
        self._lit: tuple[Reply, int] | None = None
        self._latest = QToolButton(self)
        self._latest.setObjectName("latest")
        self._latest.setAccessibleName(self.tr("Go to the latest text"))
        self._latest.setToolTip(self.tr("Go to the latest text"))
        self._latest.clicked.connect(self.follow)
        self._latest.hide()
        self.anchorClicked.connect(self._on_link)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        self.apply_look(palette, scale, ())

    # What is shown

    def apply_look(self, palette: Palette, scale: float, turns: Iterable[Turn]) -> None:
        """Show everything anew in other colours or another size."""
        self._formats = Formats(palette, scale, self.font())
        self._colours.formats = self._formats
        self.document().setDefaultFont(self._formats.font)
        self._latest.setIcon(icon("arrow-down", palette.text))
        self.show_turns(turns)

    def show_turns(self, turns: Iterable[Turn], first: Turn | None = None) -> None:
        """Show these turns and nothing else, the newest of a long chat only, but at least from ``first`` on."""
        self._turns = list(turns)
        self._whole.clear()
        self._room = SHOWN_CHARACTERS
        at = next((place for place, turn in enumerate(self._turns) if turn is first), len(self._turns))
        self._lay_out_turns(min(at, self._first_shown()))
        self.follow()

    def show_question(self, question: str, turn: Turn | None = None) -> None:
        """Add a question at the end."""
        with Edit(self) as cursor:
            self._remove_again(cursor)
            if not question:
                return
            write_label(cursor, self._formats, turn, is_first=self.document().isEmpty())
            write_question(cursor, question[:LONGEST_QUESTION], self._formats)
            if len(question) > LONGEST_QUESTION:
                hidden = self.tr("{count} more characters are sent but not shown")
                rest = hidden.format(count=len(question) - LONGEST_QUESTION)
                write_lines(cursor, [rest], [self._formats.paragraph(bottom=10)], self._formats.small())

    def begin_reply(self, reply: Reply, turn: Turn | None = None) -> None:
        """A reply will be added at the end."""
        with Edit(self) as cursor:
            begin_block(cursor, self._formats.paragraph(), self._formats.body())
            self._passages.append(Passage(reply, cursor.position(), turn))

    def show_earlier(self) -> None:
        """Lay out more of a long chat; what is read stays where it is."""
        bar = self.verticalScrollBar()
        below = bar.maximum() - bar.value()
        self._room *= MORE
        self._lay_out_turns(self._first_shown())
        bar.setValue(bar.maximum() - below)

    def show_whole(self, number: int) -> None:
        """Lay out all of a long reply; what is read stays where it is."""
        self._whole.add(number)
        value = self.verticalScrollBar().value()
        self._lay_out_turns(self._first)
        self.verticalScrollBar().setValue(value)

    def go_to(self, reply: Reply) -> None:
        """Scroll to a turn."""
        passage = next((one for one in self._passages if one.reply is reply), None)
        if passage is not None:
            before = self.document().findBlock(passage.start).previous()
            top = self.document().documentLayout().blockBoundingRect(before).top()
            self.verticalScrollBar().setValue(round(top) - MARGIN)

    def turn_in_view(self) -> Turn | None:
        """The lowest turn that begins on the visible part of the page, of those that have versions."""
        low = self.cursorForPosition(self.viewport().rect().bottomLeft()).position()
        seen = [one.turn for one in self._passages if one.start <= low and one.turn is not None]
        return next((turn for turn in reversed(seen) if turn.has_versions), None)

    def extend(self) -> None:
        """Show what was added to the last reply since; paragraphs that are complete are laid out for good."""
        passage = self._passages[-1]
        text = passage.reply.wide
        if len(text) == passage.shown:
            return
        cut = passage.cutter.advance(text)
        with Edit(self, passage) as cursor:
            if cut > passage.settled:
                self._settle(cursor, passage, cut, passage.cutter.fence)
                self._write_tail(cursor, passage, cut, text)
            else:
                self._write_tail(cursor, passage, passage.shown, text)

    def finish(self, most: int | None = None) -> None:
        """Lay out the last reply to its end, or ``most`` of it, and put its figures, or what went wrong, under it."""
        passage = self._passages[-1]
        reply = passage.reply
        with Edit(self, passage) as cursor:
            end = len(reply.wide)
            if most is not None and end > most:
                end = max(reply.wide.rfind("\n", 0, most), most // 2)
            self._settle(cursor, passage, end, "")
            if end < len(reply.wide):
                write_rest(cursor, self._formats, reply.turn, len(reply.wide) - end)
            for notice in reply.notes:
                write_lines(cursor, [sentence(notice)], [self._formats.paragraph(bottom=4)], self._formats.small())
            if reply.is_interrupted:
                line = self.tr("interrupted")
                write_lines(cursor, [line], [self._formats.paragraph(top=4, bottom=2)], self._formats.small())
            if reply.failure is not None:
                look = self._formats.problem()
                write_lines(cursor, [sentence(reply.failure)], [self._formats.paragraph(top=4, bottom=4)], look)
            if reply.finished is not None:
                write_figures(cursor, self._formats, quiet_line(reply.finished), reply.turn)
            self._write_actions(cursor, reply)
        self._show_lit()

    def drop_reply(self) -> None:
        """Take the last reply away with everything under it."""
        passage = self._passages.pop()
        self._again = None
        self.light(None, 0)
        with Edit(self) as cursor:
            cursor.setPosition(passage.start)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()

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
            self._show_lit()

    def lit_text(self) -> str:
        """The text that is lit now."""
        return "".join(selection.cursor.selectedText() for selection in self.extraSelections())

    def passage_at(self, position: int) -> Passage | None:
        """The reply in whose part of the document this position lies."""
        at = bisect_right(self._passages, position, key=lambda p: p.start) - 1
        return self._passages[at] if at >= 0 else None

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
        data.setText(text_between(self.document(), cursor.selectionStart(), cursor.selectionEnd()))
        return data

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_grounds(self, self._formats.palette, event.rect())
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out_column()
        super().resizeEvent(event)
        self._latest.move(self.width() // 2 - self._latest.width() // 2, self.height() - self._latest.height() - 12)

    def clear(self) -> None:
        self.setExtraSelections([])
        super().clear()

    # Within

    def _settle(self, cursor: QTextCursor, passage: Passage, cut: int, fence: str) -> None:
        text = passage.reply.wide
        cursor.setPosition(passage.tail)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        passage.forget_tail()
        blocks = parse(text, passage.settled, cut, passage.fence)
        write_blocks(cursor, blocks, self._formats, passage, goes_on=bool(fence))
        passage.settled = passage.shown = cut
        passage.fence = fence
        if cut < len(text):
            begin_block(cursor, self._formats.paragraph(), self._formats.body())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        passage.tail = cursor.position()

    def _write_tail(self, cursor: QTextCursor, passage: Passage, start: int, text: str) -> None:
        write_plain(cursor, start, text[start:], self._formats, passage)
        passage.shown = len(text)

    def _write_actions(self, cursor: QTextCursor, reply: Reply) -> None:
        self._again = write_actions(cursor, self._formats, reply, self._passages[-1].turn, reply.turn)

    def _remove_again(self, cursor: QTextCursor) -> None:
        """Only the last reply can be written further."""
        if self._again is not None and self._again[0] < self._again[1]:
            cursor.setPosition(self._again[0])
            cursor.setPosition(self._again[1], QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText("\u200b", self._formats.small())
        self._again = None

    def _show_lit(self) -> None:
        marks = []
        if self._lit is not None:
            reply, index = self._lit
            passage = next((p for p in self._passages if p.reply is reply), None)
            for span in reply.spans_of_round(index) if passage else ():
                for start, end in passage.ranges(span.start, span.end) if passage else ():
                    mark = QTextEdit.ExtraSelection()
                    cursor = QTextCursor(self.document())
                    cursor.setPosition(start)
                    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                    look = self._formats.origin(span.origin, on_user=True) or self._formats.body()
                    look.setBackground(self._formats.lit)
                    mark.cursor, mark.format = cursor, look
                    marks.append(mark)
        self.setExtraSelections(marks)

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

    def _on_scrolled(self, value: int) -> None:
        self._is_following = value >= self.verticalScrollBar().maximum() - NEAR_END
        self._latest.setVisible(not self._is_following)

    def _on_range_changed(self, _low: int, high: int) -> None:
        self.verticalScrollBar().setEnabled(high > 0)
        if self._is_following:
            self.verticalScrollBar().setValue(high)

    def _first_shown(self) -> int:
        """The place of the first turn for which there is room."""
        room = self._room
        for place in range(len(self._turns) - 1, 0, -1):
            turn = self._turns[place]
            room -= min(len(turn.question), LONGEST_QUESTION) + len(turn.reply.text)
            if room <= 0:
                return place
        return 0

    def _lay_out_turns(self, first: int) -> None:
        self._first = first
        self._passages = []
        self._again = None
        self._lit = None
        self.clear()
        self._lay_out_column()
        if first:
            with Edit(self) as cursor:
                write_earlier(cursor, self._formats, first)
        for turn in self._turns[first:]:
            self.show_question(turn.question, turn)
            self.begin_reply(turn.reply, turn)
            if turn.reply.is_over:
                self.finish(None if turn.reply.turn in self._whole else LONGEST_REPLY)
            else:
                self.extend()

    def _on_link(self, url: QUrl) -> None:
        if url.scheme() != SCHEME:
            if url.scheme() in ("http", "https", "mailto"):
                QDesktopServices.openUrl(url)
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
        elif name == "earlier":
            self.show_earlier()
        elif name == "whole":
            self.show_whole(number)
        elif name in ("question", "reply"):
            self.version_requested.emit(number, step, name == "question")
