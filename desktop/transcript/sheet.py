"""What the page's document holds: turns with their replies, written at its end, before its beginning, or within.

It knows where everything stands; scrolling, selection and painting are the view's.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QTextCursor

from desktop.attachments.quoting import parted
from desktop.sentences import filled, sentence
from desktop.transcript.actions import (
    SCHEME,
    thinking_words,
    write_actions,
    write_earlier,
    write_figures,
    write_label,
    write_rest,
)
from desktop.transcript.figures import quiet_line
from desktop.transcript.laying import lay_out
from desktop.transcript.passage import Passage, Stretch
from desktop.transcript.writing import begin_block, next_start, write_lines, write_question

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCharFormat, QTextDocument

    from desktop.conversation import Turn
    from desktop.reply import Reply
    from desktop.transcript.colouring import Colouring
    from desktop.transcript.formats import Formats

LONGEST_QUESTION = 20_000
"""Of a longer question only the beginning is shown; all of it is sent."""
LONGEST_REPLY = 30_000
"""Of a longer reply that is opened only the beginning is laid out at first."""
translate = QCoreApplication.translate


class Sheet:
    """``passages`` are the replies in the document, oldest first; ``earlier`` counts the turns before them."""

    def __init__(self, document: QTextDocument, formats: Formats, colouring: Colouring) -> None:
        self.document = document
        self._colouring = colouring
        self.formats = formats
        self.passages: list[Passage] = []
        self.earlier = 0
        self._unfolded: set[int] = set()
        self._top: QTextCursor | None = None
        self._going_on: QTextCursor | None = None
        self._rests: dict[int, QTextCursor] = {}

    def clear(self) -> None:
        """The document is empty."""
        self._colouring.forget()
        self.passages = []
        self.earlier = 0
        self._top = self._going_on = None
        self._rests = {}

    def passage_at(self, position: int) -> Passage | None:
        """The reply in whose part of the document this position lies."""
        at = bisect_right(self.passages, position, key=lambda p: p.start) - 1
        return self.passages[at] if at >= 0 else None

    def passage_of(self, reply: Reply | int) -> Passage | None:
        """Where a reply stands, given itself or its number."""
        return next((one for one in self.passages if reply in (one.reply, one.reply.turn)), None)

    # At the end

    def write_question(self, cursor: QTextCursor, question: str, turn: Turn | None) -> None:
        """A question, with who asks it."""
        if not question:
            return
        write_label(cursor, self.formats, turn, is_first=self.document.isEmpty())
        question = _with_files_named(question)
        write_question(cursor, question[:LONGEST_QUESTION], self.formats)
        if len(question) > LONGEST_QUESTION:
            hidden = translate("actions", "{count} more characters are sent but not shown")
            rest = filled(hidden, count=len(question) - LONGEST_QUESTION)
            write_lines(cursor, [rest], [self.formats.own_words(bottom=10)], self.formats.small())

    def begin_reply(self, cursor: QTextCursor, reply: Reply, turn: Turn | None) -> Passage:
        """Room for a reply."""
        begin_block(cursor, self.formats.paragraph(), self.formats.body())
        return Passage(reply, cursor.position(), turn)

    def lay_out_reply(self, cursor: QTextCursor, passage: Passage, *, is_over: bool, most: int | None = None) -> int:
        """Bring a reply up to its text, or ``most`` characters of it; up to where it is shown now.

        The cursor must be in its last block.
        """
        text, thought = passage.reply.wide, passage.reply.thought
        self._lay_out_thinking(cursor, passage)
        if thought.answer < 0:
            return len(text)
        if passage.answer is None:
            passage.answer = Stretch(next_start(cursor), thought.answer)
        end = len(text)
        if most is not None and end - thought.answer > most:
            line_end = text.rfind("\n", thought.answer + most // 2, thought.answer + most)
            end = line_end + 1 if line_end >= 0 else thought.answer + most
            end -= "\udc00" <= text[end] <= "\udfff"
        number = passage.reply.turn
        lay_out(cursor, passage.answer, text, end, self.formats, number, is_over=is_over and end == len(text))
        self._colouring.colour(passage.answer)
        return end

    def end_reply(self, cursor: QTextCursor, passage: Passage, shown: int, *, is_last: bool) -> None:
        """What stands under a reply: what is not shown of it, how it ended, its figures, what can be done with it."""
        reply, formats = passage.reply, self.formats
        if shown < len(reply.wide):
            write_rest(cursor, formats, reply.turn, len(reply.wide) - shown)
            self._rests[reply.turn] = QTextCursor(cursor.block())  # its start stays where it is
        said = [sentence(notice) for notice in reply.notes]
        if reply.thought.is_open:
            said.append(translate("actions", "The reply ended while the model was still thinking"))
        if reply.is_interrupted:
            said.append(translate("actions", "interrupted"))
        write_lines(cursor, said, [formats.own_words(top=4, bottom=2)] * len(said), formats.small())
        if reply.failure is not None:
            look = formats.own_words(top=4, bottom=4)
            write_lines(cursor, [sentence(reply.failure)], [look], formats.problem())
        if reply.finished is not None:
            write_figures(cursor, formats, quiet_line(reply.finished), reply.turn)
        start, end = write_actions(cursor, formats, reply, passage.turn, reply.turn, is_last=is_last)
        if is_last:
            self._going_on = QTextCursor(self.document)
            self._going_on.setPosition(start)
            self._going_on.setPosition(end, QTextCursor.MoveMode.KeepAnchor)

    def remove_going_on(self) -> None:
        """Only the last reply can be written further."""
        if self._going_on is not None and self._going_on.hasSelection():
            self._going_on.insertText("\u200b", self.formats.small())
        self._going_on = None

    def drop_reply(self, cursor: QTextCursor) -> None:
        """Take the last reply away with everything under it."""
        passage = self.passages.pop()
        for stretch in passage.stretches:
            stretch.forget(0)
        self._going_on = None
        self._rests.pop(passage.reply.turn, None)
        cursor.setPosition(passage.start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()

    # Before the beginning

    def write_top(self, cursor: QTextCursor, earlier: int) -> None:
        """What leads to the turns that are not shown; earlier ones are written behind it."""
        self.earlier = earlier
        if earlier:
            write_earlier(cursor, self.formats, earlier)
            self._top = QTextCursor(cursor.block())

    def write_before(self, turn: Turn) -> None:
        """One more of the earlier turns."""
        if self._top is None:
            return
        cursor = QTextCursor(self._top)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        size = self.document.characterCount()
        self.write_question(cursor, turn.question, turn)
        passage = self.begin_reply(cursor, turn.reply, turn)
        shown = self.lay_out_reply(cursor, passage, is_over=True, most=LONGEST_REPLY)
        self.end_reply(cursor, passage, shown, is_last=False)
        self._shift(0, self.document.characterCount() - size)
        self.passages.insert(0, passage)
        self._count_down()

    def _count_down(self) -> None:
        self.earlier -= 1
        if self._top is None:
            return
        cursor = QTextCursor(self._top.block())
        size = self.document.characterCount()
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if self.earlier:
            write_earlier(cursor, self.formats, self.earlier)
            self._top = QTextCursor(cursor.block())
        else:
            cursor.movePosition(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor)
            look, text = cursor.blockFormat(), cursor.blockCharFormat()
            cursor.removeSelectedText()
            look.setTopMargin(0)
            cursor.setBlockFormat(look)
            cursor.setBlockCharFormat(text)
            self._top = None
        self._shift(0, self.document.characterCount() - size)

    # Within

    def write_more(self, passage: Passage, most: int) -> bool:
        """Lay out ``most`` more characters of a long reply; False when nothing is left."""
        reply, answer = passage.reply, passage.answer
        if answer is None or answer.shown >= len(reply.wide):
            return False
        size = self.document.characterCount()
        rest = self._rests.pop(reply.turn, None)
        if rest is not None:
            block = rest.block()
            rest.setPosition(block.previous().position() + block.previous().length() - 1)
            rest.setPosition(block.position() + block.length() - 1, QTextCursor.MoveMode.KeepAnchor)
            rest.removeSelectedText()
        cursor = QTextCursor(self.document)
        cursor.setPosition(answer.end)
        end = self.lay_out_reply(cursor, passage, is_over=True, most=answer.shown - reply.thought.answer + most)
        if end < len(reply.wide):
            write_rest(cursor, self.formats, reply.turn, len(reply.wide) - end)
            self._rests[reply.turn] = QTextCursor(cursor.block())  # its start stays where it is
        self._shift(self.passages.index(passage) + 1, self.document.characterCount() - size)
        return end < len(reply.wide)

    def fold(self, number: int) -> None:
        """Fold or unfold what a reply thought."""
        passage = self.passage_of(number)
        if passage is None or not passage.title:
            return
        size = self.document.characterCount()
        self._unfolded ^= {number}
        cursor = QTextCursor(self.document)
        if passage.thinking is not None:
            cursor.setPosition(passage.thinking.start - 1)
            cursor.setPosition(passage.thinking.end, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            passage.thinking.forget(0)
            passage.thinking = None
        cursor.setPosition(passage.start + len(passage.title))
        answer, passage.answer = passage.answer, None
        self._lay_out_thinking(cursor, passage)
        passage.answer = answer
        grown = self.document.characterCount() - size
        if answer is not None:
            answer.shift(grown)
        self._shift(self.passages.index(passage) + 1, grown)

    def _lay_out_thinking(self, cursor: QTextCursor, passage: Passage) -> None:
        """The line that stands for the thinking, and the thinking below it where it is unfolded."""
        reply, thought = passage.reply, passage.reply.thought
        text = reply.wide
        if thought.start < 0 or not text[thought.start : thought.end].strip() or passage.answer is not None:
            self._say_thinking(passage)
            return
        number = reply.turn
        if not passage.title:
            begin_block(cursor, self.formats.own_words(bottom=6), self.formats.small())
            passage.title = thinking_words(reply, is_unfolded=number in self._unfolded)
            cursor.insertText(passage.title, self._title_look(number))
        self._say_thinking(passage)
        if cursor.block().position() == passage.start:
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        if number in self._unfolded:
            if passage.thinking is None:
                passage.thinking = Stretch(next_start(cursor), thought.start)
            is_over = thought.answer >= 0 or reply.is_over
            quiet = self.formats.of_thinking()
            lay_out(cursor, passage.thinking, text, thought.end, quiet, number, is_over=is_over)
            self._colouring.colour(passage.thinking)

    def _say_thinking(self, passage: Passage) -> None:
        """Bring the title up to date."""
        reply = passage.reply
        words = thinking_words(reply, is_unfolded=reply.turn in self._unfolded)
        if not passage.title or words == passage.title:
            return
        cursor = QTextCursor(self.document)
        cursor.setPosition(passage.start)
        cursor.setPosition(passage.start + len(passage.title), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(words, self._title_look(reply.turn))
        for stretch in passage.stretches:
            stretch.shift(len(words) - len(passage.title))
        passage.title = words

    def _title_look(self, number: int) -> QTextCharFormat:
        look = self.formats.small()
        look.setAnchor(True)
        look.setAnchorHref(f"{SCHEME}:thought/{number}")
        look.setToolTip(translate("actions", "Show or hide what the model thought"))
        return look

    def _shift(self, first: int, by: int) -> None:
        for passage in self.passages[first:]:
            passage.shift(by)


def _with_files_named(question: str) -> str:
    """A question with a line for each file that it quotes in the place of its text; that can be seen by editing it."""
    files, words = parted(question)
    line = QCoreApplication.translate("actions", "File: {name}, {count} characters")
    named = [filled(line, name=one.name, count=QLocale().toString(len(one.text))) for one in files]
    return "\n".join([*named, words] if words else named) if named else question
