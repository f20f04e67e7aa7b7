"""Chooses K to maximise tokens per second; K may be 0 (design D7).

S(K) = E(K) / (K draft + verify(K)) in measured milliseconds of the mode in force, kept by drafter and context length;
E(K) from the acceptance at each depth. Changes need a margin, and a resting drafter is tried again ever more rarely.
Knows nothing of models, text or what the user set.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from inference.drafters.comb import levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.engine import Outcome
    from inference.measure import StepTimes

PRIOR = 0.65
"""Acceptance assumed of an unknown drafter."""
PRIOR_WEIGHT = 4.0
DEPTH_WEIGHT = 8.0
"""Tests that the pooled acceptance counts for at each depth."""
FADE = 0.98
"""What a round leaves of the weight of those before it."""
CARRIED = 16.0
"""Tests' weight that a new reply takes over from those before it."""
SIBLINGS = (0.3, 0.15, 0.1)
"""Chances assumed of the second, third and fourth candidate where those before it are wrong."""
SIBLINGS_WEIGHT = 8.0
LARGEST_MODEL_K = 24
"""Longest draft of a model that is considered by itself."""
LARGEST_TREE = 63
"""Nodes of a tree: with the root, 64 rows a pass."""
MARGIN = 1.01
"""Gain for which K changes."""
PROBE_SHARE = 0.0125
"""Share of the time that tries of a resting drafter may cost."""
SHORTEST_REST = 8
LONGEST_REST = 256
"""Rounds between tries."""
CHANGE = 0.5
"""A sudden change worth noticing: misses become this many times rarer, or hits do."""
ALARM = 4.0
"""Log-likelihood ratio at which a change counts as seen (one false alarm in about 50 tests that hint at one)."""
KEPT_TIMES = 9
KEPT_SHARES = 21
SHARE_PRIOR = 12.0
"""Measured times that the load's count for."""


class Suspicion:
    """A running test (CUSUM) of whether the acceptance has changed for the better or for the worse.

    ``since`` are the rounds, as (tested, accepted), from which on the change would date.
    """

    def __init__(self, up: bool) -> None:
        self._up = up
        self._ratio = 0.0
        self.since: list[tuple[int, int]] = []

    def hears(self, tested: int, accepted: int, assumed: float) -> bool:
        """Whether this round, with ``assumed`` acceptance so far, makes the change certain enough."""
        assumed = min(0.99, max(0.01, assumed))
        changed = 1 - (1 - assumed) * CHANGE if self._up else assumed * CHANGE
        misses = tested - accepted
        self._ratio += accepted * math.log(changed / assumed) + misses * math.log((1 - changed) / (1 - assumed))
        self.since.append((tested, accepted))
        if self._ratio <= 0:
            self._ratio = 0.0
            self.since = []
        return self._ratio > ALARM


@dataclass
class Acceptance:
    """Weighted counts of tests and hits by depth, for one drafter of one model; forgets what a change outdates.

    ``missed`` and ``caught`` count, by rank, siblings of a wrong token that were put to the test and were right.
    """

    tests: list[float] = field(default_factory=list)
    hits: list[float] = field(default_factory=list)
    missed: list[float] = field(default_factory=lambda: [0.0] * len(SIBLINGS))
    caught: list[float] = field(default_factory=lambda: [0.0] * len(SIBLINGS))
    _suspicions: list[Suspicion] = field(default_factory=lambda: [Suspicion(up=True), Suspicion(up=False)])

    def record(self, tested: int, accepted: int) -> None:
        """A round reached ``tested`` drafted tokens and kept ``accepted``; depths not reached say nothing."""
        assumed = self.pooled()
        sure = [suspicion for suspicion in self._suspicions if suspicion.hears(tested, accepted, assumed)]
        self._count(tested, accepted)
        if sure:
            self.tests, self.hits = [], []
            for round_ in sure[0].since:
                self._count(*round_)
            self._suspicions = [Suspicion(up=True), Suspicion(up=False)]

    def _count(self, tested: int, accepted: int) -> None:
        self.tests = [weight * FADE for weight in self.tests]
        self.hits = [weight * FADE for weight in self.hits]
        while len(self.tests) < tested:
            self.tests.append(0.0)
            self.hits.append(0.0)
        for depth in range(tested):
            self.tests[depth] += 1
            self.hits[depth] += depth < accepted

    def record_siblings(self, siblings: Sequence[int], token: int) -> None:
        """The target wrote ``token`` where the chain's own was wrong; these stood beside it, best first."""
        for rank, sibling in enumerate(siblings[: len(SIBLINGS)]):
            self.missed[rank] = self.missed[rank] * FADE + 1
            self.caught[rank] = self.caught[rank] * FADE + (sibling == token)
            if sibling == token:
                return

    def saved(self, siblings: int) -> float:
        """The chance that one of so many siblings is right where the chain's own token is wrong."""
        wrong = 1.0
        for rank in range(siblings):
            weight = self.missed[rank] + SIBLINGS_WEIGHT
            wrong *= 1 - (self.caught[rank] + SIBLINGS_WEIGHT * SIBLINGS[rank]) / weight
        return 1 - wrong

    def pooled(self) -> float:
        """Acceptance over all depths."""
        return (sum(self.hits) + PRIOR * PRIOR_WEIGHT) / (sum(self.tests) + PRIOR_WEIGHT)

    def expected(self, k: int, siblings: int = 0) -> float:
        """E(K): tokens a round of K drafted tokens with so many ``siblings`` each emits, the target's own included."""
        pooled = self.pooled()
        saved = self.saved(siblings)
        total, reached = 1.0, 1.0
        for depth in range(k):
            tests = self.tests[depth] if depth < len(self.tests) else 0.0
            hits = self.hits[depth] if depth < len(self.hits) else 0.0
            share = (hits + DEPTH_WEIGHT * pooled) / (tests + DEPTH_WEIGHT)
            total += reached * (share + (1 - share) * saved)
            reached *= share
        return total

    def carried(self) -> Acceptance:
        """A prior for the next reply: the same shares with a limited weight."""
        weight = min(1.0, CARRIED / max(sum(self.tests), 1e-9))
        tests, hits, missed, caught = (
            [count * weight for count in one] for one in (self.tests, self.hits, self.missed, self.caught)
        )
        return Acceptance(tests, hits, missed, caught)


class RoundTimes:
    """Measured times by context-length bucket, those of drafts by drafter too, on top of those of the load.

    A machine is quicker and slower from moment to moment, so of a pass two things are kept apart: how quick the machine
    was of late, and how passes of about so many rows (1, 2-3, 4-7, ... drafted) stand to what the load makes expect.
    """

    def __init__(self, measured: StepTimes) -> None:
        self.measured = measured
        self._levels: dict[int, deque[float]] = {}
        self._shares: dict[int, dict[int, deque[float]]] = {}
        self._draft: dict[tuple[str, int], deque[float]] = {}

    @staticmethod
    def bucket(length: int) -> int:
        """Buckets end at 512, 1024, 2048, ... tokens."""
        return max(9, (length - 1).bit_length())

    def record(self, outcome: Outcome) -> None:
        """Keep a round's times."""
        bucket = self.bucket(outcome.length)
        drafted = outcome.drafted
        expected = self.measured.passes(outcome.length)
        level = outcome.verify_ms / expected[min(drafted, len(expected) - 1)]
        levels = self._levels.setdefault(bucket, deque(maxlen=KEPT_TIMES))
        levels.append(level)
        shares = self._shares.setdefault(bucket, {}).setdefault(drafted.bit_length(), deque(maxlen=KEPT_SHARES))
        shares.append(level / statistics.median(levels))
        if drafted:
            kept = self._draft.setdefault((outcome.drafter, bucket), deque(maxlen=KEPT_TIMES))
            kept.append(outcome.draft_ms / drafted)

    def verify(self, length: int, drafted: int) -> float:
        """Milliseconds of a pass over ``drafted`` tokens and the root."""
        rows = self.verify_all(length)
        return rows[min(drafted, len(rows) - 1)]

    def verify_all(self, length: int) -> list[float]:
        """Milliseconds of passes over 0, 1, 2, ... drafted tokens, as far as the load measured them."""
        rows = self.measured.passes(length)
        bucket = self.bucket(length)
        levels = self._levels.get(bucket)
        if not levels:
            return rows
        level = statistics.median(levels)
        rows = [ms * level for ms in rows]
        for size, shares in self._shares[bucket].items():
            share = (len(shares) * statistics.median(shares) + SHARE_PRIOR) / (len(shares) + SHARE_PRIOR)
            for drafted in range(1 << size >> 1, min(1 << size, len(rows))):
                rows[drafted] *= share
        return list(accumulate(reversed(rows), min))[::-1]  # more rows never take less

    def draft(self, drafter: str, length: int, measured: float) -> float:
        """Milliseconds of one drafted token of this drafter, ``measured`` when it was made."""
        seen = self._draft.get((drafter, self.bucket(length)))
        return statistics.median(seen) if seen else measured


class DraftLength:
    """K for one drafter, over one reply. ``step_ms`` is its draft step as measured when it was made.

    ``branches`` says whether its drafts may have siblings beside each token.
    """

    def __init__(
        self, drafter: str, times: RoundTimes, acceptance: Acceptance, step_ms: float, *, branches: bool = False
    ) -> None:
        self._branches = branches
        self._drafter = drafter
        self._times = times
        self._step_ms = step_ms
        self.acceptance = acceptance
        self._k: int | None = None
        self._rested = 0
        self.is_resting = False

    def cost(self, length: int, k: int, siblings: int = 0) -> float:
        """Milliseconds of a round of K with so many siblings beside each token."""
        return self._cost(k, siblings, self._draft(length), self._times.verify_all(length))

    def siblings(self, length: int, k: int) -> int:
        """How many siblings beside each token pay at this K."""
        draft, verify = self._draft(length), self._times.verify_all(length)
        return max(self._widths(k), key=lambda s: self.acceptance.expected(k, s) / self._cost(k, s, draft, verify))

    def _speeds(self, largest: int, draft: float, verify: list[float]) -> list[float]:
        """S(K) for K from 0: expected tokens a millisecond, with the siblings that pay."""
        return [
            max(self.acceptance.expected(k, s) / self._cost(k, s, draft, verify) for s in self._widths(k))
            for k in range(largest + 1)
        ]

    def _widths(self, k: int) -> range:
        return range(min(len(SIBLINGS), LARGEST_TREE // k - 1) + 1 if self._branches and 0 < k < LARGEST_TREE else 1)

    def _cost(self, k: int, siblings: int, draft: float, verify: list[float]) -> float:
        return k * draft + verify[min(k * (1 + siblings), len(verify) - 1)]

    def plan(self, length: int, largest: int) -> int:
        """K for the next round, 0 to ``largest``, with ``length`` tokens in the cache."""
        self.is_resting = False
        if largest == 0:
            return 0
        draft, verify = self._draft(length), self._times.verify_all(length)
        speeds = self._speeds(min(largest, LARGEST_MODEL_K), draft, verify)
        largest = len(speeds) - 1
        best = max(range(largest + 1), key=speeds.__getitem__)
        current = min(self._k, largest) if self._k is not None else best
        if speeds[best] > speeds[current] * MARGIN or (best == 0 and current > 0):
            current = best
        self._k = current
        if current > 0:
            self._rested = 0
            return current
        self.is_resting = True
        self._rested += 1
        if self._rested < self._rest(draft, verify):
            return 0
        self._rested = 0
        return 1

    def _draft(self, length: int) -> float:
        return self._times.draft(self._drafter, length, self._step_ms)

    def _rest(self, draft: float, verify: list[float]) -> int:
        """Rounds between two tries, so that what a try is expected to lose stays a small share of the time."""
        loss = self._cost(1, 0, draft, verify) / verify[0] - self.acceptance.expected(1)
        return round(min(LONGEST_REST, max(SHORTEST_REST, loss / PROBE_SHARE)))

    def record(self, outcome: Outcome) -> None:
        """A round with a draft of this drafter is over."""
        rows = levels(outcome.draft)
        if any(len(level) > 1 for level in rows):
            self._record_comb(rows, outcome.tokens)
        else:
            self.acceptance.record(outcome.tested, outcome.accepted)
        if self.is_resting and outcome.accepted:
            self._rested = LONGEST_REST  # a try that went well is followed by another at once

    def _record_comb(self, rows: list[tuple[int, ...]], tokens: tuple[int, ...]) -> None:
        """What the target wrote tells how far the chain was right, and which sibling was where it was not."""
        kept = 0
        while kept < min(len(rows), len(tokens)) and rows[kept][0] == tokens[kept]:
            kept += 1
        self.acceptance.record(min(kept + 1, len(rows)), kept)
        if kept < min(len(rows), len(tokens)):
            self.acceptance.record_siblings(rows[kept][1:], tokens[kept])
