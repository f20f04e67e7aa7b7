"""A comparison comes back from its record whole; what is no record is refused with a sentence."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from inference.bench.comparison import Comparison, Plan
from inference.bench.record import as_csv, as_json, from_json, read, written
from inference.messages import Problem
from inference.settings import Message, Sampling
from tests.inference.bench.test_compared_figures import EXACT, OFF, ON, PROMPTS, difference, run


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
        ("{", "it is not JSON"),
        ("[1]", "it is no object"),
        ('{"kind": "bench"}', "kind 'bench'"),
        ('{"kind": "comparison", "version": 9}', "version 9"),
        ('{"kind": "comparison", "version": 1}', "KeyError: 'settings'"),
    ],
)
def test_what_is_no_record_is_refused(text: str, said: str) -> None:
    with pytest.raises(Problem, match=said):
        read(text)


def test_a_run_of_a_setting_that_is_not_there_is_refused() -> None:
    record = as_json(comparison())
    record["runs"][0]["setting"] = 7
    with pytest.raises(Problem, match="IndexError"):
        from_json(record)


def test_a_line_of_a_run() -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(comparison()))))
    assert len(lines) == 4
    assert lines[0]["setting"] == "off fast"
    assert lines[0]["tokens_per_second"] == "10.00"
    assert (lines[3]["prompt"], lines[3]["kind"], lines[3]["turn"]) == ("2", "code", "2")
