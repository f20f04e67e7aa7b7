"""The controller of K: what it chooses on known times and acceptances, and how it rests and tries again."""

from __future__ import annotations

import itertools

import pytest

from inference.draft_length import LONGEST_REST, SHORTEST_REST, Acceptance, DraftLength, RoundTimes
from inference.engine import Outcome
from inference.measure import StepTimes


def outcome(k: int, accepted: int, draft_ms: float = 1.0, verify_ms: float = 10.0, length: int = 100) -> Outcome:
    tested = min(accepted + 1, k)
    last = "plain" if k == 0 else "bonus" if accepted == k else "correction"
    origins = (*["accepted"] * accepted, last)
    return Outcome(
        tokens=(1,) * (accepted + 1), origins=origins, k=k, drafted=k, tested=tested,  # type: ignore[arg-type]
        accepted=accepted, length=length, draft_ms=draft_ms * k, verify_ms=verify_ms, stopped=None,
        drafter="twin" if k else "none",
    )


def planner(
    draft: float = 2.0, verify: float = 10.0, per_token: float = 0.2
) -> DraftLength:
    times = StepTimes((verify, verify), tuple(verify + per_token * k for k in range(9)), 0.0)
    return DraftLength("twin", RoundTimes(times), Acceptance(), draft)


def play(plan: DraftLength, pattern: list[int], draft: float, verify: float = 10.0) -> list[int]:
    """Rounds whose drafts survive to the given depths, over and over; returns the Ks chosen."""
    chosen = []
    for depth in pattern:
        k = plan.plan(100, 8)
        chosen.append(k)
        record(plan, outcome(k, min(k, depth), draft, verify + 0.2 * k))
    return chosen


def record(plan: DraftLength, done: Outcome) -> None:
    """As the planner of a reply does."""
    plan._times.record(done)
    if done.drafted:
        plan.record(done)


def test_expected_tokens_follow_the_closed_form() -> None:
    acceptance = Acceptance()
    for _ in range(4000):
        acceptance.record(1, 1)
        acceptance.record(1, 0)
    half = acceptance.expected(3)
    assert half == pytest.approx(1 + 0.5 + 0.25 + 0.125, rel=0.05)


def test_depths_not_reached_say_nothing_and_a_full_hit_counts_all() -> None:
    acceptance = Acceptance()
    acceptance.record(2, 1)
    assert (acceptance.tests, acceptance.hits) == ([1, 1], [1, 0])
    acceptance.record(3, 3)
    assert acceptance.tests[2] == acceptance.hits[2] == 1


def test_a_good_cheap_drafter_is_used_deeply() -> None:
    chosen = play(planner(draft=1.0), [8] * 60, draft=1.0)
    assert chosen[-1] == 8


def test_a21_a_useless_drafter_rests_soon_and_is_tried_again_rarely() -> None:
    plan = planner(draft=6.0)
    chosen = play(plan, [0] * 400, draft=6.0)
    assert sum(1 for k in chosen[:40] if k) <= 8
    assert sum(chosen[40:]) <= 10
    assert any(chosen[40:]), "it must be tried again"
    gaps = [len(list(run)) for k, run in itertools.groupby(chosen) if k == 0]
    assert all(SHORTEST_REST - 1 <= gap <= LONGEST_REST for gap in gaps[:-1])


def test_cheap_tries_come_oftener_than_dear_ones() -> None:
    cheap, dear = (
        sum(k > 0 for k in play(planner(draft=draft), [0] * 400, draft=draft)[50:]) for draft in (1.5, 9.0)
    )
    assert cheap > dear > 0


def test_a_try_that_went_well_is_followed_by_another_at_once() -> None:
    plan = planner(draft=9.0)
    chosen = play(plan, [0] * 300, draft=9.0)
    while chosen[-1] == 0:
        chosen += play(plan, [1], draft=9.0)
    assert play(plan, [0], draft=9.0) == [1]


def test_a_change_for_the_worse_is_noticed_within_a_few_rounds() -> None:
    acceptance = Acceptance()
    for _ in range(50):
        acceptance.record(8, 8)
    for _ in range(3):
        acceptance.record(1, 0)
    assert acceptance.pooled() < 0.5


def test_it_comes_back_when_the_text_becomes_easy() -> None:
    plan = planner(draft=2.0)
    play(plan, [0] * 60, draft=2.0)
    assert play(plan, [8] * 200, draft=2.0)[-1] > 0


def test_a_drafter_as_dear_as_the_target_is_never_worth_it() -> None:
    assert sum(play(planner(draft=10.0), [8, 0] * 60, draft=10.0)[-60:]) <= 3  # tries


def test_times_of_an_unseen_k_follow_those_seen_at_this_length() -> None:
    times = RoundTimes(StepTimes((10.0, 20.0), tuple(10.0 + k for k in range(9)), 0.0))
    assert times.verify(100, 4) == 14.0
    assert times.verify(2000, 4) == pytest.approx(28.0)  # as the plain step grows
    for _ in range(3):
        times.record(outcome(2, 0, draft_ms=5.0, verify_ms=24.0, length=3000))
    assert times.verify(3000, 2) == 24.0
    assert times.verify(3000, 4) == pytest.approx(14 * 2.0)
    assert times.draft("twin", 3000, 3.0) == 5.0
    assert times.draft("twin", 100, 3.0) == 3.0
    assert times.draft("ngram", 3000, 0.1) == 0.1


def test_a_new_reply_starts_from_what_was_learned_with_limited_weight() -> None:
    acceptance = Acceptance()
    for _ in range(200):
        acceptance.record(1, 0)
    carried = acceptance.carried()
    assert carried.pooled() < 0.25
    for _ in range(40):
        carried.record(1, 1)
    assert carried.pooled() > 0.6
