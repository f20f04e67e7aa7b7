"""The starter as it runs on this machine, exact mode: speculation changes no text. And its twin drafts as it should."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psutil
import pytest
import torch

from inference.bench.comparison import Compared, Plan, Setting
from inference.bench.figures import exact_identities, figures_of
from inference.bench.kinds import KINDS
from inference.bench.prompts import BUILT_IN
from inference.events import Finished, Loaded
from inference.explained import Explained
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def load(folder: Path) -> Session:
    session = Session()
    choice = ModelChoice(model=str(folder), drafter="twin", exact=True, context=1024)
    loaded = list(session.load(choice, threading.Event()))[-1]
    assert isinstance(loaded, Loaded)
    assert loaded.mode == "exact", loaded.mode_notice
    return session


@pytest.fixture(scope="module")
def session(starter_folder: Path) -> Iterator[Session]:
    session = load(starter_folder)
    yield session
    session.close()


def write(session: Session, prompt: str, k: int, sampling: Sampling) -> Finished:
    session.forget()
    request = Request(1, (Message("user", prompt),), sampling, 96)
    finished = list(session.reply(request, Control(Speculation(k=k))))[-1]
    assert isinstance(finished, Finished), finished
    return finished


def check(session: Session, sampling: Sampling, prompts: int) -> None:
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


def test_speculative_text_equals_plain_text(session: Session) -> None:
    check(session, Sampling(temperature=0), 10)


def test_speculative_text_equals_plain_text_with_noise_on_all_cores(starter_folder: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(psutil.cpu_count() or 1)
    try:
        session = load(starter_folder)
        check(session, Sampling(seed=11), 3)
        session.close()
    finally:
        torch.set_num_threads(before)


def test_a_comparison_on_twelve_kinds_is_identical_on_and_off_and_its_rounds_can_be_told(session: Session) -> None:
    settings = (Setting("exact"), Setting("exact", on=True, drafter="twin", k=4))
    plan = Plan(settings, KINDS, Sampling(temperature=0), max_new_tokens=16, repeats=1)
    compared = list(session.compare(plan, threading.Event()))[-1]
    assert isinstance(compared, Compared)
    assert compared.failure is None
    same = figures_of(compared.comparison)[1].sameness
    assert (same.prompts, same.identical) == (12, 12), compared.comparison.differences
    assert len(exact_identities(compared.comparison)) == 1
    last = compared.comparison.runs[-2 if compared.comparison.runs[-1].setting == 0 else -1]
    for index in range(len(last.rounds)):
        (told,) = session.explain(last.turn, index)
        assert isinstance(told, Explained), told
        assert told.is_same
        assert sum(step.kind == "accepted" for step in told.walks["coupled"]) == last.rounds[index].accepted
