"""Where the end of a text stood before: a suffix automaton over token ids, grown a token at a time.

Amortised constant time per token (Blumer et al. 1985). Each state stands for subtexts with the same ends; most states
have one continuation, so that one is kept apart from the few that branch. Knows nothing of drafts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT = 0
NOTHING = -1


@dataclass(frozen=True, slots=True)
class Match:
    """A subtext of the text, by the automaton's state, and its length in tokens; length 0 is the empty one."""

    state: int
    length: int


class Suffixes:
    """Holds a text. ``match`` is its longest suffix that also ends at an earlier place."""

    def __init__(self) -> None:
        self._link = [NOTHING]
        self._length = [0]
        self._end = [0]  # where a state's subtext was last seen to end
        self._token = [NOTHING]  # a state's only continuation, or its first
        self._target = [NOTHING]
        self._more: dict[int, dict[int, int]] = {}  # all continuations of a state that has several
        self._last = ROOT
        self._size = 0

    def __len__(self) -> int:
        """How many tokens the text has."""
        return self._size

    @property
    def match(self) -> Match:
        """The longest suffix that the text also holds at an earlier place."""
        state = max(ROOT, self._link[self._last])
        return Match(state, self._length[state])

    def push(self, token: int) -> None:
        """The text goes on with ``token``."""
        link, length, end = self._link, self._length, self._end
        # Seen again here; states behind longer matches keep older places, which is as good.
        end[max(ROOT, link[self._last])] = self._size
        self._size += 1
        new = self._add(length[self._last] + 1, self._size)
        state = self._last
        target = NOTHING
        while state != NOTHING:
            target = self._follow(state, token)
            if target != NOTHING:
                break
            self._connect(state, token, new)
            state = link[state]
        if state == NOTHING:
            link[new] = ROOT
        elif length[state] + 1 == length[target]:
            link[new] = target
        else:
            copy = self._add(length[state] + 1, end[target])
            self._token[copy], self._target[copy] = self._token[target], self._target[target]
            if target in self._more:
                self._more[copy] = dict(self._more[target])
            link[copy] = link[target]
            link[target] = link[new] = copy
            while state != NOTHING and self._follow(state, token) == target:
                self._connect(state, token, copy)
                state = link[state]
        self._last = new

    def advanced(self, match: Match, token: int) -> Match:
        """The longest end of ``match`` and ``token``, in whatever text, that stands in this one."""
        state, length = match.state, match.length
        target = self._follow(state, token)
        while target == NOTHING and state != ROOT:
            state = self._link[state]
            length = self._length[state]
            target = self._follow(state, token)
        return Match(ROOT, 0) if target == NOTHING else Match(target, length + 1)

    def continuations(
        self, match: Match, limit: int, refused: Collection[int] = ()
    ) -> Iterator[tuple[int, Match, int]]:
        """At most ``limit`` different tokens that followed ``match`` or an end of it, without the ``refused``.

        Each with the match that it makes and the length of the part of ``match`` that it followed: the longest part
        first, of equals what was seen latest.
        """
        state, length = match.state, match.length
        given: set[int] = set()
        while state != ROOT:
            length = min(length, self._length[state])
            more = self._more.get(state)
            if more is None:
                found = [(self._token[state], self._target[state])] if self._token[state] != NOTHING else []
            elif len(more) > len(given):
                found = sorted(more.items(), key=lambda item: -self._end[item[1]])
            else:
                found = []
            for token, target in found:
                if token not in given and token not in refused:
                    yield token, Match(target, length + 1), length
                    given.add(token)
                    if len(given) == limit:
                        return
            state = self._link[state]

    def _add(self, length: int, end: int) -> int:
        self._link.append(NOTHING)
        self._length.append(length)
        self._end.append(end)
        self._token.append(NOTHING)
        self._target.append(NOTHING)
        return len(self._link) - 1

    def _follow(self, state: int, token: int) -> int:
        if self._token[state] == token:
            return self._target[state]
        more = self._more.get(state)
        return NOTHING if more is None else more.get(token, NOTHING)

    def _connect(self, state: int, token: int, target: int) -> None:
        if self._token[state] in (NOTHING, token):
            self._token[state], self._target[state] = token, target
            if state not in self._more:
                return
        elif state not in self._more:
            self._more[state] = {self._token[state]: self._target[state]}
        self._more[state][token] = target
