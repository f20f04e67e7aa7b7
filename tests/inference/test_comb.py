"""A chain with siblings: how it is built and read again, when siblings pay, and what is learned of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.draft_length import SIBLINGS, Acceptance, DraftLength, RoundTimes
from inference.drafters.base import Draft
from inference.drafters.comb import Comb, levels
from inference.measure import StepTimes
from tests.inference.test_draft_length import outcome


def comb(*rows: tuple[int, ...]) -> Draft:
    found = Comb()
    for row in rows:
        assert found.add(row) == row[0]
    return found.draft()


def length(per_token: float, draft: float = 3.0, *, branches: bool = True) -> DraftLength:
    times = StepTimes((10.0, 10.0), tuple(10 + per_token * k for k in range(64)), 0.0)
    return DraftLength("twin", RoundTimes(times), Acceptance(), draft, branches=branches)


def test_each_level_follows_the_chains_own_token() -> None:
    draft = comb((5, 6, 7), (8,), (9, 1))
    assert draft == Draft((5, 6, 7, 8, 9, 1), (-1, -1, -1, 0, 3, 3))
    assert levels(draft) == [(5, 6, 7), (8,), (9, 1)]
    assert levels(Draft.chain([1, 2, 3])) == [(1,), (2,), (3,)]
    assert levels(Draft()) == []


def test_a_sibling_gives_a_token_where_the_chain_missed() -> None:
    acceptance = Acceptance([1e6], [0.5e6])
    assert acceptance.expected(1) == pytest.approx(1.5, abs=1e-3)
    assert acceptance.expected(1, 1) == pytest.approx(1.5 + 0.5 * SIBLINGS[0], abs=1e-3)
    assert acceptance.saved(2) == pytest.approx(1 - (1 - SIBLINGS[0]) * (1 - SIBLINGS[1]))
    assert acceptance.saved(0) == 0


def test_siblings_pay_where_rows_are_cheap_and_only_where_drafts_may_branch() -> None:
    assert length(0.05).siblings(100, 2) == len(SIBLINGS)
    assert length(4.0).siblings(100, 2) == 0
    assert length(0.05, branches=False).siblings(100, 2) == 0
    assert length(0.05).siblings(100, 0) == 0
    assert length(0.05).siblings(100, 20) <= 2, "no more than 64 rows"


def test_what_the_target_wrote_tells_of_chain_and_siblings() -> None:
    one = length(0.05)
    draft = comb((5, 6, 7), (8, 9, 1))
    base = replace(outcome(2, 1), draft=draft)
    one.record(replace(base, tokens=(5, 9, 3), accepted=2, tested=2))  # a sibling of the second level, and a bonus
    assert (one.acceptance.tests, one.acceptance.hits) == ([1, 1], [1, 0])
    assert (one.acceptance.missed[:2], one.acceptance.caught[:2]) == ([1, 0], [1, 0])
    one.record(replace(base, tokens=(4,), accepted=0, tested=1))  # none of the first level
    assert one.acceptance.missed[:2] == pytest.approx([1.98, 1])
    assert one.acceptance.caught[:2] == pytest.approx([0.98, 0])
    one.record(replace(base, tokens=(5, 8, 3), accepted=2, tested=2))
    assert one.acceptance.hits[1] == pytest.approx(1), "a full hit counts for every level"
    assert one.acceptance.carried().caught[0] == pytest.approx(one.acceptance.caught[0], rel=0.2)
