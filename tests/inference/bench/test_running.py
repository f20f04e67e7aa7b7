"""The order of a comparison's runs, what it keeps, and how it ends, with a session that follows a script."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from inference.bench.comparison import (
    Compared,
    CompareEvent,
    ComparePhase,
    Plan,
    RunBegan,
    RunEnded,
    RunGrew,
    Setting,
    Side,
)
from inference.bench.prompts import Prompt
from inference.messages import Notice
from inference.settings import Sampling
from tests.fake_session import LOADED, POEM, FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inference.events import Event
    from inference.settings import Control, Request

OFF, ON = Setting("fast"), Setting("exact", on=True, k=2)
PROMPTS = (Prompt("poem", ("Hello?", "And then?")), Prompt("code", ("Why?",)))


class Writing(FakeSession):
    """Notes every reply that is asked for; may write other tokens at one position with drafts on."""

    planted: int | None = None

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        self.heard.append("on" if control.speculation.on else "off")
        for event in super().reply(request, control):
            if self.planted is not None and control.speculation.on and hasattr(event, "token_ids"):
                ids = list(event.token_ids)
                ids[self.planted] = 999
                event = type(event)(event.turn, event.text, tuple(ids), event.pieces, event.reason, event.statistics)
            yield event


def play(session: FakeSession, cancel: threading.Event | None = None, **plan: Any) -> list[CompareEvent]:
    asked = Plan(**{"settings": (OFF, ON), "prompts": PROMPTS, "repeats": 2, "max_new_tokens": 40, **plan})
    return list(session.compare(asked, cancel or threading.Event()))


def ended(events: list[CompareEvent]) -> Compared:
    assert isinstance(events[-1], Compared)
    return events[-1]


def test_settings_take_turns_and_begin_alternately_behind_a_warm_up_each() -> None:
    session = Writing()
    events = play(session)
    runs = [(one.setting, one.prompt, one.repeat, one.step) for one in ended(events).comparison.runs]
    assert runs == [
        (0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 0, 0),
        (1, 0, 1, 0), (1, 0, 1, 1), (0, 0, 1, 0), (0, 0, 1, 1), (0, 1, 1, 0), (1, 1, 1, 0),
    ]  # fmt: skip
    assert [request.max_new_tokens for request in session.requests] == [12, 12, *[40] * 12]
    assert ended(events).comparison.is_whole
    assert ended(events).failure is None


def test_every_run_begins_with_an_empty_cache_in_its_mode() -> None:
    session = Writing()
    play(session, repeats=1)
    assert session.heard == [
        "fast", "exact",
        "fast", "forget", "off", "exact", "forget", "on",
        "fast", "forget", "off", "off", "exact", "exact", "forget", "on", "on", "exact",
        "exact", "forget", "on", "exact", "fast", "forget", "off", "exact",
        "drop", "forget",
    ]  # fmt: skip
    assert session.mode == "exact", "as before"


def test_recipes_take_turns_and_the_loaded_one_comes_back() -> None:
    session = Writing()
    settings = (OFF, Setting("fast", on=True, k=2, recipe="nf3"), Setting("fast", on=True, k=2))
    events = play(session, settings=settings, prompts=PROMPTS[1:], repeats=1)
    assert ended(events).failure is None
    recipes = [one for one in session.heard if one.startswith("recipe") or one in ("on", "drop")]
    assert recipes[-5:] == ["recipe nf3", "on", "recipe None", "on", "drop"]
    assert settings[1].name == "twin nf3 K 2 fast"
    phases = [one.notice for one in events if isinstance(one, ComparePhase)]
    assert Notice("compare.recipe", {"recipe": "nf3"}) in phases


def test_a_prompt_has_one_seed_whoever_writes_it_and_a_later_turn_goes_on_with_the_chat() -> None:
    session = Writing()
    play(session, sampling=Sampling(seed=40))
    counted = session.requests[2:]
    assert [request.sampling.seed for request in counted] == [40, 40, 40, 40, 41, 41] * 2
    assert [len(request.messages) for request in counted[:4]] == [1, 3, 1, 3]
    assert counted[1].messages[1].content == POEM
    assert len({request.turn for request in session.requests}) == 14
    assert all(request.turn < 0 for request in session.requests), "numbers above belong to chats"


def test_what_streams_is_what_ends_up_in_the_record() -> None:
    events = play(Writing(), repeats=1)
    begun = [one for one in events if isinstance(one, RunBegan)]
    assert [(one.number, one.total) for one in begun] == [(1, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]
    grown = [one for one in events[: events.index(begun[1])] if isinstance(one, RunGrew)]
    first = next(one.run for one in events if isinstance(one, RunEnded))
    assert "".join(one.text for one in grown) == first.text == POEM
    assert tuple(one.round for one in grown) == first.rounds
    assert sum(one.tokens for one in first.rounds) == len(first.token_ids)
    assert [one.at for one in first.rounds] == sorted(one.at for one in first.rounds)
    assert (first.identity, first.finish) == ("fake", "end")
    assert first.memory is not None
    assert first.energy is None


def test_a_planted_difference_is_found_with_both_candidates() -> None:
    sides = (Side(999, " fish", (2.0, 15.0), (2.0, 15.0)), Side(7, " sea", (2.0, 15.0), (2.0, 15.0)), 0.5)
    session = Writing(Script(sides=sides))
    session.planted = 7
    found = ended(play(session)).comparison.differences
    assert [(one.setting, one.reference, one.prompt, one.step, one.position) for one in found] == [
        (1, 0, 0, 0, 7), (1, 0, 1, 0, 7),
    ]  # fmt: skip
    assert found[0].mine.text == " fish"
    assert found[0].own_gap == 13
    assert found[0].is_near_tie is False


def test_a_difference_that_cannot_be_looked_into_is_told_all_the_same() -> None:
    session = Writing()
    session.planted = 7
    found = ended(play(session, repeats=1)).comparison.differences[0]
    assert (found.mine.token, found.theirs.token, found.gap) == (999, 7, None)


def test_a_stop_keeps_what_was_measured_and_puts_the_mode_back() -> None:
    session, cancel = Writing(), threading.Event()
    events: list[CompareEvent] = []
    for event in session.compare(Plan((OFF, ON), PROMPTS), cancel):
        events.append(event)
        if isinstance(event, RunBegan) and event.number == 3:
            cancel.set()
    found = ended(events)
    assert not found.comparison.is_whole
    assert found.failure is None
    assert {run.setting for run in found.comparison.runs} == {0, 1}
    assert len(found.comparison.runs) == 4
    assert (session.mode, session.heard[-1]) == ("exact", "forget")


def test_a_failure_keeps_what_was_measured_and_says_why() -> None:
    session = Writing(Script(fail_after_rounds=1, failure=Notice("error.out_of_memory")))
    found = ended(play(session))
    assert found.failure == Notice("error.out_of_memory")
    assert not found.comparison.is_whole


@pytest.mark.parametrize(
    ("script", "settings", "said"),
    [
        (Script(modes=("fast",), loaded=replace(LOADED, mode="fast")), (OFF, ON), "compare.no_mode"),
        (Script(), (OFF, Setting("fast", on=True, drafter="ngram")), "error.drafter_unavailable"),
        (Script(), (OFF, Setting("exact", on=True, k=30)), "error.k_too_large"),
    ],
)
def test_what_cannot_be_had_is_refused_before_anything_runs(
    script: Script, settings: tuple[Setting, ...], said: str
) -> None:
    session = Writing(script)
    found = ended(list(session.compare(Plan(settings, PROMPTS), threading.Event())))
    assert found.failure is not None
    assert found.failure.id == said
    assert session.requests == []


def test_closing_it_half_way_puts_the_mode_back() -> None:
    session = Writing()
    events = session.compare(Plan((OFF, ON), PROMPTS), threading.Event())
    assert isinstance(next(events), ComparePhase)
    events.close()  # type: ignore[attr-defined]
    assert (session.mode, session.heard[-1]) == ("exact", "forget")
