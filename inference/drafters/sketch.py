"""A draft before its size is settled: a tree of tokens, each with the chance that the target follows it there.

Knows nothing of who proposes it, nor of what passes cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from inference.drafters.base import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Sketch:
    """Nodes by falling chance, so every beginning of them is a tree of its own.

    ``chances`` [nodes] are those that the node and all on its way are what the target writes; ``parents`` as in Draft.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    chances: tuple[float, ...] = ()

    def draft(self, nodes: int) -> Draft:
        """The first ``nodes`` of it."""
        return Draft(self.tokens[:nodes], self.parents[:nodes])

    def expected(self) -> list[float]:
        """Tokens that a round of the first 0, 1, 2, ... nodes is expected to emit, the target's own included."""
        return list(accumulate(self.chances, initial=1.0))


def depth(parents: Sequence[int]) -> int:
    """How many tokens deep a draft goes."""
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return max(depths, default=0)
