"""The terminal's own part: arguments refused in a sentence, the answer alone on standard output."""

from __future__ import annotations

import json

import pytest

from inference.__main__ import main
from tests.fake_session import FakeSession


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.session.Session", FakeSession)


def test_the_answer_alone_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--prompt", "hi"]) == 0
    printed = capsys.readouterr()
    assert main(["chat", "--prompt", "hi", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert printed.out == reply["text"] + "\n"
    assert "tokens/s" in printed.err
    assert reply["finish_reason"] in ("end", "length")


@pytest.mark.parametrize("arguments", [["--temperature", "-1"], ["--k", "many"], ["--drafter", "oracle"]])
def test_bad_values_are_one_sentence_and_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chat", "--prompt", "hi", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1
