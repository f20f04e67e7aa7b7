"""What every drafter offers: one method that proposes a draft, a tree of tokens behind the last emitted one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.sampling import Sampler


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed ``tokens``; ``parents[i]`` is the node that token i follows, -1 the root (the last emitted token)."""

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()

    @classmethod
    def chain(cls, tokens: Sequence[int]) -> Draft:
        """A draft without branches."""
        return cls(tuple(tokens), tuple(range(-1, len(tokens) - 1)))


class Drafter(Protocol):
    """Proposes what may come next; whatever it proposes, the text stays the same."""

    name: str

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A draft at most ``k`` tokens deep behind ``ids`` (prompt and reply so far; the last one is the root)."""
        ...
