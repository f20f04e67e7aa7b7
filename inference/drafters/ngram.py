"""The n-gram drafter: what followed the longest end of the chat that stands in it earlier.

Costs nothing but a look-up, so it pays wherever text repeats: summaries, code, answers from a given text. Prompt lookup
(github.com/apoorvumang/prompt-lookup-decoding) with the longest match instead of the first of two tokens, with several
continuations, and as long as what was measured for a match of that length promises. Its memory is one chat's ids.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.drafters.sketch import Sketch
from inference.drafters.suffixes import Match, Suffixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from inference.drafters.base import Draft
    from inference.sampling import Sampler

BRANCHES = 8
"""Continuations of one place that are looked at."""
LEAST_CHANCE = 0.01
"""Tokens less likely than this are not worth a row, whatever rows cost."""

CLASSES = (1, 2, 3, 4, 5, 7, 10, 16)
"""The shortest matches of each class."""
FIRST = (0.23, 0.53, 0.66, 0.70, 0.75, 0.80, 0.90, 0.95)
"""Chance of the first continuation by class (the starter, greedy, 48 prompts of six kinds, 4,600 tokens)."""
OTHERS = (0.17, 0.11, 0.08, 0.06, 0.05, 0.04, 0.03)
"""Chance of each further one when those before it were wrong, behind a match of one token."""
OTHERS_LONGER = (0.30, 0.20, 0.10, 0.06, 0.04, 0.03, 0.02)
"""The same behind longer matches."""
PRIOR_WEIGHT = 16.0
FADE = 0.998
"""What a token leaves of the weight of those before it."""
CARRIED = 60.0
"""Weight of a class that a new reply takes over."""
MOST_OTHERS = 200_000
"""Tokens of other chats that are kept; then it begins anew."""
BETWEEN = -2
"""Stands between two chats; no token is this."""
EMPTY = Match(0, 0)


@dataclass
class Chances:
    """How often continuations were right, by class of match and rank; learned from every token that is written."""

    tests: list[list[float]] = field(default_factory=lambda: [[0.0] * BRANCHES for _ in CLASSES])
    hits: list[list[float]] = field(default_factory=lambda: [[0.0] * BRANCHES for _ in CLASSES])

    def of(self, length: int, rank: int) -> float:
        """The chance of the continuation of this rank behind a match of ``length``, those before it being wrong."""
        at = class_of(length)
        prior = FIRST[at] if rank == 0 else (OTHERS_LONGER if at else OTHERS)[rank - 1]
        return (self.hits[at][rank] + PRIOR_WEIGHT * prior) / (self.tests[at][rank] + PRIOR_WEIGHT)

    def record(self, length: int, rank: int, is_hit: bool) -> None:
        """A continuation was put to the test."""
        at = class_of(length)
        self.tests[at][rank] = self.tests[at][rank] * FADE + 1
        self.hits[at][rank] = self.hits[at][rank] * FADE + is_hit

    def carry(self) -> None:
        """A new reply begins: what was learned counts on, with a limited weight."""
        for tests, hits in zip(self.tests, self.hits, strict=True):
            share = min(1.0, CARRIED / max(tests[0], 1e-9))
            for rank in range(BRANCHES):
                tests[rank] *= share
                hits[rank] *= share


def class_of(length: int) -> int:
    """The class of a match of this length, at least 1."""
    return bisect_right(CLASSES, length) - 1


class _Others:
    """What other chats held, and where the chat at hand stands in it."""

    def __init__(self) -> None:
        self.text = Suffixes()
        self.match = EMPTY

    def remember(self, ids: Sequence[int]) -> None:
        """A chat is over."""
        if len(self.text) + len(ids) > MOST_OTHERS:
            self.text = Suffixes()
        for token in (*ids[-MOST_OTHERS:], BETWEEN):
            self.text.push(token)

    def follow(self, ids: Iterable[int]) -> None:
        """The chat at hand goes on."""
        for token in ids:
            self.match = self.text.advanced(self.match, token)


class NgramDrafter:
    """Proposes the continuations of earlier places, never one of ``ends``, which end a turn or a reply.

    ``with_others`` in its calls adds a second source, off by default: the chats that were held before this one since
    the program started and while it was on. Nothing is kept of them while it is off.
    """

    name = "ngram"

    def __init__(self, ends: frozenset[int]) -> None:
        self._ends = ends | {BETWEEN}
        self._source: Sequence[int] | None = None
        self._text = Suffixes()
        self._others: _Others | None = None
        self._ids: list[int] = []
        self.chances = Chances()

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A chain of at most ``k`` tokens; empty when the last token is new."""
        sketch = self.sketch(ids, depth=k, nodes=k, is_chain=True, least=0.0)
        return sketch.draft(k)

    def sketch(
        self,
        ids: Sequence[int],
        *,
        depth: int,
        nodes: int,
        is_chain: bool,
        least: float = LEAST_CHANCE,
        with_others: bool = False,
    ) -> Sketch:
        """At most ``nodes`` continuations at most ``depth`` deep, each of at least the chance ``least``.

        ``is_chain`` leaves all but the first continuation of each place out.
        """
        self.learn(ids, with_others=with_others)
        tokens: list[int] = []
        parents: list[int] = []
        chances: list[float] = []
        branches = 1 if is_chain else BRANCHES
        # (falling chance, order, parent, token, the text and the match it makes there, depth)
        waiting: list[tuple[float, int, int, int, Suffixes, Match, int]] = []
        order = 0

        def grow(parent: int, found: Sequence[tuple[Suffixes, Match]], chance: float, at: int) -> None:
            nonlocal order
            given: set[int] = set()
            for text, match in found:
                for token, made, length in text.continuations(match, branches, self._ends | given):
                    if len(given) == branches or chance < least:
                        return
                    share = self.chances.of(length, len(given))
                    if chance * share >= least:
                        order += 1
                        heapq.heappush(waiting, (-chance * share, order, parent, token, text, made, at))
                    chance *= 1 - share
                    given.add(token)

        if depth and nodes:
            grow(-1, self._places(), 1.0, 1)
        while waiting and len(tokens) < nodes:
            chance, _, parent, token, text, made, at = heapq.heappop(waiting)
            tokens.append(token)
            parents.append(parent)
            chances.append(-chance)
            if at < depth:
                grow(len(tokens) - 1, [(text, made)], -chance, at + 1)
        return Sketch(tuple(tokens), tuple(parents), tuple(chances))

    def learn(self, ids: Sequence[int], *, with_others: bool = False) -> None:
        """Bring the index up to ``ids``. Only new tokens are looked at, unless the chat is another.

        Within a reply one growing list is handed over, so the whole is compared once a reply; its tokens tell how good
        continuations are.
        """
        if not with_others:
            self._others = None
        known = len(self._ids)
        is_reply = ids is self._source
        if not is_reply:
            if known > len(ids) or list(ids[:known]) != self._ids:
                if self._others is not None:
                    self._others.remember(self._ids)
                    self._others.match = EMPTY
                known = 0
                self._ids = []
                self._text = Suffixes()
            self._source = ids
            self.chances.carry()
        if with_others and self._others is None:
            self._others = _Others()
        for token in ids[known:]:
            if is_reply:
                self._observe(token)
            self._text.push(token)
        if self._others is not None:
            self._others.follow(ids[known:])
        self._ids.extend(ids[known:])

    def _places(self) -> list[tuple[Suffixes, Match]]:
        """Where the end of the chat stands, the longest match first; this chat before others."""
        found = [(self._text, self._text.match)]
        if self._others is not None:
            found.append((self._others.text, self._others.match))
        return sorted(found, key=lambda place: -place[1].length)

    def _observe(self, token: int) -> None:
        """What came, against what would have been proposed."""
        text, match = self._places()[0]
        for rank, (guess, _, length) in enumerate(text.continuations(match, BRANCHES, self._ends)):
            self.chances.record(length, rank, is_hit=guess == token)
            if guess == token:
                return
