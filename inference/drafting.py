"""Who drafts the next round and how far: what the user set is read at every round, so a switch takes effect at once.

The planner and the drafter of one reply, over all drafters that the model has. What is learned of each is kept apart,
and from reply to reply; nothing of a chat's tokens is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.draft_length import Acceptance, DraftLength, RoundTimes
from inference.drafters.auto import Auto
from inference.drafters.base import Branching, Draft
from inference.drafters.hybrid import pace, quickest
from inference.drafters.ngram import Chances, NgramDrafter
from inference.messages import Notice
from inference.sources import LookUp, Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.offered import Offered
    from inference.drafters.option import Option
    from inference.engine import Outcome
    from inference.sampling import Sampler
    from inference.settings import Control, Speculation
    from inference.sources import Source

RECENT = 12
"""Rounds that the shown speed covers, and by which a round's time is valued."""


@dataclass
class Learned:
    """What was measured of a model's drafters in one mode: times, acceptance by name, chances of matches, speeds."""

    times: RoundTimes
    acceptance: dict[str, Acceptance] = field(default_factory=dict)
    chances: Chances = field(default_factory=Chances)
    auto: Auto = field(default_factory=Auto)


class Drafting:
    """For one reply. ``preset`` drafts where ``control`` names no drafter; ``control`` is read at every round.

    ``trees`` says whether drafts may branch.
    """

    def __init__(
        self, offered: Offered, preset: str, learned: Learned, control: Control, *, trees: bool = False
    ) -> None:
        self._offered = offered
        self._preset = preset
        self._learned = learned
        self._control = control
        self._trees = trees
        self._coupled = control.speculation.rule == "coupled"  # the rule of a reply is that of its beginning
        found = offered.find("ngram")
        if found is not None and isinstance(found.drafter, NgramDrafter):
            found.drafter.chances = learned.chances
        self._lengths: dict[str, DraftLength] = {}
        self._option: Option | None = None
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT)
        self._was: tuple[object, ...] = ()
        self.said: Notice | None = None
        """The last status."""

    @property
    def chosen(self) -> str:
        """The drafter that is set now."""
        return self._control.speculation.drafter or self._preset

    @property
    def name(self) -> str:
        """What drafts in this round."""
        return self._option.drafter if self._option else "none"

    def plan(self, ids: Sequence[int], largest: int) -> int:
        """K for the next round, 0 to ``largest``, behind ``ids``."""
        speculation = self._control.speculation
        now = (speculation.on, speculation.k, self.chosen)
        if now != self._was:
            self._was = now
            self._recent.clear()  # the speed shown belongs to one setting
        self._option = self._pick(ids, largest, speculation) if speculation.on else None
        return self._option.k if self._option else 0

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """The draft that was planned, or that of the drafter that was."""
        if self._option is None:
            return Draft()
        if self._option.draft is not None:
            return self._option.draft
        offer = self._offered.find(self._option.drafter)
        if offer is None:
            return Draft()
        if self._option.siblings and isinstance(offer.drafter, Branching):
            return offer.drafter.propose_tree(ids, k, self._option.siblings, sampler)
        return offer.drafter.propose(ids, k, sampler)

    def record(self, outcome: Outcome) -> None:
        """A round is over."""
        self._learned.times.record(outcome)
        spent = outcome.draft_ms + outcome.verify_ms
        if self._option is not None:
            source = self._source(self._option.drafter)
            if outcome.drafted and source is not None:
                source.record(outcome)
            bucket = RoundTimes.bucket(outcome.length)
            self._learned.auto.record(self._option, bucket, len(outcome.tokens), spent)
        self._recent.append((len(outcome.tokens), spent))

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
        self.said = self._status(outcome)
        return self.said

    def _status(self, outcome: Outcome) -> Notice:
        speculation = self._control.speculation
        if not speculation.on:
            return Notice("speculation.off")
        if not self._offered.can(self.chosen):
            return Notice("speculation.none", {"reason": self._offered.reason(self.chosen).id})
        if speculation.k == 0:
            return Notice("speculation.zero")
        resting = self._lengths.get(self.chosen)
        if speculation.k is None and resting is not None and resting.is_resting:
            return Notice("speculation.resting")
        plain = 1e3 / self._learned.times.measured.plain(outcome.length)
        name = f"drafter.name.{outcome.drafter}"
        if self.chosen == "auto":
            measured = self._learned.auto.tokens_per_second(outcome.drafter, RoundTimes.bucket(outcome.length))
            rate = {"rate": measured or self.tokens_per_second(), "plain": plain}
            return Notice("speculation.auto", {"reason": name, "k": outcome.k, **rate})
        if len(self._recent) < 4:
            return Notice("speculation.measuring", {"k": outcome.k})
        speedup = self.tokens_per_second() / plain
        if self.chosen == "hybrid":
            return Notice("speculation.hybrid", {"reason": name, "k": outcome.k, "speedup": speedup})
        return Notice("speculation.on", {"k": outcome.k, "speedup": speedup})

    def _pick(self, ids: Sequence[int], largest: int, speculation: Speculation) -> Option | None:
        """The option of the drafter that is set, or of the one among its parts that is quickest."""
        names = self._offered.parts(self.chosen)
        sources = [source for source in map(self._source, names) if source is not None]
        if not sources:
            return None
        auto = self._learned.auto if self.chosen == "auto" else None
        bucket = RoundTimes.bucket(len(ids) - 1)
        if speculation.k is not None:
            k = min(speculation.k, largest)
            fixed = [source.fixed(ids, k) for source in sources]
            options = [option for option in fixed if option.k] or fixed
            return auto.pick(options, bucket) if auto else quickest(options)
        options = [source.best(ids, largest) for source in sources]
        best = max(auto.speed(option, bucket) if auto else option.speed for option in options)
        rate = pace(self.tokens_per_second() / 1e3 if len(self._recent) == RECENT else 0.0, best)
        if rate > best and len(sources) > 1:
            options = [source.hurried(ids, option, rate) for source, option in zip(sources, options, strict=True)]
        return auto.pick(options, bucket, rate) if auto else quickest(options, rate)

    def _source(self, name: str) -> Source | None:
        offer = self._offered.find(name)
        if offer is None:
            return None
        if isinstance(offer.drafter, NgramDrafter):
            return LookUp(offer.drafter, self._learned.times, self._trees, self._control.speculation.other_chats)
        if name not in self._lengths:
            acceptance = self._learned.acceptance.get(name, Acceptance()).carried()
            branches = self._trees and self._coupled and isinstance(offer.drafter, Branching)
            times = self._learned.times
            self._lengths[name] = DraftLength(name, times, acceptance, offer.step_ms, branches=branches)
        return Model(name, self._lengths[name])
