"""The order of runs, their seeds, caches and chats, with a session that follows a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from inference.bench.prompts import Prompt
from inference.bench.suite import Ours, Setting, measure
from inference.messages import Notice, Problem
from inference.settings import Message, Sampling, Speculation
from tests.fake_session import POEM, FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inference.events import Event
    from inference.settings import Control, Request

OFF = Setting("off", "fast", "none", Speculation(on=False))
TWIN = Setting("twin K 2", "exact", "twin", Speculation(k=2))
PROMPTS = (Prompt("chat", ("Hello?", "And then?")), Prompt("qa", ("Why?",)))
GREEDY = Sampling(temperature=0)


class Scripted(FakeSession):
    """Notes what it is asked, in order."""

    def __init__(self, script: Script | None = None) -> None:
        super().__init__(script)
        self.heard: list[Any] = []
        self.speculations: list[Speculation] = []

    def switch(self, mode: str) -> None:
        self.heard.append(mode)

    def forget(self) -> None:
        self.heard.append("forget")

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        self.heard.append("reply")
        self.speculations.append(control.speculation)
        return super().reply(request, control)


def runs(session: Scripted, repeats: int = 1, how: Sampling = GREEDY) -> list[Any]:
    contenders = [Ours(session, OFF), Ours(session, TWIN)]
    return list(measure(contenders, PROMPTS, how, 40, repeats, lambda done, total: session.heard.append((done, total))))


def test_contenders_take_turns_on_every_prompt() -> None:
    found = runs(Scripted(), repeats=2)
    assert [(run.contender, run.prompt, run.turn, run.repeat) for run in found[:6]] == [
        ("off", 0, 0, 0), ("off", 0, 1, 0), ("twin K 2", 0, 0, 0), ("twin K 2", 0, 1, 0),
        ("off", 1, 0, 0), ("twin K 2", 1, 0, 0),
    ]  # fmt: skip
    assert [run.repeat for run in found[6:]] == [1] * 6
    assert {run.group for run in found} == {"chat", "qa"}


def test_every_chat_begins_with_an_empty_cache_in_its_mode_behind_a_warm_up() -> None:
    session = Scripted()
    runs(session)
    warm_up = ["fast", "forget", "reply", "exact", "forget", "reply"]
    assert session.heard == [
        *warm_up,
        (0, 2), "fast", "forget", "reply", "reply", "exact", "forget", "reply", "reply",
        (1, 2), "fast", "forget", "reply", "exact", "forget", "reply",
        (2, 2),
    ]  # fmt: skip
    assert [request.max_new_tokens for request in session.requests] == [12, 12, *[40] * 6]
    assert session.speculations[2:6] == [OFF.speculation] * 2 + [TWIN.speculation] * 2


def test_a_second_turn_continues_the_chat() -> None:
    session = Scripted()
    found = runs(session)
    assert session.requests[2].messages == (Message("user", "Hello?"),)
    assert session.requests[3].messages == (
        Message("user", "Hello?"),
        Message("assistant", POEM, found[0].reply.token_ids),
        Message("user", "And then?"),
    )


def test_a_prompt_has_one_seed_whoever_writes_it() -> None:
    session = Scripted()
    runs(session, repeats=2, how=Sampling(seed=40))
    seeds = [request.sampling.seed for request in session.requests[2:]]
    assert seeds == [40, 40, 40, 40, 41, 41] * 2
    session = Scripted()
    runs(session)
    assert {request.sampling.seed for request in session.requests} == {1, 2}


def test_a_reply_keeps_its_figures() -> None:
    first = runs(Scripted())[2].reply
    assert first.text == POEM
    assert first.timed_tokens == len(first.token_ids)
    assert first.decode_seconds == pytest.approx(first.timed_tokens / 58 - 0.15)
    assert first.draft_ms == pytest.approx(21.0 * first.rounds)
    assert (first.finish, first.identity) == ("end", "fake")


def test_a_reply_that_fails_ends_the_benchmark() -> None:
    script = Script(fail_after_rounds=1, failure=Notice("error.out_of_memory"))
    with pytest.raises(Problem, match="memory is used up"):
        runs(Scripted(script))
