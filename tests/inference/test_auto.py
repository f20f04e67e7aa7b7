"""Hybrid takes what promises most, auto what keeps its promises; a try goes first."""

from __future__ import annotations

import pytest

from inference.drafters.auto import Auto
from inference.drafters.hybrid import pace, quickest
from inference.drafters.option import Option

PLAIN = Option("ngram", 0, 1.0, 10.0)
LOOK_UP = Option("ngram", 3, 1.8, 11.0)
TWIN = Option("twin", 2, 2.2, 20.0)


def test_the_option_of_the_most_tokens_a_second_is_taken() -> None:
    assert quickest([LOOK_UP, TWIN]) is LOOK_UP
    assert quickest([PLAIN, TWIN]) is TWIN
    assert quickest([PLAIN, Option("twin", 0, 1.0, 10.0)]) is PLAIN, "the first among equals"


def test_where_the_reply_runs_faster_than_promised_what_costs_less_is_taken() -> None:
    assert quickest([PLAIN, TWIN], pace(recent=0.1, best=TWIN.speed)) is TWIN, "2.2 tokens in 20 ms are 0.11 a ms"
    assert quickest([PLAIN, TWIN], pace(recent=0.15, best=TWIN.speed)) is PLAIN, "10 ms more are worth 1.3 tokens"
    assert quickest([LOOK_UP, TWIN], 0.5, corrections=[0.5, 1.0]) is LOOK_UP, "at a high rate only the time counts"
    assert quickest([LOOK_UP, TWIN], corrections=[0.5, 1.0]) is TWIN
    assert pace(recent=0.3, best=0.1) == pytest.approx(0.2)
    assert pace(recent=0.0, best=0.1) == pytest.approx(0.1)


def test_a_try_goes_before_what_promises_more() -> None:
    tried = Option("twin", 1, 1.2, 18.0, is_try=True)
    assert quickest([LOOK_UP, tried]) is tried
    assert Auto().pick([LOOK_UP, tried], 9) is tried


def test_auto_leaves_a_drafter_alone_that_does_not_keep_its_promises_there() -> None:
    auto = Auto()
    eager = Option("twin", 4, 4.0, 20.0)
    assert auto.pick([LOOK_UP, eager], 9) is eager
    for _ in range(20):
        auto.record(eager, 9, tokens=1, ms=25.0)
        auto.record(LOOK_UP, 9, tokens=2, ms=11.0)
    assert auto.pick([LOOK_UP, eager], 9) is LOOK_UP
    assert auto.pick([LOOK_UP, eager], 12) is eager, "another context length is another matter"
    assert auto.tokens_per_second("twin", 9) == pytest.approx(40)
    assert auto.tokens_per_second("twin", 12) is None
    for _ in range(200):
        auto.record(eager, 9, tokens=4, ms=20.0)
    assert auto.pick([LOOK_UP, eager], 9) is eager, "and it is forgiven"


def test_plain_steps_are_measured_apart_whoever_planned_them() -> None:
    auto = Auto()
    auto.record(PLAIN, 9, tokens=1, ms=20.0)
    auto.record(Option("twin", 0, 1.0, 10.0), 9, tokens=1, ms=20.0)
    assert auto.tokens_per_second("none", 9) == pytest.approx(50)
    assert auto.tokens_per_second("ngram", 9) is None
    assert auto.tokens_per_second("twin", 9) is None
