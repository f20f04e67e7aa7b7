"""One chat as a tree: questions and replies with their older versions, fed by the engine's events. Knows no Qt.

A question asked otherwise and a reply written again stand beside the older ones; nothing is taken away. What is shown
is one path from the first question to its end, as turns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from time import time
from typing import TYPE_CHECKING

from desktop.reply import Manner, Reply
from desktop.settings.chat_settings import ChatSettings
from inference.events import Failed, Finished, Prefill, Round, Started
from inference.settings import Message, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from inference.events import Event
    from inference.settings import Speculation

LONGEST_NOTED = 2_000
"""So much of a system prompt is noted with each reply."""


@dataclass(slots=True, eq=False)
class Question:
    """A message of the user. ``replies`` answer it, oldest first; ``shown`` is the one on the page."""

    id: int
    text: str
    parent: Reply | None
    created: float = field(default_factory=time)
    replies: list[Reply] = field(default_factory=list)
    shown: Reply | None = None


@dataclass(slots=True, eq=False)
class Turn:
    """A question and its reply on the page, each with its place among its versions: (place from 0, how many)."""

    asked: Question
    reply: Reply
    question_place: tuple[int, int]
    reply_place: tuple[int, int]

    @property
    def question(self) -> str:
        """The text of the question."""
        return self.asked.text

    @property
    def has_versions(self) -> bool:
        """Whether another version of the question or the reply can be shown."""
        return self.question_place[1] > 1 or self.reply_place[1] > 1


class Conversation:
    """``turns`` is what is shown, oldest first. Reply numbers are never used twice in one run of the program.

    ``new_id`` gives the ids that a store knows the messages by; ``new_number`` the numbers that events carry.
    ``settings`` is None where those for new chats hold.
    """

    def __init__(self, new_id: Callable[[], int] | None = None, new_number: Callable[[], int] | None = None) -> None:
        self.turns: list[Turn] = []
        self.first: list[Question] = []
        self.shown: Question | None = None
        self.id = 0
        self.system = ""
        self.settings: ChatSettings | None = None
        self._new_id = new_id or count(1).__next__
        self._new_number = new_number or count(1).__next__
        self._changed: dict[int, Question | Reply] = {}
        self._asked: dict[int, Question] = {}

    @property
    def last(self) -> Turn | None:
        """The newest turn that is shown."""
        return self.turns[-1] if self.turns else None

    @property
    def is_writing(self) -> bool:
        """Whether a reply is still expected to grow or end."""
        return bool(self.turns) and not self.turns[-1].reply.is_over

    def turn_of(self, number: int) -> Turn | None:
        """The turn on the page whose reply has this number, or had it before it went on or was written again."""
        asked = self._asked.get(number)
        exact = (turn for turn in self.turns if turn.reply.turn == number)
        return next(exact, None) or next((turn for turn in self.turns if turn.asked is asked), None)

    # What the user does

    def ask(self, question: str) -> Turn:
        """Add a turn whose reply is still to be written."""
        return self._ask(question, self.turns[-1].reply if self.turns else None)

    def edit(self, turn: Turn, question: str) -> Turn:
        """Ask otherwise: a new question beside that of ``turn``, with a reply still to be written."""
        return self._ask(question, turn.asked.parent)

    def again(self, turn: Turn | None = None) -> Turn:
        """Another reply beside that of ``turn``, or the last one; what follows the older one stays with it."""
        self._answer((turn or self.turns[-1]).asked)
        self._walk()
        return self.turns[-1]

    def go_on(self) -> Turn:
        """Let the last reply, which has ended, be written further."""
        self.turns[-1].reply.reopen(self._number(self.turns[-1].asked))
        self._touch(self.turns[-1].reply)
        return self.turns[-1]

    def show_version(self, turn: Turn, step: int, *, of_question: bool) -> bool:
        """Show the version ``step`` places on instead; False at either end."""
        place, count = turn.question_place if of_question else turn.reply_place
        if not 0 <= place + step < count:
            return False
        if of_question:
            self._show_question(self._beside(turn.asked)[place + step])
        else:
            self._show_reply(turn.asked.replies[place + step])
        self._walk()
        return True

    def show_message(self, message: int) -> Turn | None:
        """Show the path that leads through the message with this id; the turn it is in."""
        found = next((node for node in self.nodes() if node.id == message), None)
        node = found
        while node is not None:
            if isinstance(node, Question):
                self._show_question(node)
                node = node.parent
            else:
                self._show_reply(node)
                node = node.question
        self._walk()
        return next((turn for turn in self.turns if found is not None and found in (turn.asked, turn.reply)), None)

    def clear(self) -> None:
        """Begin a new chat."""
        self.turns, self.first, self.shown, self.id, self.system, self.settings = [], [], None, 0, "", None
        self._changed, self._asked = {}, {}

    # What the engine does

    def request(
        self, usual: ChatSettings | None = None, speculation: Speculation | None = None, identity: str = ""
    ) -> Request:
        """What the engine needs to write the last reply, and the reply's note of it.

        ``usual`` are the settings of a chat that has none of its own.
        A turn without an answer (failed, stopped at once or while thinking) is left out with its question, so that
        roles alternate and no empty message reaches the template. A reply that goes on is the request's last message.
        Token ids are sent along only for a model of ``identity``, or where it is not given.
        """
        messages = [Message("system", self.system)] if self.system.strip() else []
        for turn in self.turns[:-1]:
            if turn.reply.answer.strip():
                messages += [Message("user", turn.question), _answer(turn.reply, identity)]
        last = self.turns[-1]
        messages.append(Message("user", last.question))
        if last.reply.goes_on:
            messages.append(_answer(last.reply, identity))
        how = self.settings or usual or ChatSettings()
        system = self.system if len(self.system) <= LONGEST_NOTED else self.system[:LONGEST_NOTED] + "…"
        last.reply.manner = Manner(how.sampling, how.max_new_tokens, speculation, how.stop, how.thinking, system)
        return Request(last.reply.turn, tuple(messages), how.sampling, how.max_new_tokens, how.stop, how.thinking)

    def record(self, event: Event) -> bool:
        """Take in an event of a reply; False for one that belongs to a reply that is no longer awaited."""
        if not isinstance(event, Started | Prefill | Round | Finished | Failed) or not self.is_writing:
            return False
        reply = self.turns[-1].reply
        if event.turn != reply.turn:
            return False
        reply.take(event)
        if not isinstance(event, Prefill):
            self._touch(reply)
        return True

    # What a store needs

    def nodes(self) -> list[Question | Reply]:
        """Every message of the tree, parents first."""
        found: list[Question | Reply] = list(self.first)
        for node in found:  # grows while it is walked
            found.extend(node.replies if isinstance(node, Question) else node.questions)
        return found

    def repeat(self, turn: Turn) -> None:
        """Add a copy of a turn, of this conversation or another."""
        question = Question(self._new_id(), turn.question, self.turns[-1].reply if self.turns else None)
        question.created = turn.asked.created
        self._beside(question).append(question)
        self._show_question(question)
        question.replies.append(turn.reply.copied(self._number(question), self._new_id(), question))
        self._show_reply(question.replies[-1])
        self._walk()

    def grow(self, nodes: list[Question | Reply], shown: int | None, stored: Container[int]) -> None:
        """Become the tree of these linked messages, in which the first question ``shown`` is on the page.

        Those whose id is not among the ``stored`` ones count as changed.
        """
        self.first = [node for node in nodes if isinstance(node, Question) and node.parent is None]
        self.shown = next((node for node in self.first if node.id == shown), self.first[-1] if self.first else None)
        for node in nodes:
            if isinstance(node, Reply) and node.question is not None:
                node.turn = self._number(node.question)
            if node.id not in stored:
                self._touch(node)
        self._walk()

    def take_changes(self) -> list[Question | Reply]:
        """The messages that changed since the last time, parents first."""
        changed, self._changed = list(self._changed.values()), {}
        return changed

    # Within

    def _ask(self, text: str, parent: Reply | None) -> Turn:
        question = Question(self._new_id(), text, parent)
        self._beside(question).append(question)
        self._show_question(question)
        self._answer(question)
        self._walk()
        return self.turns[-1]

    def _answer(self, question: Question) -> None:
        reply = Reply(self._number(question), id=self._new_id(), question=question)
        question.replies.append(reply)
        self._show_reply(reply)

    def _number(self, question: Question) -> int:
        number = self._new_number()
        self._asked[number] = question
        return number

    def _beside(self, question: Question) -> list[Question]:
        return self.first if question.parent is None else question.parent.questions

    def _show_question(self, question: Question) -> None:
        if question.parent is None:
            self.shown = question
        else:
            question.parent.shown = question
            self._touch(question.parent)
        self._touch(question)

    def _show_reply(self, reply: Reply) -> None:
        if reply.question is not None:
            reply.question.shown = reply
            self._touch(reply.question)
        self._touch(reply)

    def _touch(self, node: Question | Reply) -> None:
        self._changed.setdefault(node.id, node)

    def _walk(self) -> None:
        self.turns = []
        question = self.shown
        while question is not None:
            if not question.replies:  # a store that lost a reply, or an import without one
                self._answer(question)
                question.replies[-1].is_interrupted = True
            reply = question.shown or question.replies[-1]
            self.turns.append(
                Turn(question, reply, _place(question, self._beside(question)), _place(reply, question.replies))
            )
            question = reply.shown or (reply.questions[-1] if reply.questions else None)


def _place(node: Question | Reply, among: list[Question] | list[Reply]) -> tuple[int, int]:
    return next(index for index, one in enumerate(among) if one is node), len(among)


def _answer(reply: Reply, identity: str) -> Message:
    finished = reply.finished or (reply.earlier[-1] if reply.goes_on and reply.earlier else None)
    is_known = finished is not None and (not identity or finished.statistics.identity == identity)
    return Message("assistant", reply.text, finished.token_ids if finished and is_known else None)
