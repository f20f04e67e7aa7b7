"""The controller against the best fixed K on simulated drafters, some of which change suddenly."""

from __future__ import annotations

import copy
import itertools
import operator
import random

import pytest

from inference.draft_length import Acceptance, DraftLength, RoundTimes
from inference.measure import StepTimes
from tests.inference.test_draft_length import outcome, record

PLAIN_MS = 10.0
LARGEST = 8
SETTLING = 30
ROUNDS = 200
SEEDS = range(6)


def tokens(acceptance: list[float], k: int) -> float:
    """E(K) in closed form."""
    total = reached = 1.0
    for depth in range(k):
        reached *= acceptance[depth]
        total += reached
    return total


def curve(level: float, fall: float) -> list[float]:
    """Acceptance at each depth."""
    return [level * fall**depth for depth in range(LARGEST)]


def cost(c: float, v: float, k: int) -> float:
    """A round in plain steps."""
    return k * c + 1 + v * k


class Simulated:
    """A controller at work on a drafter, on times with 3 % of noise."""

    def __init__(self, c: float, v: float, seed: int) -> None:
        self.c, self.v = c, v
        self.chance = random.Random(seed)
        measured = StepTimes((PLAIN_MS, PLAIN_MS), tuple(PLAIN_MS * (1 + v * k) for k in range(LARGEST + 1)), 0.0)
        self.plan = DraftLength("twin", RoundTimes(measured), Acceptance(), PLAIN_MS * c)

    def phase(self, acceptance: list[float]) -> list[int]:
        """The Ks chosen in ROUNDS rounds, in which a token at each depth is right with this chance."""
        chosen = []
        for _ in range(ROUNDS):
            k = self.plan.plan(100, LARGEST)
            chosen.append(k)
            accepted = 0
            while accepted < k and self.chance.random() < acceptance[accepted]:
                accepted += 1
            draft, verify = (PLAIN_MS * self.chance.gauss(1, 0.03) for _ in range(2))
            record(self.plan, outcome(k, accepted, self.c * draft, verify * (1 + self.v * k)))
        return chosen


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.1, 0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("v", [0.0, 0.08, 0.25])
def test_it_comes_near_the_best_fixed_k_and_never_costs_much(c: float, v: float) -> None:
    """95 % of the best K from round 30 on, also after a change; 97 % of K = 0 over 200 and over all rounds.

    Right behind a fall from .98 the second bound cannot hold for anyone: one round of K = 8 costs up to 7 plain steps.
    So it is asked of the first 200 rounds and of all. Means of six runs; expected tokens, so that luck counts less.
    """
    ks = range(LARGEST + 1)
    spent = [cost(c, v, k) for k in ks]
    for before, fall in itertools.product((0.2, 0.5, 0.65, 0.8, 0.9, 0.98), (1.0, 0.85)):
        runs = [Simulated(c, v, seed) for seed in SEEDS]
        first = [run.phase(curve(before, fall)) for run in runs]
        for after in (0.2, 0.65, 0.98):
            second = [copy.deepcopy(run).phase(curve(after, fall)) for run in runs]
            won, paid = [], []
            for phase, (level, chosen) in enumerate(((before, first), (after, second))):
                got = [tokens(curve(level, fall), k) for k in ks]
                best = max(map(operator.truediv, got, spent))
                settled = [k for run in chosen for k in run[SETTLING:]]
                share = sum(got[k] for k in settled) / sum(spent[k] for k in settled) / best
                assert share >= 0.95, (before, fall, after, phase, share)
                every = [k for run in chosen for k in run]
                won.append(sum(got[k] for k in every))
                paid.append(sum(spent[k] for k in every))
            assert won[0] / paid[0] >= 0.97, (before, fall)
            assert sum(won) / sum(paid) >= 0.97, (before, fall, after)
