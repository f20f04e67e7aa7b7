"""The figures of a reply stay true where little or nothing was drafted."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from inference.engine import Outcome
from inference.measure import StepTimes
from inference.settings import Speculation
from inference.statistics import Tally


def outcome(drafted: int, accepted: int) -> Outcome:
    tested = min(drafted, accepted + 1)
    origins = ("accepted",) * accepted + ("bonus" if accepted == drafted else "correction",)
    return Outcome(
        tokens=tuple(range(accepted + 1)),
        origins=origins if drafted else ("plain",),
        k=drafted,
        drafted=drafted,
        tested=tested,
        accepted=accepted,
        length=50,
        draft_ms=1.0,
        verify_ms=9.0,
        stopped=None,
    )


READY: Any = SimpleNamespace(
    loaded=SimpleNamespace(
        mode="fast",
        width=1,
        drafter="ngram",
        model="m",
        name="m",
        device="cpu",
        dtype="float32",
        threads=2,
        identity="i",
    ),
    times=StepTimes((10.0, 12.0), (10.0, 11.0), 0.0),
    bits=None,
    taken=dict,
)


def figures(outcomes: list[Outcome]) -> Any:
    tally = Tally(time.perf_counter(), 50, 0, 1)
    for one in outcomes:
        tally.add(one)
    return tally.statistics(READY, Speculation(), "coupled", "ngram")


def test_a22_a_drafter_that_hardly_proposes_shows_in_the_tokens_per_round() -> None:
    """All of the one token proposed in ten rounds was accepted: 100 %, and hardly any gain."""
    found = figures([outcome(0, 0)] * 9 + [outcome(1, 1)])
    assert found.acceptance == 1.0
    assert (found.drafted, found.tested, found.accepted) == (1, 1, 1)
    assert found.tokens_per_round == pytest.approx(1.1)


def test_a22_nothing_proposed_is_no_division_by_zero() -> None:
    found = figures([outcome(0, 0)] * 5)
    assert found.acceptance is None
    assert found.tokens_per_round == 1.0
    nothing = figures([])
    assert (nothing.acceptance, nothing.tokens_per_round, nothing.tokens_per_second) == (None, 0.0, 0.0)
