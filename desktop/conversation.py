"""The turns of a chat and what is known of each reply, fed by the engine's events. Knows nothing of Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.events import Failed, Finished, Prefill, Round, Started
from inference.settings import Message, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inference.events import Event, Notice, Origin, Piece
    from inference.settings import Sampling


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Span:
    """``wide[start:end]`` of a reply came from this round in this way."""

    start: int
    end: int
    origin: Origin
    round: int


@dataclass(slots=True)
class Reply:
    """One reply as far as it is written. ``turn`` is the number its events carry.

    ``wide`` is ``text`` with each character beyond U+FFFF as its two halves: its offsets count as Qt's do.
    """

    turn: int
    text: str = ""
    wide: str = ""
    spans: list[Span] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    notes: tuple[Notice, ...] = ()
    prefill: Prefill | None = None
    finished: Finished | None = None
    failure: Notice | None = None

    @property
    def is_over(self) -> bool:
        """Whether no more events are expected."""
        return self.finished is not None or self.failure is not None

    def spans_of_round(self, index: int) -> list[Span]:
        """Where the text of one round stands."""
        return [span for span in self.spans if span.round == index]

    def add(self, pieces: Iterable[Piece]) -> None:
        """Put text at the end."""
        for piece in pieces:
            if piece.text:
                start = len(self.wide)
                self.text += piece.text
                self.wide += in_halves(piece.text)
                self.spans.append(Span(start, len(self.wide), piece.origin, piece.round))

    def settle(self, text: str) -> None:
        """The engine's final text wins over what was shown; spans of text that is gone go too."""
        if text != self.text:
            self.text, self.wide = text, in_halves(text)
            self.spans = [span for span in self.spans if span.end <= len(self.wide)]


def in_halves(text: str) -> str:
    """``text`` with each character beyond U+FFFF as its two surrogate halves."""
    return _BEYOND.sub(_halved, text)


def _halved(match: re.Match[str]) -> str:
    over = ord(match[0]) - 0x10000
    return chr(0xD800 + (over >> 10)) + chr(0xDC00 + (over & 0x3FF))


@dataclass(slots=True)
class Turn:
    """A question and its reply."""

    question: str
    reply: Reply


class Conversation:
    """The turns of one chat, oldest first. Reply numbers are never used twice, also not in a new chat."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._numbers = 0

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self.turns[-1] if self.turns else None

    @property
    def is_writing(self) -> bool:
        """Whether a reply is still expected to grow or end."""
        return bool(self.turns) and not self.turns[-1].reply.is_over

    def ask(self, question: str) -> Turn:
        """Add a turn whose reply is still to be written."""
        self.turns.append(Turn(question, self._new_reply()))
        return self.turns[-1]

    def again(self) -> Turn:
        """Replace the last reply by a new one for the same question."""
        self.turns[-1].reply = self._new_reply()
        return self.turns[-1]

    def clear(self) -> None:
        """Begin a new chat."""
        self.turns = []

    def request(self, sampling: Sampling, max_new_tokens: int) -> Request:
        """What the engine needs to write the last reply.

        A turn without a reply (failed, or stopped at once) is left out together with its question, so that roles
        alternate and no empty message reaches the template.
        """
        messages: list[Message] = []
        for turn in self.turns[:-1]:
            if turn.reply.text:
                ids = turn.reply.finished.token_ids if turn.reply.finished else None
                messages.append(Message("user", turn.question))
                messages.append(Message("assistant", turn.reply.text, ids))
        messages.append(Message("user", self.turns[-1].question))
        return Request(self.turns[-1].reply.turn, tuple(messages), sampling, max_new_tokens)

    def record(self, event: Event) -> bool:
        """Take in an event of a reply; False for one that belongs to a reply that is no longer awaited."""
        if not isinstance(event, Started | Prefill | Round | Finished | Failed) or not self.is_writing:
            return False
        reply = self.turns[-1].reply
        if event.turn != reply.turn:
            return False
        if isinstance(event, Started):
            reply.notes = event.notes
        elif isinstance(event, Prefill):
            reply.prefill = event
        elif isinstance(event, Round):
            reply.rounds.append(event)
            reply.add(event.pieces)
        elif isinstance(event, Finished):
            reply.add(event.pieces)
            reply.settle(event.text)
            reply.finished = event
        else:
            reply.failure = event.notice
        return True

    def _new_reply(self) -> Reply:
        self._numbers += 1
        return Reply(self._numbers)
