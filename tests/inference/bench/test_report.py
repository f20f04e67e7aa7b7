"""Figures from runs that were made up so that the right answer is known."""

from __future__ import annotations

import math
from typing import Any

import pytest

from inference.bench.report import compared, first_difference, share, summarise, totals
from inference.bench.suite import Reply, Run


def run(contender: str, prompt: int, group: str, tokens: int, seconds: float, turn: int = 0, **more: Any) -> Run:
    ids = more.pop("ids", tuple(range(tokens)))
    reply = Reply(
        text="", token_ids=ids, finish="length", decode_seconds=seconds, ttft=0.1, prompt_tokens=5, seed=1,
        timed_tokens=tokens, **{"rounds": tokens, **more},
    )  # fmt: skip
    return Run(contender, prompt, group, turn, 0, reply)


PLAIN = [
    run("off fast", 0, "chat", 100, 10.0),
    run("off fast", 1, "chat", 20, 5.0),
    run("off fast", 2, "qa", 40, 1.0),
]
DRAFTED = [
    run("twin", 0, "chat", 100, 5.0, rounds=50, accepted_by_depth=(40, 10), tested_by_depth=(50, 40),
        k_histogram=(0, 0, 50), drafted=100),
    run("twin", 1, "chat", 20, 2.5, rounds=10, accepted_by_depth=(8,), tested_by_depth=(10,), k_histogram=(2, 8),
        drafted=8, ids=(*range(15), 99, *range(16, 20))),
    run("twin", 2, "qa", 40, 2.0, rounds=40, k_histogram=(40,)),
]  # fmt: skip


def figures() -> dict[str, Any]:
    return summarise([*PLAIN, *DRAFTED], {"fast": "off fast", "exact": "off exact"}, {"twin": "off fast"})


def test_a_group_is_all_its_tokens_over_all_its_seconds() -> None:
    found = figures()["off fast"]
    assert found["groups"] == pytest.approx({"chat": 8.0, "qa": 40.0})
    assert found["tokens_per_second"] == pytest.approx(math.sqrt(8 * 40))
    assert (found["tokens"], found["decode_seconds"]) == (160, 16.0)


def test_speed_up_against_the_plain_modes_that_ran() -> None:
    against = figures()["twin"]["against"]
    assert set(against) == {"fast"}
    assert against["fast"]["groups"] == pytest.approx({"chat": 2.0, "qa": 0.5})
    assert against["fast"]["speed_up"] == pytest.approx(1.0)


def test_the_speed_ups_error_is_zero_when_every_prompt_agrees() -> None:
    twice = [run("b", prompt, group, 10, 1 + prompt) for prompt, group in enumerate(("a", "a", "b", "b"))]
    base = [run("a", prompt, group, 10, 2 + 2 * prompt) for prompt, group in enumerate(("a", "a", "b", "b"))]
    found = compared(totals(twice), totals(base))
    assert found["speed_up"] == pytest.approx(2)
    assert found["standard_error"] == pytest.approx(0, abs=1e-12)
    assert compared(totals(twice[:1]), totals(base[:1]))["standard_error"] is None


def test_acceptance_is_pooled_and_by_depth() -> None:
    found = figures()["twin"]
    assert found["acceptance"]["value"] == pytest.approx(58 / 100)
    assert [depth["value"] for depth in found["acceptance_by_depth"]] == pytest.approx([0.8, 0.25])
    assert found["acceptance_by_depth"][1]["standard_error"] is None  # one prompt reached it
    assert found["tokens_per_round"] == pytest.approx(160 / 100)
    assert found["k_histogram"] == [42, 8, 50]
    assert figures()["off fast"]["acceptance"] is None


def test_the_error_of_a_share_knows_that_tests_of_one_prompt_hang_together() -> None:
    alike = share(dict.fromkeys(range(10), (6, 10)))
    torn = share({prompt: (10 if prompt < 6 else 0, 10) for prompt in range(10)})
    assert alike is not None
    assert torn is not None
    assert alike["value"] == torn["value"] == pytest.approx(0.6)
    assert alike["standard_error"] == 0
    # Ten clusters that are all or nothing carry what ten draws do.
    assert torn["standard_error"] == pytest.approx(math.sqrt(0.6 * 0.4 / 9))
    assert share({}) is None


def test_texts_are_held_to_plain_decoding_of_the_same_mode() -> None:
    text = figures()["twin"]["text"]
    assert text == {"prompts": 3, "identical": 2, "different": [{"prompt": 1, "turn": 0, "position": 15}]}
    assert figures()["off fast"]["text"]["identical"] == 3


def test_only_the_first_turn_that_differs_is_named() -> None:
    plain = [run("p", 0, "chat", 3, 1.0), run("p", 0, "chat", 3, 1.0, turn=1)]
    other = [run("o", 0, "chat", 2, 1.0), run("o", 0, "chat", 3, 1.0, turn=1, ids=(7, 7, 7))]
    text = summarise([*plain, *other], {}, {"o": "p"})["o"]["text"]
    assert text["different"] == [{"prompt": 0, "turn": 0, "position": 2}]
    assert (first_difference([1, 2], [1, 2]), first_difference([1, 2], [1])) == (None, 1)


def test_a_reply_without_a_timed_token_has_no_speed() -> None:
    empty = summarise([run("p", 0, "chat", 0, 0.0, rounds=0)], {"fast": "p"}, {})["p"]
    assert empty["tokens_per_second"] is None
    assert empty["against"]["fast"]["speed_up"] is None
    assert empty["tokens_per_round"] is None
