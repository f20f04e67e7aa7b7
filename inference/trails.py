"""What is kept of each reply so that any of its rounds can be laid open later: ids, the seed, and what was drafted.

No tensor and no text; a reply of a thousand tokens takes some tens of kilobytes. Knows nothing of models.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from inference.messages import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.engine import Outcome
    from inference.settings import Sampling

KEPT = 400
"""Replies whose trails are kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Played:
    """One round: the ``tokens`` that were kept, and the draft behind the root they were chosen along."""

    tokens: tuple[int, ...]
    k: int
    drafter: str
    draft: tuple[int, ...]
    parents: tuple[int, ...]


@dataclass(slots=True)
class Trail:
    """One reply. ``prompt`` are the ids before it; ``bias`` is by token id."""

    mode: Literal["exact", "fast"]
    prompt: tuple[int, ...]
    sampling: Sampling
    seed: int
    rule: str
    bias: Mapping[int, float]
    rounds: list[Played] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """A round is over."""
        draft = outcome.draft
        self.rounds.append(Played(outcome.tokens, outcome.k, outcome.drafter, draft.tokens, draft.parents))

    def written(self, rounds: int) -> list[int]:
        """The tokens of the first ``rounds`` rounds."""
        return [token for played in self.rounds[:rounds] for token in played.tokens]

    def token_at(self, position: int) -> int | None:
        """The reply's token at ``position``; None behind its end."""
        written = self.written(len(self.rounds))
        return written[position] if position < len(written) else None

    def round_of(self, position: int) -> tuple[int, int]:
        """The round that wrote the reply's token at ``position``, and the token's place in it. Raises Problem."""
        begun = 0
        for index, played in enumerate(self.rounds):
            if position < begun + len(played.tokens):
                return index, position - begun
            begun += len(played.tokens)
        raise Problem("explain.gone")


class Trails:
    """By turn."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Trail] = OrderedDict()

    def keep(self, turn: int, trail: Trail) -> None:
        """From now on; an older trail of this turn is gone."""
        self._kept.pop(turn, None)
        self._kept[turn] = trail
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def find(self, turn: int) -> Trail:
        """The trail of a turn. Raises Problem when it is not kept, or no longer."""
        trail = self._kept.get(turn)
        if trail is None:
            raise Problem("explain.gone")
        return trail

    def clear(self) -> None:
        """Forget all: they belong to a model that is gone."""
        self._kept.clear()
