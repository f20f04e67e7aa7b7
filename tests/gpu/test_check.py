"""The check for CUDA machines runs here on a tiny model, says what fails, and lets no section stop another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.gpu import check, shapes, steps, texts
from tests.inference.session_for_tests import save_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.gpu.report import Report

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")

ROOT = Path(__file__).resolve().parents[2]
HERE = ["--device", "cpu", "--tiny", "--tokens", "6"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    status = check.main([*HERE, *arguments])
    printed = capsys.readouterr()
    return status, json.loads(printed.out), printed.err


@pytest.fixture
def sections(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[Report], dict[str, Any]]]:
    """Sections of the test's own instead of the real ones."""
    own: dict[str, Callable[[Report], dict[str, Any]]] = {}
    monkeypatch.setattr(check, "section", lambda name: own[name])
    return own


def test_a_section_that_fails_stops_no_other(capsys: pytest.CaptureFixture[str], sections: dict[str, Any]) -> None:
    def fails(report: Report) -> dict[str, Any]:
        report.say("half of it was fine")
        raise torch.cuda.OutOfMemoryError("no room\nfor more")

    def works(report: Report) -> dict[str, Any]:
        report.say("all fine")
        report.goal("c", 0.3, most=0.28)
        return {"figure": 1}

    sections |= {"kernels": fails, "bandwidth": works}
    status, result, told = run(capsys, "--only", "kernels,bandwidth")
    assert status == 1
    assert result["problems"] == ["section kernels failed: OutOfMemoryError: no room"]
    assert "Traceback" in result["sections"]["kernels"]["traceback"]
    assert result["sections"]["bandwidth"]["figure"] == 1
    assert result["goals"] == [{"what": "c", "value": 0.3, "bound": "at most 0.28", "met": False}]
    assert "half of it was fine" in told
    assert "goal MISSED: c is 0.300, at most 0.28" in told
    assert told.rstrip().endswith("not ok: 1 problems")


def test_a_section_that_takes_the_card_with_it_leaves_the_others_to_a_new_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, sections: dict[str, Any], tmp_path: Path
) -> None:
    def stops(report: Report) -> dict[str, Any]:
        monkeypatch.setattr(check, "loss", lambda device: "an illegal memory access")
        raise RuntimeError("an illegal memory access")

    asked: list[list[str]] = []
    other = {"sections": {"8b": {"c": 0.2}, "bf16": {}}, "problems": [], "goals": [], "table": ["c is 0.2"]}

    def anew(options: Any, until: float, names: list[str]) -> dict[str, Any] | None:
        known = json.loads((tmp_path / "found.json").read_text())
        assert list(known["sections"]) == ["kernels"], "what is known is kept meanwhile"
        asked.append(names)
        return other if len(asked) == 1 else None

    monkeypatch.setattr(check, "in_a_new_process", anew)
    sections["kernels"] = stops
    out = ("--out", str(tmp_path / "found.json"))
    status, result, _ = run(capsys, "--only", "kernels,8b,bf16", *out)
    assert status == 1
    assert asked == [["8b", "bf16"]]
    assert list(result["sections"]) == ["kernels", "8b", "bf16"]
    assert result["sections"]["8b"]["c"] == 0.2
    assert "c is 0.2" in result["table"]
    assert json.loads((tmp_path / "found.json").read_text())["sections"] == result["sections"]
    _, result, _ = run(capsys, "--only", "kernels,8b", *out)
    assert result["problems"][-1] == "sections 8b are left out: they did not run in a new process either"


def test_a_section_that_cannot_be_imported_stops_no_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(check.SECTIONS, "kernels", ("missing", "oracle"))
    monkeypatch.setitem(check.SECTIONS, "starter", ("steps", "starter"))
    status, result, told = run(capsys, "--only", "kernels,starter")
    assert status == 1
    assert "ModuleNotFoundError" in result["problems"][0]
    assert result["sections"]["starter"]["left_out"] == "no folder"
    assert "the starter is left out: no --starter FOLDER" in told


def test_a_goal_missed_is_no_problem_and_what_time_leaves_out_is(
    capsys: pytest.CaptureFixture[str], sections: dict[str, Any]
) -> None:
    def works(report: Report) -> dict[str, Any]:
        report.goal("share", 0.5, least=0.75)
        return {}

    sections["8b"] = works
    status, result, _ = run(capsys, "--only", "8b")
    assert (status, result["ok"]) == (0, True)
    status, result, told = run(capsys, "--only", "8b", "--seconds", "0")
    assert status == 1
    assert result["problems"] == ["section 8b is left out: the time is up"]
    assert "PROBLEM: section 8b is left out: the time is up" in told


def test_a_section_that_goes_on_too_long_is_cut_short_with_what_is_known(
    capsys: pytest.CaptureFixture[str], sections: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Under eight minutes whatever happens: the process would end where the test goes on."""
    ended = threading.Event()
    status: list[int] = []

    def exit(code: int) -> None:
        status.append(code)
        ended.set()

    def hangs(report: Report) -> dict[str, Any]:
        report.say("half of it")
        assert ended.wait(30)
        return {}

    monkeypatch.setattr(check.os, "_exit", exit)
    monkeypatch.setattr(check, "GRACE", 0)
    sections |= {"kernels": lambda report: {"figure": 1}, "8b": hangs}
    check.main([*HERE, "--only", "kernels,8b,bf16", "--seconds", "1.5", "--out", str(tmp_path / "found.json")])
    assert status == [1]
    printed, _ = json.JSONDecoder().raw_decode(capsys.readouterr().out)
    assert printed["problems"] == ["the time is up, and 8b goes on; cut short: 8b, bf16"]
    assert printed["sections"]["kernels"]["figure"] == 1
    assert "half of it" in printed["table"]


def test_the_default_time_ends_under_eight_minutes() -> None:
    assert check.SECONDS + check.GRACE + 30 <= 8 * 60  # and what importing takes


@pytest.mark.parametrize("met", [True, False])
def test_figures_are_judged_in_the_table_and_the_object(
    capsys: pytest.CaptureFixture[str], sections: dict[str, Any], met: bool
) -> None:
    """Each at its border, and a little beyond it."""
    little = 0.0 if met else 0.001

    def measured(report: Report) -> dict[str, Any]:
        shares = {"plain": 0.75 - little, "twin": 0.55 - little}
        steps.judge(report, shares, 0.28 + little, 1.08 + little, 1.9 - little)
        return {}

    sections["8b"] = measured
    status, result, told = run(capsys, "--only", "8b")
    assert status == 0
    bounds = {goal["what"]: goal["bound"] for goal in result["goals"] if goal["met"] == met}
    assert bounds == {
        "plain step's share of the copy": "at least 0.75", "twin step's share of the copy": "at least 0.55",
        "c": "at most 0.28", "v(5)": "at most 1.08", "speed-up at acceptance .90": "at least 1.9",
    }  # fmt: skip
    assert told.count("goal met" if met else "goal MISSED") == 5
    assert steps.ACCEPTANCES[0] == 0.9, "that one is measured before time runs out"


def test_names_of_sections_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        check.main([*HERE, "--only", "kernel"])
    assert ended.value.code == 2
    assert "there is no section kernel; there are kernels, 8b, bandwidth" in capsys.readouterr().err


def test_texts_are_compared_and_another_one_is_a_problem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "refusal", lambda *_: "interpreted, it would take long")  # test_steps goes that way
    status, result, told = run(capsys, "--only", "fp32")
    assert (status, result["problems"]) == (0, [])
    found = result["sections"]["fp32"]["texts"]
    assert {(text["forward"], text["mode"], text["sampling"], text["plan"]) for text in found} >= {
        (forward, "fast", sampling, plan)
        for forward in ("reference", "decoder")
        for sampling in texts.SAMPLINGS
        for plan in texts.PLANS
    }
    assert f"float32: {len(found)} of {len(found)} texts that must be equal to plain decoding are" in told
    real = texts.write

    def write(engine: Any, drafter: Any, lengths: tuple[int, ...], *rest: Any) -> tuple[list[int], dict[str, Any]]:
        written, figures = real(engine, drafter, lengths, *rest)
        return ([*written[:-1], -1] if lengths == (4,) and not engine.width.exact else written), figures

    monkeypatch.setattr(texts, "write", write)
    status, result, told = run(capsys, "--only", "fp32")
    assert status == 1
    assert "PROBLEM: float32, reference, fast, greedy, spoilt, K 4: differs from plain decoding from token 5" in told


BARE = """
import sys
sys.modules.update(dict.fromkeys(("bitsandbytes", "gguf", "platformdirs", "keyring", "pynvml", "PySide6"), None))
from tests.gpu import check
sys.exit(check.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_machine_that_has_little_but_torch_and_transformers_will_do(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["HOME"] = str(tmp_path)
    command = [sys.executable, "-c", BARE, *HERE, "--only", "kernels,bandwidth,1.5b,fp32,starter"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, env=environment, cwd=ROOT, check=False)
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["problems"]) == (0, [])
    assert found["sections"]["kernels"]["left_out"] == found["sections"]["1.5b"]["left_out"] == "no CUDA card"
    assert found["sections"]["bandwidth"]["products"]
    assert {text["forward"] for text in found["sections"]["fp32"]["texts"]} >= {"decoder"}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kernels_and_steps_run_interpreted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same code as on a card, with capture replaced by a plain call."""
    monkeypatch.setattr(shapes, "TINY", shapes.TINY | {"vocab_size": 128})
    monkeypatch.setattr(steps, "TINY", shapes.TINY)
    monkeypatch.setattr(steps, "ROOM", 60)
    status, result, told = run(capsys, "--only", "kernels,1.5b")
    assert (status, result["problems"]) == (0, [])
    kernels, whole = result["sections"]["kernels"], result["sections"]["1.5b"]
    assert len(kernels["relative_error"]) == 4
    assert whole["operations_a_layer"]["after"] == 13  # ten, and embedding, last norm and head
    assert whole["operations_a_layer"]["before"] > 20
    assert whole["c"] > 0
    assert set(whole["v"]) == {str(count) for count in range(2, 17)}
    (speed,) = whole["speed"]
    assert speed["equal_text"]
    assert speed["tokens_per_round"] > 1
    assert "1.5B: at acceptance 0.90" in told


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_texts_of_every_precision_run_interpreted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Graphs, rounds on the card and the twin's drafts in 16 bits, as there, but for their length."""
    monkeypatch.setattr(texts, "TINY", shapes.TINY | {"vocab_size": 64})
    monkeypatch.setattr(texts, "PROMPT_TOKENS", 8)
    monkeypatch.setattr(texts, "PLANS", {"K 2": (2,)})
    status, result, told = run(capsys, "--only", "bf16,8-bit,fp16", "--tokens", "2")
    assert (status, result["problems"]) == (0, [])
    for name, precision, forwards in (
        ("bf16", "bfloat16", {"reference", "decoder", "graphs"}),
        ("8-bit", "8-bit weights", {"graphs"}),
        ("fp16", "float16", {"decoder", "graphs"}),
    ):
        found = result["sections"][name]["texts"]
        assert {text["forward"] for text in found} == forwards
        assert all(text["must_be_equal"] and text["equal"] for text in found)
        assert {text["sampling"] for text in found} == set(texts.SAMPLINGS)
        assert len({text["drafter"] for text in found}) == (1 if name == "8-bit" else 2), "a twin of 8 bits has none"
        assert f"{precision}, graphs: exact width" in told


@pytest.mark.slow
def test_a_real_model_is_loaded_as_the_program_does(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = save_model(tmp_path / "tiny")
    status, result, told = run(capsys, "--only", "starter", "--starter", str(folder))
    assert (status, result["problems"]) == (0, [])
    found = result["sections"]["starter"]
    assert found["equal"]
    assert all(speed > 0 for speed in found["tokens_per_second"].values())
    assert "starter, speculation on" in told
    status, result, _ = run(capsys, "--only", "starter", "--starter", str(tmp_path / "missing"))
    assert status == 1
    assert "the starter is not loaded" in result["problems"][0]


def test_shapes_have_the_sizes_of_the_models() -> None:
    assert round(shapes.weights(shapes.EIGHT) / 1e9, 1) == 7.5  # Llama-3-8B less its embedding
    assert round(shapes.weights(shapes.ONE_AND_A_HALF) / 1e9, 1) == 1.5
    matrix = shapes.random_matrix(64, 4096, 3, 64, torch.device("cpu"))
    assert matrix.bits_per_weight == 3.25
    assert 0.2 < matrix.dequantize().norm() / 64**0.5 < 1.5, "what goes through keeps its size"
