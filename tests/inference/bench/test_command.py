"""The command over a tiny model in a folder: what it prints, writes and replays. No speed is asserted."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from inference.__main__ import main
from inference.bench import command
from inference.events import Problem
from inference.native import products
from inference.settings import DRAFTERS
from tests import measure_poisoned

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--dtype", "float32", "--context", "512", "--max-new-tokens", "12", "--exact"]


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("prompts") / "questions.jsonl"
    lines = [("writing", ["Hello?", "And then?"]), ("qa", ["Why is it so?"]), ("rag", ["Where was it?"])]
    records = [json.dumps({"question_id": n, "category": c, "turns": t}) for n, (c, t) in enumerate(lines)]
    file.write_text("\n".join(records), encoding="utf-8")
    return str(file)


def test_recipes_are_compared_on_the_same_texts(folder: str, prompts: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["bench", "--model", folder, *SMALL, "--recipes", "nf3,affine4", "--quick", "--prompts", prompts, "--json"]
    assert main(asked) == 0
    record = json.loads(capsys.readouterr().out)
    nf3, affine4 = record["recipes"]
    for entry, levels in ((nf3, 3), (affine4, 4)):
        assert entry["bits"]["levels"] == levels
        if products.available():  # they read the packed bits, with room behind the last scale of each matrix
            assert entry["bits"]["resident"] == pytest.approx(entry["bits"]["packed"], rel=0.01)
        else:
            assert entry["bits"]["resident"] == (32 if levels == 3 else 5)
    for entry in record["recipes"]:
        assert entry["bytes"] > 0
        for found in entry["temperatures"].values():
            assert 0 <= found["acceptance"]["value"] <= 1
            assert len(found["by_depth"]) == 4
            assert found["tokens_per_round"] >= 1
            assert found["forecast"] > 0
    assert main(["bench", "--model", folder, "--recipes", "nf9"]) == 2
    assert "nf3" in capsys.readouterr().err


def test_everything_in_one_run(
    folder: str, prompts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "record.json"
    asked = [
        "bench", "--model", folder, *SMALL, "--drafters", "none,twin", "--prompts", prompts, "--k", "auto,2",
        "--repeats", "2", "--twin", "--peers", "--out", str(out),
    ]  # fmt: skip
    assert main(asked) == 0
    printed = capsys.readouterr()
    record = json.loads(out.read_text(encoding="utf-8"))
    report = record["report"]
    names = [name for name in report if name != "off exact"]
    assert names == ["off fast", "twin K auto", "twin K 2", "generate", "prompt lookup"]
    for name, figures in report.items():
        assert figures["text"] == {"prompts": 3, "identical": 3, "different": []}, name
        if name != "prompt lookup":  # its first round may bring several tokens
            assert figures["tokens"] == (12 if name != "generate" else 11) * 4 * 2
        assert {"fast", "generate"} <= set(figures["against"])
        assert figures["groups"].keys() == {"chat", "qa", "rag"}
    two = report["twin K 2"]
    assert two["acceptance"]["tested"] >= two["acceptance"]["accepted"] > 0
    assert len(two["acceptance_by_depth"]) == 2
    steps = two["draft_ms"] * two["rounds"] / two["drafted"] * 2 + two["verify_ms"]
    share = two["acceptance"]["value"]
    mode = "exact" if "off exact" in report else "fast"  # the best that works here
    assert two["predicted"] == pytest.approx((1 + share + share**2) * report[f"off {mode}"]["verify_ms"] / steps)
    auto = report["twin K auto"]
    assert auto["of_best"] == pytest.approx(auto["against"][mode]["speed_up"] / two["predicted"])
    assert record["twin"]["k"] == 2
    assert record["twin"]["bits"]["packed"] == 5, "the default recipe on a CPU"
    assert record["twin"]["bits"]["resident"] == pytest.approx(5, rel=0.01)
    assert record["twin"]["build_seconds"] > 0
    assert len(record["runs"]) == len(report) * 4 * 2
    assert record["versions"].keys() >= {"python", "torch", "transformers"}
    assert {"model", "machine", "choice", "sampling", "step_ms", "load_seconds"} <= record.keys()
    for row in (*report, "tokens/s", "accepted", "same text", "3 of 3", "c = ", "Identity "):
        assert row in printed.out
    assert "0 of 6 prompts measured" in printed.err

    replayed = tmp_path / "replayed.json"
    assert main(["bench", "--replay", str(out), "--out", str(replayed)]) == 0
    found = json.loads(replayed.read_text(encoding="utf-8"))
    assert found["identical"] == found["replies"] == (len(report) - 2) * 4
    assert f"{found['replies']} of {found['replies']} replies came again" in capsys.readouterr().out

    record["runs"][0]["reply"]["token_ids"][3] += 1
    out.write_text(json.dumps(record), encoding="utf-8")
    assert main(["bench", "--replay", str(out)]) == 1
    said = capsys.readouterr().out
    assert "off fast differs from what it wrote then: prompt 1, turn 1, from token 4" in said


def test_sampled_text_is_the_same_too_and_standard_output_is_one_object(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["bench", "--model", folder, *SMALL, "--limit", "3", "--temperature", "0.8", "--k", "3", "--json"]
    asked += ["--drafter", "twin"]
    assert main([*asked, "--seed", "9"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["sampling"]["seed"] == 9
    assert sorted({run["reply"]["seed"] for run in record["runs"]}) == [9, 10, 11]
    assert record["report"]["twin K 3"]["text"]["identical"] == 3


def test_a_poisoned_twin_is_never_accepted_and_changes_nothing(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--model", folder, *SMALL, "--drafter", "twin", "--limit", "2", "--k", "auto,2", "--json"]
    assert measure_poisoned.main(arguments) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)["report"]
    assert report["twin K 2"]["acceptance"]["accepted"] == 0
    assert report["twin K 2"]["text"]["identical"] == report["twin K auto"]["text"]["identical"] == 2


def test_the_cost_of_sampling(folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.bench import sampling_cost

    monkeypatch.setattr(sampling_cost, "VOCABULARIES", (300, 600))
    assert main(["bench", "--model", folder, "--dtype", "float32", "--sampling"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("greedy") == 4
    assert "T 0.7, top-k 40, top-p 0.95" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--drafters", "twin,oracle"], f"oracle is not a drafter; choose one of {', '.join(DRAFTERS)}."),
        (["--k", "auto,x"], "k is 'x'; it must be auto or a whole number."),
        (["--limit", "0"], "limit is 0; it must be a whole number of at least 1."),
        (["--repeats", "0"], "repeats is 0; it must be a whole number of at least 1."),
        (["--peers", "--temperature", "0.5"], "temperature is 0.5; it must be 0 with --peers."),
    ],
)
def test_wrong_arguments_are_refused_before_the_load(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--model", "nowhere", *arguments]) == 2
    assert capsys.readouterr().err.strip() == said


def test_files_are_looked_at_before_the_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--model", "nowhere", "--out", str(tmp_path / "no" / "file.json")]) == 1
    assert "cannot be written: No such file or directory." in capsys.readouterr().err
    assert main(["bench", "--model", "nowhere", "--prompts", str(tmp_path / "none.txt")]) == 1
    assert "cannot be read: No such file or directory" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text("[1]", encoding="utf-8")
    assert main(["bench", "--replay", str(other)]) == 1
    assert "it is no record of bench --json" in capsys.readouterr().err
    other.write_text('{"kind": "bench"}', encoding="utf-8")
    assert main(["bench", "--replay", str(other)]) == 2
    assert "replay is" in capsys.readouterr().err


@pytest.mark.parametrize("drafters", ["ngram,hybrid", "ngram,auto", "auto,twin"])
def test_what_a_drafter_needs_is_made_at_load(drafters: str) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(["--drafters", drafters])
    assert command.choice_of(options).drafter in ("twin", "hybrid", "auto")


def test_a_drafter_may_have_a_draft_length_of_its_own() -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    planned = command.plan(parser.parse_args(["--drafters", "ngram,ngram:10,none,auto:2,ngram:10", "--k", "auto,3"]))
    assert [(drafter, length.drafter, length.k) for drafter, length in planned] == [
        ("ngram", "ngram", None), ("ngram", "ngram", 3), ("ngram", "ngram", 10), ("auto", "auto", 2),
    ]  # fmt: skip
    for wrong in ("oracle:2", "ngram:x", "ngram:65"):
        with pytest.raises(Problem):
            command.plan(parser.parse_args(["--drafters", wrong]))
