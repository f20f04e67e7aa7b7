"""The figures for a large history: 10,000 chats with 200,000 messages, a chat of 5,000, a reply of a megabyte."""

from __future__ import annotations

import random
import string
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings

from desktop.conversation import Conversation
from desktop.history.copying import writing
from desktop.history.details import details_of
from desktop.history.records import ChatRecord, MessageRecord, Record, Role
from desktop.main_window import MainWindow
from desktop.palette import LIGHT
from desktop.store import Store
from desktop.worker import Worker
from inference.events import Finished
from inference.settings import Control, ModelChoice, Speculation
from tests.fake_session import FakeSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from desktop.reply import Reply

CHATS, MESSAGES = 10_000, 20
START_S, SEARCH_MS, OPEN_MS = 1.0, 100.0, 150.0
SLACK = 5.0
"""A shared core may take several times as long for the same work (opening: 63 ms alone, 344 once on a full machine).
Run with -s for the figures themselves."""


def large_history(store: Store) -> Iterator[Record]:
    dice = random.Random(1)
    words = ["".join(dice.choices(string.ascii_lowercase, k=dice.randint(2, 9))) for _ in range(30_000)]
    pool = dice.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=400_000)
    now = time.time()

    def some(low: int, high: int) -> str:
        at = dice.randrange(390_000)
        return " ".join(pool[at : at + dice.randint(low, high)])

    def chat(title: str, age: float, texts: Iterator[str], details: str = "{}") -> Iterator[Record]:
        one = ChatRecord(store.new_id(), title, now - age, now - age)
        yield one
        parent = None
        for number, text in enumerate(texts):
            role: Role = "assistant" if number % 2 else "user"
            known = details if number % 2 else "{}"
            message = MessageRecord(store.new_id(), one.id, parent, role, text, now - age + number, details=known)
            yield message
            parent = message.id

    for number in range(CHATS):
        texts = (some(*((40, 160) if turn % 2 else (8, 30))) for turn in range(MESSAGES))
        yield from chat(some(3, 7), 4000.0 * number, texts)
    yield from chat("long", 1, (some(10, 60) for _ in range(5_000)), details_of(written()))
    yield from chat("large", 2, iter(["Go", " ".join(pool[:180_000])[:1_000_000]]))


def written() -> Reply:
    """A reply of 300 tokens with all that is kept of one."""
    conversation = Conversation()
    conversation.ask("Go")
    request = conversation.request(None, Speculation(k=3))
    for event in FakeSession().reply(request, Control(Speculation(k=3))):
        if isinstance(event, Finished):
            event = replace(event, token_ids=tuple(range(10_000, 10_300)))
        conversation.record(event)
    return conversation.turns[-1].reply


def milliseconds(act: Callable[[], object]) -> float:
    """Of this process's own work; what others do meanwhile says nothing."""
    begun = time.process_time()
    act()
    return 1000 * (time.process_time() - begun)


@pytest.mark.slow
def test_h10_a_large_history(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for _ in writing(store.connection, large_history(store)):
        pass
    store.close()
    begun = time.process_time()
    store = Store(tmp_path)
    worker = Worker(FakeSession)
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = MainWindow(worker, ModelChoice(), Speculation(), LIGHT, settings, store)
    qtbot.addWidget(window)
    window.resize(1180, 780)
    with qtbot.waitSignal(window.appeared, timeout=60_000):
        window.show()
    figures = {"start_s": time.process_time() - begun}

    words = [message.text.split()[3] for chat in list(store.chats)[::500] for message in store.messages(chat)[1:2]]
    figures["search_ms"] = max(milliseconds(lambda word=word: store.search(word)) for word in [*words, "th", "lo s"])

    def opened(chat: int) -> None:
        window.show_chat(chat, None)
        window.transcript.viewport().grab()

    titled = {chat.title: chat.id for chat in store.chats.values()}
    chats = [*list(store.chats)[::1000], titled["long"], titled["large"]]
    figures["open_ms"] = max(milliseconds(lambda chat=chat: opened(chat)) for chat in chats)
    figures["list_ms"] = milliseconds(window.sidebar.refresh)
    print({name: round(value, 3) for name, value in figures.items()})  # noqa: T201
    window.close()
    worker.close()
    assert figures["start_s"] < START_S * SLACK, figures
    assert figures["search_ms"] < SEARCH_MS * SLACK, figures
    assert figures["open_ms"] < OPEN_MS * SLACK, figures
