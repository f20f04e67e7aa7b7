"""A chain with further candidates beside each of its tokens: more chances a step for rows only, at no step more.

Only the chain's own tokens are followed further, so a model drafts it in as many steps as the chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.drafters.base import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence


class Comb:
    """Grows level by level."""

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._parents: list[int] = []
        self._last = -1

    def add(self, candidates: Sequence[int]) -> int:
        """The next level, the chain's own token first, which is returned."""
        parent, self._last = self._last, len(self._tokens)
        self._tokens.extend(candidates)
        self._parents.extend([parent] * len(candidates))
        return candidates[0]

    def draft(self) -> Draft:
        """What has grown."""
        return Draft(tuple(self._tokens), tuple(self._parents))


def levels(draft: Draft) -> list[tuple[int, ...]]:
    """The candidates of each level, the chain's own token first."""
    found: list[list[int]] = []
    before: int | None = None
    for token, parent in zip(draft.tokens, draft.parents, strict=True):
        if parent != before:
            found.append([])
            before = parent
        found[-1].append(token)
    return [tuple(level) for level in found]
