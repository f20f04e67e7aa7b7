"""What one drafter would do in a round, and what that promises: what hybrid and auto choose among."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
