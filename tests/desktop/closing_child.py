"""A window in a process of its own, for tests of closing: it closes itself at the moment named on the command line.

``held`` makes the engine's thread sit in a call that nothing can interrupt, as an import or a read of weights does.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from desktop import app
from desktop.main_window import MainWindow
from inference.events import LoadProgress, Prefill, Round
from inference.settings import ModelChoice, Speculation
from tests.fake_session import FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QSettings

    from desktop.palette import Palette
    from desktop.store import Store
    from desktop.worker import Worker
    from inference.events import Event

MOMENT = sys.argv[1]
LONG = "Some words of a reply that goes on and on. " * 2000


def close_twice() -> None:
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, MainWindow):
            widget.close()
            widget.close()


class HeldSession(FakeSession):
    """Never comes back from loading, whatever is cancelled."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        yield from ()
        application = QApplication.instance()
        assert application is not None
        QTimer.singleShot(0, application, close_twice)
        threading.Event().wait()


class Window(MainWindow):
    """Closes when the moment has come."""

    def __init__(
        self,
        worker: Worker,
        choice: ModelChoice,
        speculation: Speculation,
        palette: Palette,
        settings: QSettings,
        store: Store,
    ) -> None:
        super().__init__(worker, choice, speculation, palette, settings, store)
        worker.happened.connect(self.on_event)

    def on_event(self, event: Event) -> None:
        round_number = event.index if isinstance(event, Round) else -1
        if (
            (MOMENT == "loading" and isinstance(event, LoadProgress))
            or (MOMENT == "prefill" and isinstance(event, Prefill))
            or (MOMENT.startswith("round") and round_number == int(MOMENT.removeprefix("round") or 0))
            or (MOMENT == "model" and round_number == 5)
        ):
            if MOMENT == "model":
                self.menu.choose("owner/name")
            close_twice()
        elif self.status_bar.state.text() == "ready":
            if MOMENT == "signal":
                print("ready", flush=True)  # noqa: T201
            elif MOMENT == "ready":
                close_twice()
            elif self.chat.conversation.last is None:
                self.ask("Go on")


app.MainWindow = Window  # type: ignore[attr-defined]
session: type[FakeSession] = HeldSession if MOMENT == "held" else FakeSession
sys.exit(app.run(ModelChoice(), Speculation(k=3), lambda: session(Script(replies=(LONG,)))))
