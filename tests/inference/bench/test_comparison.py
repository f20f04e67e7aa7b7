"""Comparisons of a real session over a tiny model, in both modes: equal texts, planted differences, replays."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from inference import verify as verification
from inference.__main__ import main
from inference.bench.comparison import Compared, Comparison, Plan, Setting
from inference.bench.figures import exact_identities, figures_of
from inference.bench.kinds import KINDS
from inference.bench.prompts import Prompt
from inference.bench.record import read, written
from inference.events import Loaded
from inference.session import Session
from inference.settings import ModelChoice, Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.verify import Verdict

OFF, ON = Setting("exact"), Setting("exact", on=True, drafter="ngram", k=3)
FAST, FAST_ON = Setting("fast"), Setting("fast", on=True, drafter="ngram", k=3)
PROMPTS = (Prompt("poem", ("abc abc abc abc",)), Prompt("chat", ("Hello? Hello?", "And then? And then?")))
WARM = Sampling(temperature=0.8, top_p=1.0, seed=4)


@pytest.fixture(scope="module")
def session(folder: str) -> Iterator[Session]:
    session = Session()
    choice = ModelChoice(model=folder, drafter="none", dtype="bfloat16", context=512, exact=True)
    loaded = list(session.load(choice, threading.Event()))[-1]
    assert isinstance(loaded, Loaded)
    yield session
    session.close()


def run(session: Session, settings: tuple[Setting, ...], sampling: Sampling = WARM, **more: Any) -> Comparison:
    plan = Plan(settings, more.pop("prompts", PROMPTS), sampling, 24, more.pop("repeats", 2))
    found = list(session.compare(plan, threading.Event()))[-1]
    assert isinstance(found, Compared)
    assert found.failure is None, found.failure
    return found.comparison


@pytest.mark.parametrize("sampling", [Sampling(temperature=0), WARM], ids=["greedy", "warm"])
def test_exact_mode_writes_the_same_on_and_off_with_one_identity(session: Session, sampling: Sampling) -> None:
    found = run(session, (FAST, OFF, ON), sampling)
    same = figures_of(found)[2].sameness
    assert (same.reference, same.prompts, same.identical) == (1, 2, 2)
    assert len(exact_identities(found)) == 1
    assert not any(one.setting == 2 for one in found.differences)
    assert figures_of(found)[2].acceptance is not None
    assert session.mode == "exact"


def test_every_run_reads_its_whole_prompt(session: Session) -> None:
    found = run(session, (OFF, ON))
    assert {run.prompt_tokens for run in found.runs if run.prompt == 0 and run.step == 0}.__len__() == 1
    again = run(session, (OFF, ON))
    assert [run.token_ids for run in again.runs] == [run.token_ids for run in found.runs]


def test_the_record_is_complete(session: Session, folder: str) -> None:
    found = run(session, (FAST, ON), repeats=1)
    machine = found.machine
    assert machine["model"]["choice"] == folder
    assert len(machine["model"]["sha256"]) == 64
    assert {"device", "device_name", "driver", "threads", "system", "versions"} <= machine.keys()
    assert {"torch", "transformers", "borrador", "python"} <= machine["versions"].keys()
    for one in found.runs:
        assert sum(record.tokens for record in one.rounds) == len(one.token_ids)
        assert one.rounds[-1].at <= one.seconds + 0.05
        assert one.memory
    assert read(written(found)) == found


def test_a_planted_difference_is_found_and_is_no_near_tie(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    real = verification.verify
    seen = 0

    def poisoned(*given: Any) -> Verdict:
        nonlocal seen
        verdict = real(*given)
        if given[0].tokens and not verdict.full:
            seen += 1
            if seen > 3:
                return type(verdict)(verdict.path, (verdict.last + 7) % 100 + 100, verdict.tested, verdict.full)
        return verdict

    monkeypatch.setattr("inference.engine.verify", poisoned)
    found = run(session, (OFF, ON), Sampling(temperature=0), repeats=1)
    (first, *_) = found.differences
    assert (first.setting, first.reference) == (1, 0)
    theirs = next(run for run in found.runs if (run.setting, run.prompt, run.step) == (0, first.prompt, first.step))
    mine = next(run for run in found.runs if (run.setting, run.prompt, run.step) == (1, first.prompt, first.step))
    assert mine.token_ids[: first.position] == theirs.token_ids[: first.position]
    assert first.mine.token == mine.token_ids[first.position]
    assert first.theirs.token == theirs.token_ids[first.position]
    assert first.gap is not None
    assert first.own_gap == pytest.approx(first.gap), "exact mode saw the same bits in both passes"
    assert first.gap > first.tie
    assert first.is_near_tie is False
    assert figures_of(found)[1].sameness.identical < 2


def test_the_textbook_rule_is_not_held_to_the_text(session: Session) -> None:
    found = run(session, (FAST, Setting("fast", on=True, drafter="ngram", k=3, rule="textbook")), repeats=1)
    for one in found.differences:
        assert one.mine.logits is not None
        assert one.mine.scores is None


def test_a_saved_comparison_runs_again_with_figures_side_by_side(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "record.json", tmp_path / "again.json"
    found = run(session, (FAST, OFF, ON), repeats=1)
    file.write_text(written(found), encoding="utf-8")
    assert main(["bench", "--replay", str(file), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "9 of 9 replies came again, token for token" in printed.out
    for row in ("then / now", "off fast", "off exact", "ngram K 3 exact", "2 / 2 of 2"):
        assert row in printed.out
    assert "0 of 6 runs done" in printed.err
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["identical"] == record["replies"] == 9
    assert record["model_hash"]["before"] == record["model_hash"]["now"]

    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["runs"][0]["token_ids"][5] += 1
    changed["machine"]["model"]["sha256"] = "0" * 64
    file.write_text(json.dumps(changed), encoding="utf-8")
    assert main(["bench", "--replay", str(file)]) == 1
    said = capsys.readouterr().out
    assert "off fast differs from what it wrote then: prompt 1, turn 1, from token 6" in said
    assert "The model's files are others than then" in said


def test_the_twelve_kinds_are_twelve() -> None:
    assert len({prompt.group for prompt in KINDS}) == len({prompt.turns for prompt in KINDS}) == len(KINDS) == 12


def test_without_a_model_it_says_so() -> None:
    found = list(Session().compare(Plan((OFF, ON), PROMPTS), threading.Event()))[-1]
    assert isinstance(found, Compared)
    assert found.failure is not None
    assert found.failure.id == "error.no_model"


def test_recipes_are_made_for_the_comparison_and_the_loaded_twin_comes_back(folder: str) -> None:
    session = Session()
    choice = ModelChoice(model=folder, drafter="twin", dtype="float32", context=512, exact=False)
    loaded = list(session.load(choice, threading.Event()))[-1]
    assert isinstance(loaded, Loaded)
    assert session.ready is not None
    before = session.ready.offered.find("twin")
    twin = Setting("fast", on=True, k=2)
    found = run(session, (FAST, twin, replace(twin, recipe="nf2")), prompts=PROMPTS[:1], repeats=1)
    assert [setting.name for setting in found.plan.settings] == ["off fast", "twin K 2 fast", "twin nf2 K 2 fast"]
    assert [one.sameness.identical for one in figures_of(found)[1:]] == [1, 1]
    assert all(one.acceptance is not None for one in figures_of(found)[1:])
    assert session.ready.offered.find("twin") is before
