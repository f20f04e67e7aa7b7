"""One reply of the model as far as it is written, with all that is known of how it came about. Knows nothing of Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from time import time
from typing import TYPE_CHECKING

from inference.events import Failed, Finished, Prefill, Round, Started

if TYPE_CHECKING:
    from collections.abc import Iterable

    from desktop.conversation import Question
    from inference.events import Notice, Origin, Piece
    from inference.settings import Sampling, Speculation


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


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
    of a reply that was written by another program.
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
    _begun_at: int = 0

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
        elif isinstance(event, Prefill):
            self.prefill = event
        elif isinstance(event, Round):
            self.rounds.append(event)
            self.add(event.pieces)
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
