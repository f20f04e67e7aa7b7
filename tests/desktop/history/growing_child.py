"""Has a reply written, and tells at once how long it is on screen: to be killed in the middle."""

from __future__ import annotations

import sys
import time
from itertools import count
from pathlib import Path
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


app = QCoreApplication([])
worker = Worker(lambda: Paced(Script(replies=(LONG,))))
chat = Chat(worker, History(Store(Path(sys.argv[1])), count(1).__next__))


def begin(_model: Loaded) -> None:
    chat.ask(f"Question {sys.argv[2]}")
    chat.write(Speculation(k=3), ChatSettings(Sampling(seed=7), 100_000))


def tell() -> None:
    reply = chat.conversation.turns[-1].reply
    print(time.monotonic(), reply.id, len(reply.text), flush=True)  # noqa: T201


chat.loaded.connect(begin)
chat.grown.connect(tell)
worker.start()
chat.load(ModelChoice())
sys.exit(app.exec())
