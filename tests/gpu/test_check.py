"""The check for CUDA machines runs here on a tiny model, and notices what it should."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

from tests.gpu import check

if TYPE_CHECKING:
    import pytest

HERE = ["--device", "cpu", "--tiny", "--tokens", "10"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    status = check.main([*HERE, *arguments])
    printed = capsys.readouterr()
    return status, json.loads(printed.out), printed.err


def test_all_texts_are_equal(capsys: pytest.CaptureFixture[str]) -> None:
    status, result, summary = run(capsys)
    assert (status, result["problems"]) == (0, [])
    assert summary.rstrip().endswith("ok")
    must = [text for text in result["texts"] if text["must_be_equal"]]
    assert all(text["equal"] for text in must)
    seen = {(text["sampling"], text["drafter"], text["k"]) for text in must if text["mode"] == "exact"}
    assert seen >= {
        (sampling, drafter, k)
        for sampling in ("greedy", "T 0.8")
        for drafter, k in [("none", "0"), ("spoilt", "4"), ("spoilt", "auto"), ("twin", "4"), ("twin", "auto")]
    }
    assert any(0 < (text["acceptance"] or 0) < 1 for text in must)
    assert {forward["forward"] for forward in result["forwards"]} == {"reference", "decoder"}
    assert result["twin"]["bits"]["levels"] == 3


def test_without_bitsandbytes_the_twin_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "bitsandbytes" else real(name, *rest)
    )
    status, result, _ = run(capsys)
    assert status == 0
    assert result["twin"] == {"left_out": "bitsandbytes is not installed"}
    assert "twin" not in {text["drafter"] for text in result["texts"]}


def test_another_text_is_a_problem(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real = check.write

    def write(engine: Any, drafter: Any, k: int | None, *rest: Any) -> tuple[list[int], dict[str, Any]]:
        written, seen = real(engine, drafter, k, *rest)
        return ([*written[:-1], -1] if k == 4 and engine.width.exact else written), seen

    monkeypatch.setattr(check, "write", write)
    status, result, summary = run(capsys)
    assert status == 1
    assert "bfloat16, reference, exact, greedy, spoilt, K 4: differs from plain decoding from token 9 on" in summary
    assert not result["ok"]


def test_what_time_does_not_allow_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    status, result, _ = run(capsys, "--seconds", "0")
    assert status == 1
    assert result["texts"] == []
    assert result["problems"][-1].endswith("texts were left out: 0 s are over")
