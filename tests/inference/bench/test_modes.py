"""One loaded model writes in both modes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from inference.events import Finished, Loaded
from inference.messages import Problem
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling

if TYPE_CHECKING:
    from inference.events import Event


def loaded(session: Session, folder: str, exact: bool) -> Event:
    choice = ModelChoice(model=folder, drafter="none", dtype="bfloat16", context=512, exact=exact)
    return list(session.load(choice, threading.Event()))[-1]


def reply(session: Session) -> Finished:
    request = Request(1, (Message("user", "Hello?"),), Sampling(temperature=0), max_new_tokens=8)
    finished = list(session.reply(request, Control()))[-1]
    assert isinstance(finished, Finished)
    return finished


def test_a_session_switches_without_loading_anew(folder: str) -> None:
    session = Session()
    first = loaded(session, folder, exact=True)
    assert isinstance(first, Loaded)
    assert first.mode == "exact"
    assert session.ready is not None
    model = session.ready.model
    exact = reply(session).statistics
    fast = session.switch("fast")
    assert (fast.mode, fast.width, fast.mode_notice.id) == ("fast", 1, "exact.off_chosen")
    assert fast.largest_k > first.largest_k
    after = reply(session).statistics
    assert (exact.identity, after.identity) == (first.identity, fast.identity)
    assert exact.identity != after.identity
    assert session.switch("exact").identity == first.identity
    assert session.ready.model is model


def test_another_mode_reads_the_chat_anew_and_so_does_a_session_that_forgot(folder: str) -> None:
    session = Session()
    loaded(session, folder, exact=True)
    assert [reply(session).statistics.reused > 0 for _ in range(2)] == [False, True]
    session.switch("exact")
    assert reply(session).statistics.reused > 0
    session.switch("fast")
    assert reply(session).statistics.reused == 0
    session.forget()
    assert reply(session).statistics.reused == 0


def test_a_mode_that_was_not_tried_is_refused(folder: str) -> None:
    session = Session()
    with pytest.raises(Problem, match="No model is loaded"):
        session.switch("fast")
    session.forget()
    loaded(session, folder, exact=False)
    with pytest.raises(Problem, match="mode is exact; it must be fast"):
        session.switch("exact")
    assert session.switch("fast").mode == "fast"
