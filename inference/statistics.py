"""Counts and times of one reply, kept round by round, and the statistics made of them."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from inference.events import Statistics

if TYPE_CHECKING:
    from inference.engine import Outcome
    from inference.events import Notice
    from inference.ready import Ready
    from inference.settings import Speculation

LIBRARIES = ("borrador", "torch", "transformers", "bitsandbytes")


class Tally:
    """Grows with each round. ``begun`` is the time.perf_counter() at which the reply was asked for."""

    def __init__(self, begun: float, prompt_tokens: int, reused: int, seed: int) -> None:
        self._begun = begun
        self._prefill_seconds = 0.0
        self._first: float | None = None
        self._prompt_tokens = prompt_tokens
        self._reused = reused
        self._seed = seed
        self.token_ids: list[int] = []
        self.rounds = 0
        self._drafted = self._tested = self._accepted = 0
        self._accepted_by_depth: list[int] = []
        self._tested_by_depth: list[int] = []
        self._k_histogram: list[int] = []
        self._by_drafter: dict[str, int] = {}
        self._spent: dict[str, tuple[int, float]] = {}
        self._draft_ms = self._verify_ms = 0.0
        self._length = prompt_tokens

    def prefilled(self) -> None:
        """The prompt has been read."""
        self._prefill_seconds = time.perf_counter() - self._begun

    def add(self, outcome: Outcome) -> None:
        """A round is over."""
        if self._first is None:
            self._first = time.perf_counter() - self._begun
        self.token_ids.extend(outcome.tokens)
        self.rounds += 1
        self._drafted += outcome.drafted
        self._tested += outcome.tested
        self._accepted += outcome.accepted
        for depth in range(outcome.tested):
            _count(self._tested_by_depth, depth)
            _count(self._accepted_by_depth, depth, by=depth < outcome.accepted)
        _count(self._k_histogram, outcome.k)
        self._by_drafter[outcome.drafter] = self._by_drafter.get(outcome.drafter, 0) + 1
        tokens, ms = self._spent.get(outcome.drafter, (0, 0.0))
        self._spent[outcome.drafter] = (tokens + len(outcome.tokens), ms + outcome.draft_ms + outcome.verify_ms)
        self._draft_ms += outcome.draft_ms
        self._verify_ms += outcome.verify_ms
        self._length = outcome.length

    @property
    def acceptance(self) -> float | None:
        """Accepted / tested so far."""
        return self._accepted / self._tested if self._tested else None

    def statistics(
        self, ready: Ready, speculation: Speculation, rule: str, drafter: str, why: Notice | None = None
    ) -> Statistics:
        """The figures of the reply as it stands; ``drafter`` is the one set at its end, ``why`` the last status."""
        spent = (self._draft_ms + self._verify_ms) / 1e3
        count = max(1, self.rounds)
        loaded = ready.loaded
        return Statistics(
            tokens=len(self.token_ids),
            seconds=time.perf_counter() - self._begun,
            ttft=self._first if self._first is not None else time.perf_counter() - self._begun,
            tokens_per_second=len(self.token_ids) / spent if spent else 0.0,
            plain_tokens_per_second=1e3 / ready.times.plain(self._length),
            rounds=self.rounds,
            drafted=self._drafted,
            tested=self._tested,
            accepted=self._accepted,
            acceptance=self.acceptance,
            tokens_per_round=len(self.token_ids) / count,
            accepted_by_depth=tuple(self._accepted_by_depth),
            tested_by_depth=tuple(self._tested_by_depth),
            k_histogram=tuple(self._k_histogram),
            draft_ms=self._draft_ms / count,
            verify_ms=self._verify_ms / count,
            prompt_tokens=self._prompt_tokens,
            reused=self._reused,
            prefill_seconds=self._prefill_seconds,
            seed=self._seed,
            rule=rule,
            k="off" if not speculation.on else "auto" if speculation.k is None else str(speculation.k),
            mode=loaded.mode,
            width=loaded.width,
            drafter=drafter,
            model=loaded.model,
            bits=ready.bits,
            device=loaded.device,
            dtype=loaded.dtype,
            threads=loaded.threads,
            identity=loaded.identity,
            versions={name: version(name) for name in LIBRARIES},
            rounds_by_drafter=dict(self._by_drafter),
            tokens_per_second_by_drafter={name: 1e3 * n / ms for name, (n, ms) in self._spent.items() if ms},
            why=why,
            memory=ready.taken(),
        )


def _count(counts: list[int], place: int, by: int = 1) -> None:
    counts.extend([0] * (place + 1 - len(counts)))
    counts[place] += by
