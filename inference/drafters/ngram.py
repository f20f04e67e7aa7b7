"""The n-gram drafter: what followed the last words when they stood earlier in this chat (prompt lookup).

Costs nothing but a look-up, so it pays wherever text repeats: summaries, code, answers from a given text. Follows
github.com/apoorvumang/prompt-lookup-decoding. Its memory is this chat's ids and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.drafters.base import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.sampling import Sampler

LONGEST = 4
"""Longest match that is looked for; shorter ones down to a single token follow."""


class NgramDrafter:
    """Proposes the continuation of the latest earlier place with the longest match of the last 1 to 4 tokens.

    Continuations are cut before ``ends``, the tokens that end a turn or a reply.
    """

    name = "ngram"

    def __init__(self, ends: frozenset[int]) -> None:
        self._ends = ends
        self._source: Sequence[int] | None = None
        self._ids: list[int] = []
        self._behind: list[dict[tuple[int, ...], int]] = [{} for _ in range(LONGEST + 1)]

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A chain of at most ``k`` tokens; empty when the last token is new."""
        self._learn(ids)
        for size in range(min(LONGEST, len(ids)), 0, -1):
            start = self._behind[size].get(tuple(ids[-size:]))
            if start is not None:
                continuation = list(ids[start : start + k])
                end = next((i for i, token in enumerate(continuation) if token in self._ends), len(continuation))
                if end:
                    return Draft.chain(continuation[:end])
        return Draft()

    def _learn(self, ids: Sequence[int]) -> None:
        """Enter every n-gram that has a successor. Only new tokens are looked at, unless the chat is another.

        Within a reply the engine hands over one growing list, so the whole is compared once a reply.
        """
        known = len(self._ids)
        if ids is not self._source and list(ids[:known]) != self._ids:
            known = 0
            self._ids = []
            self._behind = [{} for _ in range(LONGEST + 1)]
        self._source = ids
        self._ids.extend(ids[known:])
        for end in range(max(1, known), len(ids)):
            for size in range(1, min(LONGEST, end) + 1):
                self._behind[size][tuple(ids[end - size : end])] = end
