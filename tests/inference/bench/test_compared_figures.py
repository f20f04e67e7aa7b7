"""Figures of comparisons that were made up so that the right answer is known."""

from __future__ import annotations

from typing import Any

import pytest

from inference.bench.comparison import Comparison, Difference, Plan, RoundRecord, Run, Setting, Side
from inference.bench.figures import exact_identities, figures_of, speed_up, spread
from inference.bench.prompts import Prompt
from inference.messages import Problem

OFF, EXACT, ON = Setting("fast"), Setting("exact"), Setting("exact", on=True, k=3)
PROMPTS = (Prompt("poem", ("Write.",)), Prompt("code", ("Count.", "Again.")))


def run(setting: int, prompt: int = 0, repeat: int = 0, seconds: float = 2.0, **more: Any) -> Run:
    ids = more.pop("ids", tuple(range(20)))
    usual = {
        "step": 0, "turn": -1, "text": "", "finish": "length", "seed": 1, "prompt_tokens": 5, "ttft": 0.1,
        "seconds": seconds + 0.5, "draft_ms": 0.0, "verify_ms": 100.0, "accepted_by_depth": (), "tested_by_depth": (),
        "k_histogram": (), "identity": "a", "rounds": (RoundRecord(0, 0, 0, 0, 20, 1.0, 0.0, 100.0),),
    }  # fmt: skip
    return Run(
        setting=setting, prompt=prompt, repeat=repeat, token_ids=ids, decode_seconds=seconds, **{**usual, **more}
    )


def compared(*runs: Run, settings: tuple[Setting, ...] = (OFF, EXACT, ON)) -> Comparison:
    return Comparison(Plan(settings, PROMPTS), {}, runs, ())


def test_medians_with_the_middle_half() -> None:
    found = spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert found is not None
    assert (found.median, found.low, found.high, found.count) == (3.0, 2.0, 4.0, 5)
    few = spread([2.0, 1.0])
    assert few is not None
    assert (few.median, few.low, few.high) == (1.5, 1.0, 2.0)
    assert spread([]) is None


def test_a_speed_up_is_the_mean_over_prompts_and_its_interval_holds_it() -> None:
    base = [run(0, prompt, repeat, 2.0) for prompt in (0, 1) for repeat in (0, 1, 2)]
    mine = [
        run(2, prompt, repeat, (1.0 if prompt == 0 else 4.0) + 0.1 * repeat)
        for prompt in (0, 1)
        for repeat in (0, 1, 2)
    ]
    found = speed_up(mine, base, 0)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx((2 / 1.1 * 2 / 4.1) ** 0.5)
    assert found.low < found.value < found.high
    assert (found.low, found.high) == (speed_up(mine, base, 0).low, found.high)  # type: ignore[union-attr]


def test_equal_runs_have_an_interval_of_no_width_and_a_single_pair_has_none() -> None:
    mine = [run(2, repeat=repeat, seconds=1.0) for repeat in range(3)]
    base = [run(0, repeat=repeat, seconds=2.0) for repeat in range(3)]
    found = speed_up(mine, base, 0)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))
    single = speed_up(mine[:1], base[:1], 0)
    assert single is not None
    assert (single.value, single.low, single.high) == (pytest.approx(2.0), None, None)
    assert speed_up(mine, [run(0, prompt=1)], 0) is None


def test_a_slow_moment_of_one_repeat_widens_the_interval_and_covers_one() -> None:
    base = [run(0, repeat=repeat, seconds=2.0) for repeat in range(5)]
    mine = [run(2, repeat=repeat, seconds=6.0 if repeat == 4 else 1.9) for repeat in range(5)]
    found = speed_up(mine, base, 0)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1 < found.high


def test_figures_of_a_setting() -> None:
    drafted = {
        "accepted_by_depth": (6, 2), "tested_by_depth": (8, 4), "draft_ms": 40.0, "verify_ms": 60.0, "memory": 7,
        "energy": 10.0, "identity": "e",
        "rounds": tuple(RoundRecord(2, 2, 2, 1, 2, 0.1 * at, 4.0, 6.0) for at in range(10)),
    }  # fmt: skip
    off, exact, on = figures_of(compared(run(0), run(1, identity="e"), run(2, seconds=1.0, **drafted)))
    assert on.tokens_per_round == 2
    assert on.acceptance == pytest.approx(8 / 12)
    assert on.accepted_by_depth == pytest.approx((0.75, 0.5))
    assert (on.draft_ms, on.verify_ms, on.memory, on.energy) == pytest.approx((4.0, 6.0, 7, 0.5))
    assert [(one.baseline, one.value) for one in on.speed_ups] == [(0, pytest.approx(2)), (1, pytest.approx(2))]
    assert off.acceptance is None
    assert [one.baseline for one in off.speed_ups] == [1]
    assert on.rate is not None
    assert on.rate.median == pytest.approx(20.0)
    assert exact.identities == on.identities == ("e",)


def test_texts_are_held_to_plain_decoding_of_the_same_mode_in_every_repeat() -> None:
    other = (*range(12), 99, *range(13, 20))
    found = compared(
        run(0), run(1, ids=other), run(2, ids=other), run(0, 1), run(1, 1), run(2, 1),
        run(0, repeat=1), run(1, repeat=1, ids=other), run(2, repeat=1),
    )  # fmt: skip
    off, exact, on = (figures.sameness for figures in figures_of(found))
    assert (off.reference, off.prompts, off.identical) == (-1, 2, 2)
    assert (exact.reference, exact.identical) == (-1, 2)
    assert (on.reference, on.prompts, on.identical) == (1, 2, 1)  # its second repeat parted


def test_without_plain_decoding_the_first_setting_is_the_measure() -> None:
    plan = Plan((Setting("fast", on=True, k=1), Setting("fast", on=True, k=2)), PROMPTS)
    assert plan.baselines == (0,)
    assert (plan.reference(0), plan.reference(1)) == (None, 0)
    plan = Plan((Setting("exact"), Setting("fast"), Setting("fast", on=True)), PROMPTS)
    assert plan.baselines == (1, 0)
    assert (plan.reference(1), plan.reference(2)) == (None, 1)


def test_identities_of_all_exact_runs() -> None:
    assert exact_identities(compared(run(0, identity="f"), run(1, identity="e"), run(2, identity="e"))) == ("e",)
    assert exact_identities(compared(run(1, identity="e"), run(2, identity="d"))) == ("d", "e")


def difference(mine: tuple[float, float] | None, theirs: tuple[float, float] | None, tie: float = 0.5) -> Difference:
    sides = (Side(5, " a", one, one) for one in (mine, theirs))
    return Difference(2, 1, 0, 0, 0, 12, *sides, tie)


def test_a_near_tie_is_told_from_a_planted_difference() -> None:
    tie = difference((17.25, 17.125), (17.125, 17.25))
    assert tie.gap == pytest.approx(0.125)
    assert tie.own_gap == pytest.approx(-0.125)
    assert tie.is_near_tie is True
    planted = difference((3.0, 17.0), (3.0, 17.0))
    assert planted.own_gap == pytest.approx(14)
    assert planted.is_near_tie is False
    assert difference(None, None).gap is None
    assert difference(None, None).is_near_tie is None


def test_plans_that_make_no_sense_are_refused() -> None:
    with pytest.raises(Problem, match="2 to 4"):
        Plan((OFF,), PROMPTS)
    with pytest.raises(Problem, match="off fast"):
        Plan((OFF, OFF), PROMPTS)
    with pytest.raises(Problem, match="write a message"):
        Plan((OFF, ON), (Prompt("poem", (" ",)),))
    with pytest.raises(Problem, match="repeats is 0"):
        Plan((OFF, ON), PROMPTS, repeats=0)
