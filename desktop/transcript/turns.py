"""Brings the turns of a chat into the document: the newest at once, the others bit by bit, the last as it grows.

It says when something is laid out, and how much of it at a time; how it looks is the sheet's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from desktop.transcript.editing import Edit, EditWithin
from desktop.transcript.filling import Filling
from desktop.transcript.sheet import LONGEST_QUESTION, LONGEST_REPLY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from desktop.conversation import Turn
    from desktop.reply import Reply
    from desktop.transcript.marks import Marks
    from desktop.transcript.passage import Passage
    from desktop.transcript.sheet import Sheet
    from desktop.transcript.view import Transcript

SHOWN_CHARACTERS = 9_000
"""Of a longer chat only the newest turns are laid out at first: about so many characters."""
AT_ONCE = 3_000
"""So many characters are laid out in one step while nothing else is to be done."""
MOST_GROWTH = 6_000
"""So many of a reply that grew by more since the last time."""
AT_THE_TOP = 8_000
"""So many when the reader comes to the top."""
MOST_SHOWN = 4_000_000
"""Of a chat that is longer still, earlier turns are laid out only when they are asked for."""


class Turns:
    """``is_filling`` while earlier turns are put before what is read."""

    def __init__(self, view: Transcript, sheet: Sheet, marks: Marks) -> None:
        self._view = view
        self._sheet = sheet
        self._marks = marks
        self._turns: list[Turn] = []
        self._growing: list[Passage] = []
        self._next = 0
        """The place of the first turn behind those that are laid out."""
        self._shown = 0
        self._is_ending = False
        """Whether the last reply is over but not laid out to its end."""
        self.is_filling = False
        self.filling = Filling(self._fill, self._may_fill, view)
        self._growth = QTimer(view)
        self._growth.setSingleShot(True)
        self._growth.setInterval(0)
        self._growth.timeout.connect(self._on_growth)

    def hold(self, turns: Iterable[Turn], first: Turn | None) -> int:
        """These turns will be shown; the place of the first to be laid out, so that ``first`` can be seen."""
        self._turns = list(turns)
        self._growing = []
        self._is_ending = False
        newest = self._first_of(SHOWN_CHARACTERS)
        at = next((place for place, turn in enumerate(self._turns) if turn is first), newest)
        return min(at, newest)

    def begin(self, first: int) -> None:
        """Lay out the first of them in a document that holds nothing but its top."""
        self._next = first
        self._shown = 0
        self._append(SHOWN_CHARACTERS)

    def append_all(self) -> None:
        """Lay out every turn that belongs at the end."""
        if self._is_ending:
            self.end()
        if self._next < len(self._turns):
            self._append(sum(map(_length, self._turns[self._next :])))

    def add_question(self, question: str, turn: Turn | None) -> None:
        """A question at the end."""
        with Edit(self._view) as cursor:
            self._sheet.remove_going_on()
            self._sheet.write_question(cursor, question, turn)

    def add_reply(self, reply: Reply, turn: Turn | None) -> None:
        """Room for a reply at the end."""
        with Edit(self._view) as cursor:
            self._sheet.passages.append(self._sheet.begin_reply(cursor, reply, turn))

    def drop_reply(self) -> None:
        """Take the last reply away with everything under it."""
        self._growing = []
        self._is_ending = False
        with Edit(self._view) as cursor:
            self._sheet.drop_reply(cursor)

    def grow(self) -> None:
        """Show more of the last reply; what is too much for one step comes with the next."""
        passage = self._sheet.passages[-1]
        stretches = passage.stretches
        shown = passage.answer.shown - passage.reply.thought.answer if passage.answer is not None else 0
        with Edit(self._view, stretches[-1] if stretches else None) as cursor:
            end = self._sheet.lay_out_reply(cursor, passage, is_over=False, most=shown + MOST_GROWTH)
        if end < len(passage.reply.wide):
            self._growth.start()

    def finish(self) -> None:
        """The last reply to its end, and what stands under it; of much text some now and the rest in further steps."""
        reply = self._sheet.passages[-1].reply
        answer = self._sheet.passages[-1].answer
        shown = answer.shown if answer is not None else max(0, reply.thought.answer)
        self._is_ending = reply.thought.answer >= 0 and len(reply.wide) - shown > MOST_GROWTH
        if self._is_ending:
            self.grow()
        else:
            self.end()

    def end(self, most: int | None = None) -> None:
        """The last reply to its end at once, or ``most`` characters of it, and what stands under it."""
        self._is_ending = False
        passage = self._sheet.passages[-1]
        stretches = passage.stretches
        with Edit(self._view, stretches[-1] if stretches else None) as cursor:
            shown = self._sheet.lay_out_reply(cursor, passage, is_over=True, most=most)
            self._sheet.end_reply(cursor, passage, shown, is_last=True)
        self._marks.show()

    def show_whole(self, number: int) -> None:
        """Lay out all of a long reply, bit by bit; what is read stays where it is."""
        passage = self._sheet.passage_of(number)
        if passage is not None and passage not in self._growing:
            self._growing.append(passage)
            self._fill()
            self.filling.begin()

    def fill_before(self, room: int) -> None:
        """Earlier turns of about so many characters, before what is read."""
        if not self._sheet.earlier:
            return
        self.is_filling = True
        with EditWithin(self._view):
            self._view.catch_up()  # in the same edit: each has all that is below laid out anew
            while room > 0 and self._sheet.earlier:
                turn = self._turns[self._sheet.earlier - 1]
                self._sheet.write_before(turn)
                room -= _length(turn)
                self._shown += _length(turn)
        self.is_filling = False

    def _append(self, room: int) -> None:
        """Lay out turns at the end that are not laid out yet, of about so many characters."""
        while room > 0 and self._next < len(self._turns):
            turn = self._turns[self._next]
            self._next += 1
            self._shown += _length(turn)
            room -= _length(turn)
            self.add_question(turn.question, turn)
            self.add_reply(turn.reply, turn)
            if turn.reply.is_over:
                self.end(LONGEST_REPLY)
            else:
                self.grow()

    def _on_growth(self) -> None:
        if self._is_ending:
            self.finish()
        elif self._sheet.passages and not self._sheet.passages[-1].reply.is_over:
            self._view.extend()

    def _first_of(self, room: int) -> int:
        """The place of the first turn for which there is room."""
        for place in range(len(self._turns) - 1, 0, -1):
            room -= _length(self._turns[place])
            if room <= 0:
                return place
        return 0

    def _may_fill(self) -> bool:
        is_writing = bool(self._sheet.passages) and not self._sheet.passages[-1].reply.is_over
        return self._view.isVisible() and not is_writing and not QGuiApplication.mouseButtons()

    def _fill(self) -> bool:
        """One step of laying out what is not laid out yet; whether there is more."""
        if self._next < len(self._turns):
            was_following, self._view.is_following = self._view.is_following, False
            self._append(AT_ONCE)
            self._view.is_following = was_following
        elif self._growing:
            with EditWithin(self._view):
                self._view.catch_up()
                is_more = self._sheet.write_more(self._growing[0], AT_ONCE)
            if not is_more:
                self._growing.pop(0)
        elif self._shown < MOST_SHOWN:
            self.fill_before(AT_ONCE)
        is_more = bool(self._next < len(self._turns) or self._growing)
        is_more |= self._sheet.earlier > 0 and self._shown < MOST_SHOWN
        if not is_more:
            self._view.find_bar.search_again()
        return is_more


def _length(turn: Turn) -> int:
    return min(len(turn.question), LONGEST_QUESTION) + min(len(turn.reply.text), LONGEST_REPLY)
