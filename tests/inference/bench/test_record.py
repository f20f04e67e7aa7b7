"""A comparison comes back from its record whole; what is no record is refused with a sentence."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from inference.bench.comparison import Comparison, Plan
from inference.bench.figures import figures_of
from inference.bench.record import as_csv, as_json, from_json, read, written
from inference.bench.replay import choice_of, replayed
from inference.messages import Problem
from inference.session import Session
from inference.settings import Message, ModelChoice, Sampling
from tests.inference.bench.test_compared_figures import EXACT, OFF, ON, PROMPTS, difference, run

if TYPE_CHECKING:
    from collections.abc import Iterator


def comparison() -> Comparison:
    plan = Plan(
        (OFF, EXACT, ON),
        PROMPTS,
        Sampling(temperature=0.7, seed=3, logit_bias=((" a", 1.5),)),
        96,
        2,
        (Message("user", "Hi"),),
    )
    runs = (run(0), run(1), run(2, text="día", ids=(1, 2)), run(2, prompt=1, step=1))
    found = (difference((1.5, 2.5), (1.0, 3.0)), difference(None, None))
    return Comparison(plan, {"device": "cpu", "versions": {"torch": "2"}}, runs, found, created=5.0)


def test_there_and_back() -> None:
    assert read(written(comparison())) == comparison()
    halted = replace(comparison(), is_whole=False)
    assert read(written(halted)) == halted


def test_the_file_has_a_line_a_run_and_the_names_of_every_field() -> None:
    whole = comparison()
    lines = written(whole).splitlines()
    assert sum(line.startswith('  {"setting": ') and '"token_ids"' in line for line in lines) == len(whole.runs)
    assert json.loads(written(whole))["runs"] == json.loads(json.dumps([asdict(run) for run in whole.runs]))


def test_the_record_says_what_a_reader_needs() -> None:
    record = as_json(comparison())
    assert record["kind"] == "comparison"
    assert [one["name"] for one in record["settings"]] == ["off fast", "off exact", "twin K 3 exact"]
    assert record["differences"][0]["gap"] == 2.0
    assert record["figures"][2]["sameness"]["identical"] == 0
    assert {"machine", "prompts", "sampling", "runs"} <= record.keys()
    assert record["runs"][0]["rounds"][0]["tokens"] == 20


def test_a_record_of_a_later_field_is_read_without_it() -> None:
    record = json.loads(written(comparison()))
    record["runs"][0]["mood"] = "good"
    assert from_json(record) == comparison()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", r"\[1\]"),
        ('{"kind": "bench"}', "kind = 'bench'"),
        ('{"kind": "comparison", "version": 9}', "version = 9"),
        ('{"kind": "comparison", "version": 1}', "settings = –"),
    ],
)
def test_what_is_no_record_is_refused(text: str, said: str) -> None:
    with pytest.raises(Problem, match=said):
        read(text)


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        (("runs", 0, "setting"), 7, "setting = 7"),
        (("runs", 0, "setting"), -1, "setting = -1"),
        (("runs", 0, "repeat"), 2, "repeat = 2"),
        (("runs", 3, "step"), 5, "step = 5"),
        (("differences", 0, "reference"), 3, "reference = 3"),
        (("differences", 0, "mine", "logits"), [1.0], r"differences.mine.logits = \[1.0\]"),
        (("runs", 0, "rounds", 0, "at"), float("nan"), "runs.rounds.at = nan"),
        (("runs", 0, "token_ids"), "12", "runs.token_ids = '12'"),
        (("prompts", 0, "turns"), [], "turns = -1"),
        (("settings", 0, "mode"), "slow", "settings.mode = 'slow'"),
        (("settings", 2, "rule"), "own", "rule is 'own'"),
    ],
)
def test_a_damaged_field_is_named(where: tuple[str | int, ...], value: object, said: str) -> None:
    with pytest.raises(Problem, match=said):
        read(json.dumps(put(json.loads(written(comparison())), where, value)))


def put(record: Any, where: tuple[str | int, ...], value: object) -> Any:
    inside = record
    for name in where[:-1]:
        inside = inside[name]
    inside[where[-1]] = value
    return record


def leaves(value: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if where:
        yield where
    for name, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(one, (*where, name))


WRONG: tuple[object, ...] = (None, "x", -1, 3.5, [], {}, True, 10**30, float("nan"), float("inf"), [None], 10**400)


def test_whatever_is_damaged_is_refused_or_can_be_shown_saved_and_counted() -> None:
    whole = comparison()
    small = as_json(replace(whole, runs=whole.runs[2:3]), ())
    refused = 0
    for where in leaves(json.loads(json.dumps(small))):
        for value in WRONG:
            try:
                found = read(json.dumps(put(json.loads(json.dumps(small)), where, value)))
            except Problem:
                refused += 1
                continue
            written(found)
            as_csv(found)
    assert refused > 800


def test_text_that_no_file_can_hold_is_mended() -> None:
    record = put(as_json(comparison()), ("runs", 0, "text"), "half \ud800")
    assert written(from_json(json.loads(json.dumps(record)))).encode()


def test_figures_that_are_known_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = figures_of(comparison())
    whole = written(comparison())
    monkeypatch.delattr("inference.bench.record.figures_of")
    assert written(comparison(), known) == whole


@pytest.mark.parametrize(
    ("dtype", "wanted"), [("bfloat16", ("bfloat16", "full")), ("bfloat16, int8", ("bfloat16", "int8"))]
)
def test_a_record_says_what_to_load(dtype: str, wanted: tuple[str, str]) -> None:
    model = {"choice": "owner/name", "dtype": dtype, "context": 512}
    choice = choice_of(replace(comparison(), machine={"model": model, "device": "cpu"}))
    assert (choice.dtype, choice.weights) == wanted
    assert (choice.model, choice.context, choice.device, choice.drafter) == ("owner/name", 512, "cpu", "twin")
    assert (choice.recipe, choice.draft_model) == ("auto", ""), "an earlier version's record names neither"
    model |= {"recipe": "nf3", "draft_model": "owner/small"}
    choice = choice_of(replace(comparison(), machine={"model": model, "device": "cpu"}))
    assert (choice.recipe, choice.draft_model) == ("nf3", "owner/small")


@pytest.mark.parametrize(
    "machine",
    [
        {},
        {"model": None, "device": "cpu"},
        {"model": {"choice": "x", "dtype": 3, "context": 512}, "device": "cpu"},
        {"model": {"choice": "x", "dtype": "odd", "context": 512}, "device": "cpu"},
        {"model": {"choice": "x", "dtype": "auto", "context": 10**400}, "device": "cpu"},
        {"model": {"choice": "x", "dtype": "auto"}, "device": "cpu"},
    ],
)
def test_a_record_that_does_not_say_what_to_load_is_refused(machine: dict[str, Any]) -> None:
    with pytest.raises(Problem):
        choice_of(replace(comparison(), machine=machine))


def test_a_record_without_runs_has_nothing_to_be_run_again_for() -> None:
    def load(choice: ModelChoice) -> None:
        raise AssertionError(choice)

    with pytest.raises(Problem, match=r"runs = \[\]"):
        replayed(Session(), replace(comparison(), runs=(), differences=()), load, lambda done, total: None)


def test_a_line_of_a_run() -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(comparison()))))
    assert len(lines) == 4
    assert lines[0]["setting"] == "off fast"
    assert lines[0]["tokens_per_second"] == "10.00"
    assert (lines[3]["prompt"], lines[3]["kind"], lines[3]["turn"]) == ("2", "code", "2")
