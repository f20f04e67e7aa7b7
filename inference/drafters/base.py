"""What every drafter offers: one method that proposes a draft, a tree of tokens behind the last emitted one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.sampling import Row, Sampler


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed ``tokens``; ``parents[i]`` is the node that token i follows, -1 the root (the last emitted token).

    ``probabilities`` holds, for chains drawn under the textbook rule, the distribution [vocabulary] of each token;
    None means that the tokens are a deterministic choice.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    probabilities: tuple[Row, ...] | None = None

    @classmethod
    def chain(cls, tokens: Sequence[int], probabilities: Sequence[Row] | None = None) -> Draft:
        """A draft without branches."""
        drawn = tuple(probabilities) if probabilities else None
        return cls(tuple(tokens), tuple(range(-1, len(tokens) - 1)), drawn)


@runtime_checkable
class Branching(Protocol):
    """A drafter whose drafts may have siblings."""

    def propose_tree(self, ids: Sequence[int], k: int, siblings: int, sampler: Sampler) -> Draft:
        """A chain of ``k`` tokens with so many ``siblings`` beside each, under the coupled rule."""
        ...


class Drafter(Protocol):
    """Proposes what may come next; whatever it proposes, the text stays the same."""

    @property
    def name(self) -> str:
        """What it is called in settings."""
        ...

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A draft at most ``k`` tokens deep behind ``ids`` (prompt and reply so far; the last one is the root)."""
        ...
