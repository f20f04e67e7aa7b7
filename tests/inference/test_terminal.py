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


@pytest.mark.parametrize(
    "arguments",
    [
        ["--temperature", "-1"],
        ["--k", "many"],
        ["--drafter", "oracle"],
        ["--min-new-tokens", "-1"],
        ["--logit-bias", "word"],
        ["--logit-bias", "=3"],
        ["--logit-bias", "word=nan"],
        ["--logit-bias", "word=2000"],
    ],
)
def test_bad_values_are_one_sentence_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--prompt", "hi", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) == 1


def test_shortest_reply_and_changed_odds_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions: list[FakeSession] = []

    def make() -> FakeSession:
        sessions.append(FakeSession())
        return sessions[-1]

    monkeypatch.setattr("inference.session.Session", make)
    given = ["--min-new-tokens", "7", "--logit-bias", " the=-5", "--logit-bias", "a=b=2.5"]
    assert main(["chat", "--prompt", "hi", *given]) == 0
    sampling = sessions[0].requests[0].sampling
    assert sampling.min_new_tokens == 7
    assert sampling.logit_bias == ((" the", -5.0), ("a=b", 2.5))
