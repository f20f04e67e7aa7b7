"""The controller against the best fixed K on simulated drafters, some of which change suddenly."""

from __future__ import annotations

import itertools
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


def cost(c: float, v: float, k: int) -> float:
    """A round in plain steps."""
    return k * c + 1 + v * k


def simulate(phases: list[list[float]], c: float, v: float, seed: int) -> list[list[int]]:
    """The Ks chosen in each phase of ROUNDS rounds, on times with 3 % of noise."""
    chance = random.Random(seed)
    measured = StepTimes(
        (PLAIN_MS, PLAIN_MS), tuple(PLAIN_MS * (1 + v * k) for k in range(LARGEST + 1)), 0.0
    )
    plan = DraftLength("twin", RoundTimes(measured), Acceptance(), PLAIN_MS * c)
    chosen: list[list[int]] = []
    for acceptance in phases:
        chosen.append([])
        for _ in range(ROUNDS):
            k = plan.plan(100, LARGEST)
            chosen[-1].append(k)
            accepted = 0
            while accepted < k and chance.random() < acceptance[accepted]:
                accepted += 1
            draft, verify = (PLAIN_MS * chance.gauss(1, 0.03) for _ in range(2))
            record(plan, outcome(k, accepted, c * draft, verify * (1 + v * k)))
    return chosen


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.1, 0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("v", [0.0, 0.08, 0.25])
def test_it_comes_near_the_best_fixed_k_and_never_costs_much(c: float, v: float) -> None:
    """95 % of the best K from round 30 on, also after a change; 97 % of K = 0 over 200 and over all rounds.

    Right behind a fall from .98 the second bound cannot hold for anyone: one round of K = 8 costs up to 7 plain steps.
    So it is asked of the first 200 rounds and of all. Means of six runs; expected tokens, so that luck counts less.
    """
    for before, fall, after in itertools.product(
        (0.2, 0.5, 0.65, 0.8, 0.9, 0.98), (1.0, 0.85), (0.2, 0.65, 0.98)
    ):
        phases = [[a * fall**depth for depth in range(LARGEST)] for a in (before, after)]
        runs = [simulate(phases, c, v, seed) for seed in SEEDS]
        rates = []
        for phase, acceptance in enumerate(phases):
            best = max(tokens(acceptance, k) / cost(c, v, k) for k in range(LARGEST + 1))
            settled = [k for run in runs for k in run[phase][SETTLING:]]
            share = sum(tokens(acceptance, k) for k in settled) / sum(cost(c, v, k) for k in settled) / best
            assert share >= 0.95, (before, fall, after, phase, share)
            chosen = [k for run in runs for k in run[phase]]
            rates.append((sum(tokens(acceptance, k) for k in chosen), sum(cost(c, v, k) for k in chosen)))
        assert rates[0][0] / rates[0][1] >= 0.97, (before, fall)
        assert sum(got for got, _ in rates) / sum(spent for _, spent in rates) >= 0.97, (before, fall, after)
