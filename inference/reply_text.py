"""The text side of one reply: tokens in, text that is safe to show out, and the first reason to end.

Joins end tokens, the detokenizer and stop strings; every piece of text keeps the origin and round of its token. Knows
nothing of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inference.events import Piece
from inference.text.detokenize import Detokenizer
from inference.text.stop import StopScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.events import Origin

Tag = tuple[int, int]
"""Round, and place of the token in it: the origin is known only when the round is over."""


class ReplyText:
    """Hears every emitted token through ``push``, which the engine calls within a round.

    ``before`` are the ids of an answer that this one goes on from.
    """

    def __init__(self, tokenizer: Any, ends: frozenset[int], stops: Sequence[str], before: Sequence[int] = ()) -> None:
        self._detokenizer = Detokenizer(tokenizer, before)
        self._scanner: StopScanner[Tag] = StopScanner(stops)
        self._ends = ends
        self._round = 0
        self._place = 0
        self._safe: list[tuple[str, Tag]] = []
        self._origins: list[tuple[Origin, ...]] = []
        self.shown = ""

    def push(self, token: int) -> str | None:
        """The reason to end behind this token: "end", "stop", or None."""
        tag = (self._round, self._place)
        self._place += 1
        if token in self._ends:
            return "end"
        self._safe += self._scanner.push(self._detokenizer.push(token), tag)
        return "stop" if self._scanner.stopped else None

    def foresee(self, tokens: Sequence[int]) -> int | None:
        """Of tokens drafted behind what was heard, how many there are up to the one that would end the reply, if any.

        Nothing is taken in.
        """
        detokenizer, scanner = self._detokenizer.copy(), self._scanner.copy()
        for count, token in enumerate(tokens, 1):
            if token in self._ends:
                return count
            if scanner.looks:
                scanner.push(detokenizer.push(token), (0, 0))
                if scanner.stopped:
                    return count
        return None

    def take(self, origins: tuple[Origin, ...]) -> tuple[Piece, ...]:
        """A round is over: the text that became safe to show in it."""
        self._origins.append(origins)
        self._round += 1
        self._place = 0
        return self._pieces()

    def finish(self) -> tuple[Piece, ...]:
        """The reply is over: the text that was held back, unless a stop string ended it."""
        if not self._scanner.stopped:
            last = (max(0, self._round - 1), max(0, len(self._origins[-1]) - 1) if self._origins else 0)
            self._safe += self._scanner.push(self._detokenizer.finish(), last)
            self._safe += self._scanner.finish()
        return self._pieces()

    def _pieces(self) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        for text, (index, place) in self._safe:
            origins = self._origins[index] if index < len(self._origins) else ()
            origin: Origin = origins[place] if place < len(origins) else "plain"
            if pieces and (pieces[-1].origin, pieces[-1].round) == (origin, index):
                pieces[-1] = Piece(pieces[-1].text + text, origin, index)
            elif text:
                pieces.append(Piece(text, origin, index))
        self._safe = []
        self.shown += "".join(piece.text for piece in pieces)
        return tuple(pieces)
