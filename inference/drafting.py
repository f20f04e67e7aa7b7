"""Who drafts the next round and how far: what the user set is read at every round, so a switch takes effect at once.

The planner and the drafter of one reply, over all drafters that the model has. What is learned of each is kept apart,
and from reply to reply; nothing of a chat's tokens is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.draft_length import Acceptance, DraftLength, RoundTimes
from inference.drafters.base import Draft
from inference.messages import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.offered import Offer, Offered
    from inference.engine import Outcome
    from inference.sampling import Sampler
    from inference.settings import Control

RECENT = 12
"""Rounds that the shown speed covers."""


@dataclass
class Learned:
    """What was measured of a model's drafters in one mode: times, and the acceptance of each by name."""

    times: RoundTimes
    acceptance: dict[str, Acceptance] = field(default_factory=dict)


class Drafting:
    """For one reply. ``preset`` drafts where ``control`` names no drafter; ``control`` is read at every round."""

    def __init__(self, offered: Offered, preset: str, learned: Learned, control: Control) -> None:
        self._offered = offered
        self._preset = preset
        self._learned = learned
        self._control = control
        self._lengths: dict[str, DraftLength] = {}
        self._offer: Offer | None = None
        self._length: DraftLength | None = None
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT)
        self._was: tuple[object, ...] = ()

    @property
    def chosen(self) -> str:
        """The drafter that is set now."""
        return self._control.speculation.drafter or self._preset

    @property
    def name(self) -> str:
        """What drafts in this round."""
        return self._offer.drafter.name if self._offer else "none"

    def plan(self, ids: Sequence[int], largest: int) -> int:
        """K for the next round, 0 to ``largest``, behind ``ids``."""
        speculation = self._control.speculation
        now = (speculation.on, speculation.k, self.chosen)
        if now != self._was:
            self._was = now
            self._recent.clear()  # the speed shown belongs to one setting
        self._length = None
        self._offer = self._offered.find(self.chosen)
        if self._offer is None or not speculation.on:
            return 0
        if speculation.k is not None:
            return min(speculation.k, largest)
        self._length = self._length_of(self._offer)
        return self._length.plan(len(ids) - 1, largest)

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """The draft of whoever was planned."""
        return self._offer.drafter.propose(ids, k, sampler) if self._offer else Draft()

    def record(self, outcome: Outcome) -> None:
        """A round is over."""
        self._learned.times.record(outcome)
        if outcome.drafted and self._offer is not None:
            self._length_of(self._offer).record(outcome)
        self._recent.append((len(outcome.tokens), outcome.draft_ms + outcome.verify_ms))

    def end(self) -> None:
        """The reply is over: the next one begins with what was learned, at a limited weight."""
        for name, length in self._lengths.items():
            self._learned.acceptance[name] = length.acceptance

    def tokens_per_second(self) -> float:
        """Over the last rounds of the setting in force."""
        spent = sum(ms for _, ms in self._recent)
        return 1e3 * sum(count for count, _ in self._recent) / spent if spent else 0.0

    def status(self, outcome: Outcome) -> Notice:
        """What speculation does and why, after this round."""
        speculation = self._control.speculation
        if not speculation.on:
            return Notice("speculation.off")
        if self._offered.find(self.chosen) is None:
            return Notice("speculation.none", {"reason": self._offered.reason(self.chosen).id})
        if speculation.k == 0:
            return Notice("speculation.zero")
        if self._length is not None and self._length.is_resting:
            return Notice("speculation.resting")
        if len(self._recent) < 4:
            return Notice("speculation.measuring", {"k": outcome.k})
        plain = 1e3 / self._learned.times.measured.plain(outcome.length)
        return Notice("speculation.on", {"k": outcome.k, "speedup": self.tokens_per_second() / plain})

    def _length_of(self, offer: Offer) -> DraftLength:
        name = offer.drafter.name
        if name not in self._lengths:
            acceptance = self._learned.acceptance.get(name, Acceptance()).carried()
            self._lengths[name] = DraftLength(name, self._learned.times, acceptance, offer.step_ms)
        return self._lengths[name]
