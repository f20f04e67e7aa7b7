"""The closed forms against sums and a simulation."""

from __future__ import annotations

import random

import pytest

from inference.bench.theory import best_draft_length, expected_tokens, speed_up


@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.65, 0.98, 1.0])
def test_expected_tokens_is_the_sum_over_depths(acceptance: float) -> None:
    for k in range(9):
        assert expected_tokens(acceptance, k) == pytest.approx(sum(acceptance**depth for depth in range(k + 1)))


def test_expected_tokens_of_simulated_rounds() -> None:
    draw = random.Random(3)
    rounds = 20_000
    emitted = 0
    for _ in range(rounds):
        emitted += 1
        for _ in range(4):
            if draw.random() >= 0.7:
                break
            emitted += 1
    assert emitted / rounds == pytest.approx(expected_tokens(0.7, 4), rel=0.02)


def test_plain_decoding_is_the_unit() -> None:
    assert speed_up(0.9, 0, draft=0.3, verify=1.0) == 1
    assert speed_up(0.8, 2, draft=0.25, verify=1.1) == pytest.approx((1 + 0.8 + 0.64) / 1.6)


def test_the_best_k_rests_when_drafting_costs_more_than_it_saves() -> None:
    verify = [1 + 0.02 * k for k in range(9)]
    assert best_draft_length(0.9, 0.2, verify) > 3
    assert best_draft_length(0.2, 0.6, verify) == 0
    assert best_draft_length(1.0, 0.0, [1.0, 1.0, 1.0]) == 2


def test_an_acceptance_is_a_share() -> None:
    with pytest.raises(ValueError, match="not between"):
        expected_tokens(1.2, 3)
