"""Hybrid: one source a round, the look-up where its match promises more tokens per second, else the model that drafts.

Is given its parts and what each promises; knows nothing of how they draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.base import Draft


@dataclass(frozen=True, slots=True)
class Option:
    """What one drafter would do in this round: drafts ``k`` deep that promise ``tokens`` in ``ms``, none for K = 0.

    ``draft`` is what it would propose, None when that is still to be made. A try costs more than it promises and is
    made to learn whether that is still so. ``siblings`` stand beside each token of what is still to be made.
    """

    drafter: str
    k: int
    tokens: float
    ms: float
    draft: Draft | None = None
    is_try: bool = False
    siblings: int = 0

    @property
    def speed(self) -> float:
        """Tokens a millisecond."""
        return self.tokens / self.ms


def quickest(options: Sequence[Option]) -> Option:
    """The option of the highest speed, the first among equals; a try goes before all that promise more."""
    return next((option for option in options if option.is_try), max(options, key=lambda option: option.speed))
