"""The starter itself, bfloat16, exact mode: speculation changes no text. And its twin drafts as well as it should."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from inference.bench.prompts import BUILT_IN
from inference.events import Finished, Loaded
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def session(starter_folder: Path) -> Iterator[Session]:
    session = Session()
    choice = ModelChoice(model=str(starter_folder), drafter="twin", dtype="bfloat16", exact=True, context=1024)
    loaded = list(session.load(choice, threading.Event()))[-1]
    assert isinstance(loaded, Loaded)
    assert loaded.mode == "exact", loaded.mode_notice
    yield session
    session.close()


def write(session: Session, prompt: str, k: int, sampling: Sampling) -> Finished:
    session.forget()
    request = Request(1, (Message("user", prompt),), sampling, 96)
    finished = list(session.reply(request, Control(Speculation(k=k))))[-1]
    assert isinstance(finished, Finished), finished
    return finished


@pytest.mark.parametrize(
    ("sampling", "prompts"), [(Sampling(temperature=0), 10), (Sampling(seed=11), 3)], ids=["greedy", "warm"]
)
def test_speculative_text_equals_plain_text(session: Session, sampling: Sampling, prompts: int) -> None:
    accepted = tested = 0
    for prompt in BUILT_IN[:prompts]:
        plain = write(session, prompt.turns[0], 0, sampling)
        drafted = write(session, prompt.turns[0], 4, sampling)
        assert drafted.token_ids == plain.token_ids, prompt.turns[0]
        assert drafted.text == plain.text
        assert drafted.statistics.identity == plain.statistics.identity
        accepted += drafted.statistics.accepted
        tested += drafted.statistics.tested
    assert accepted / tested > 0.5, "measured 0.6; a twin far below is broken"
