"""Has a reply written, and tells at once how long it is on screen: to be killed in the middle."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from desktop.chat import Chat
from desktop.history.history import History
from desktop.settings.chat_settings import ChatSettings
from desktop.store import Store
from desktop.worker import Worker
from inference.events import Loaded, Round
from inference.settings import ModelChoice, Sampling, Speculation
from tests.fake_session import FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from inference.events import Event
    from inference.settings import Control, Request

ROUND_SECONDS = 0.01
LONG = " ".join(f"word{number}" for number in range(20_000))


class Paced(FakeSession):
    """Writes at the speed of a fast machine."""

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        for event in super().reply(request, control):
            if isinstance(event, Round):
                time.sleep(ROUND_SECONDS)
            yield event


def write(folder: Path, number: int, told: Connection[tuple[int, int], None]) -> None:
    """Write into the history in ``folder``; each growth is told as (id of the reply, characters on screen)."""
    app = QCoreApplication([])
    worker = Worker(lambda: Paced(Script(replies=(LONG,))))
    chat = Chat(worker, History(Store(folder), count(1).__next__))

    def begin(_model: Loaded) -> None:
        chat.ask(f"Question {number}")
        chat.write(Speculation(k=3), ChatSettings(Sampling(seed=7), 100_000))

    def tell() -> None:
        reply = chat.conversation.turns[-1].reply
        assert reply.id is not None
        told.send((reply.id, len(reply.text)))

    chat.loaded.connect(begin)
    chat.grown.connect(tell)
    worker.start()
    chat.load(ModelChoice())
    app.exec()
