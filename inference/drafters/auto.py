"""Auto: of all drafters a model has, the one that is quickest here, by tokens per second as they were measured.

What a drafter promises is corrected by what its rounds gave before, by context length; so a drafter whose promises do
not hold is left alone. Is given its parts and what each promises; knows nothing of how they draft.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.drafters.hybrid import quickest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.option import Option

FADE = 0.98
"""What a round leaves of the weight of those before it."""
PRIOR_ROUNDS = 4.0
"""Rounds that a promise counts for, until measured ones outweigh it."""


@dataclass
class Measured:
    """Of one drafter in one range of context lengths: what its rounds gave and what they had promised, faded."""

    rounds: float = 0.0
    tokens: float = 0.0
    ms: float = 0.0
    promised_tokens: float = 0.0
    promised_ms: float = 0.0

    def add(self, option: Option, tokens: int, ms: float) -> None:
        """A round is over."""
        self.rounds = self.rounds * FADE + 1
        self.tokens = self.tokens * FADE + tokens
        self.ms = self.ms * FADE + ms
        self.promised_tokens = self.promised_tokens * FADE + option.tokens
        self.promised_ms = self.promised_ms * FADE + option.ms

    @property
    def tokens_per_second(self) -> float | None:
        """As measured; None before the first round."""
        return 1e3 * self.tokens / self.ms if self.ms else None

    @property
    def correction(self) -> float:
        """What its promises of speed are to be multiplied with, 1 as long as little is known."""
        if not self.rounds:
            return 1.0
        kept = self.tokens * self.promised_ms / (self.ms * self.promised_tokens)
        return (self.rounds * kept + PRIOR_ROUNDS) / (self.rounds + PRIOR_ROUNDS)


@dataclass
class Auto:
    """Measured speeds, by drafter ("none" for plain steps) and by range of context lengths."""

    measured: dict[tuple[str, int], Measured] = field(default_factory=dict)

    def pick(self, options: Sequence[Option], bucket: int, rate: float = 0.0) -> Option:
        """The option that is quickest when promises are corrected; a try goes first. ``rate`` as of ``quickest``."""
        return quickest(options, rate, [self._of(option, bucket).correction for option in options])

    def speed(self, option: Option, bucket: int) -> float:
        """The promised tokens a millisecond, corrected."""
        return option.speed * self._of(option, bucket).correction

    def record(self, option: Option, bucket: int, tokens: int, ms: float) -> None:
        """A round of this option is over."""
        self.measured.setdefault(_key(option, bucket), Measured()).add(option, tokens, ms)

    def tokens_per_second(self, drafter: str, bucket: int) -> float | None:
        """As measured there; None of a drafter that had no round."""
        found = self.measured.get((drafter, bucket))
        return found.tokens_per_second if found else None

    def _of(self, option: Option, bucket: int) -> Measured:
        return self.measured.get(_key(option, bucket), Measured())


def _key(option: Option, bucket: int) -> tuple[str, int]:
    return (option.drafter if option.k else "none", bucket)
