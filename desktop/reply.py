"""One reply of the model as far as it is written, with all that is known of how it came about. Knows nothing of Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from time import monotonic, time
from typing import TYPE_CHECKING

from desktop.plain_text import storable
from desktop.thought import Thought
from inference.events import Failed, Finished, Prefill, Round, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from desktop.conversation import Question
    from inference.events import Notice, Origin, Piece
    from inference.settings import Sampling, Speculation


_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_LATE: dict[str, object] = {
    "notes": (), "finished": None, "failure": None, "manner": None, "seed": None, "earlier": (), "model": "",
    "is_interrupted": False, "opens_thinking": None, "thinking_seconds": None,
}  # fmt: skip
"""What may be read when it is first asked for, and what it is where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Span:
    """``wide[start:end]`` of a reply came from this round in this way."""

    start: int
    end: int
    origin: Origin
    round: int


@dataclass(frozen=True, slots=True)
class Manner:
    """How a reply was asked for."""

    sampling: Sampling
    max_new_tokens: int
    speculation: Speculation | None = None
    stop: tuple[str, ...] = ()
    thinking: str = ""
    system: str = ""


@dataclass(slots=True, eq=False)
class Reply:
    """``turn`` is the number its events carry, ``id`` what a store knows it by.

    ``wide`` is ``text`` with each character beyond U+FFFF as its two halves: its offsets count as Qt's do. A reply
    that went on after it had ended keeps what was known of the parts before in ``earlier``. ``model`` names the model
    of a reply that was written by another program. ``opens_thinking`` is None where nobody knows whether the prompt
    opened the thinking, ``thinking_seconds`` where nobody knows how long it took.
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
    id: int = 0
    created: float = field(default_factory=time)
    question: Question | None = None
    questions: list[Question] = field(default_factory=list)
    shown: Question | None = None
    manner: Manner | None = None
    seed: int | None = None
    earlier: tuple[Finished, ...] = ()
    is_interrupted: bool = False
    model: str = ""
    opens_thinking: bool | None = None
    thinking_seconds: float | None = None
    _begun_at: int = 0
    _asked_at: float | None = None
    _thought: Thought | None = None
    _read: Callable[[Reply], None] | None = None

    if not TYPE_CHECKING:  # for the checker there is nothing but the fields

        def __getattr__(self, name: str) -> object:
            if name not in _LATE or self._read is None:
                raise AttributeError(name)
            read, self._read = self._read, None
            for late, value in _LATE.items():
                setattr(self, late, value)
            read(self)
            return getattr(self, name)

    def put_off(self, read: Callable[[Reply], None]) -> None:
        """Have ``read`` put in how this reply came about when that is first asked for: a long chat has thousands."""
        self._read = read
        for name in _LATE:
            delattr(self, name)

    @property
    def is_over(self) -> bool:
        """Whether no more events are expected."""
        return self.finished is not None or self.failure is not None or self.is_interrupted

    @property
    def can_go_on(self) -> bool:
        """Whether it ended before the model had said all."""
        if not self.text or not self.is_over:
            return False
        return self.finished is None or self.finished.reason.id not in ("finish.end", "finish.stop")

    @property
    def thought(self) -> Thought:
        """Where the thinking ends and the answer begins, in ``wide``."""
        if self._thought is None:
            self._thought = Thought(self.opens_thinking)
        self._thought.read(self.wide, is_over=self.is_over)
        return self._thought

    @property
    def answer(self) -> str:
        """The text without what was thought before; empty while there is no answer."""
        thought = self.thought
        if thought.answer <= 0:
            return self.text if thought.answer == 0 else ""
        return storable(self.wide[thought.answer :]).lstrip("\n")

    @property
    def thinking(self) -> str:
        """What was thought before the answer; empty where nothing was."""
        thought = self.thought
        return storable(self.wide[thought.start : thought.end]).strip("\n") if thought.start >= 0 else ""

    @property
    def goes_on(self) -> bool:
        """Whether it is written further behind text that was there before."""
        return self._begun_at > 0

    def spans_of_round(self, index: int) -> list[Span]:
        """Where the text of one round stands."""
        return [span for span in self.spans if span.round == index]

    def take(self, event: Started | Prefill | Round | Finished | Failed) -> None:
        """Take in what the engine did."""
        if isinstance(event, Started):
            self.notes = event.notes
            self.seed = event.seed
            if not self.goes_on:
                self.opens_thinking, self._thought = event.opens_thinking, None
            self._asked_at = monotonic()
        elif isinstance(event, Prefill):
            self.prefill = event
        elif isinstance(event, Round):
            was_open = not self.text or self.thought.is_open
            self.rounds.append(event)
            self.add(event.pieces)
            if was_open and self.thought.start >= 0 and self._asked_at is not None:
                self.thinking_seconds = (self.thinking_seconds or 0.0) + monotonic() - self._asked_at
            self._asked_at = monotonic()
        elif isinstance(event, Finished):
            self.add(event.pieces)
            self._finish(event)
        else:
            self.failure = event.notice

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
            self._thought = None
            self.spans = [span for span in self.spans if span.end <= len(self.wide)]

    def reopen(self, turn: int) -> None:
        """Go on behind the text that is there, under another number."""
        if self.finished is not None:
            self.earlier = (*self.earlier, self.finished)
        self.turn = turn
        self.finished = self.failure = self.prefill = None
        self.is_interrupted = False
        self.rounds, self.spans, self.notes = [], [], ()
        self._begun_at = len(self.text)
        self._asked_at = None

    def copied(self, turn: int, id: int, question: Question) -> Reply:
        """The same under other numbers, as the answer to ``question``, with nothing behind it."""
        return replace(
            self,
            turn=turn,
            id=id,
            question=question,
            questions=[],
            shown=None,
            spans=list(self.spans),
            rounds=list(self.rounds),
            is_interrupted=self.is_interrupted or not self.is_over,
            _thought=None,
        )

    def _finish(self, event: Finished) -> None:
        before = self.text[: self._begun_at]
        self.settle(before + event.text)
        if before:
            ids = self.earlier[-1].token_ids + event.token_ids if self.earlier else ()
            event = replace(event, text=self.text, token_ids=ids)
        self.finished = event


def in_halves(text: str) -> str:
    """``text`` with each character beyond U+FFFF as its two surrogate halves."""
    return _BEYOND.sub(_halved, text)


def _halved(match: re.Match[str]) -> str:
    over = ord(match[0]) - 0x10000
    return chr(0xD800 + (over >> 10)) + chr(0xDC00 + (over & 0x3FF))
