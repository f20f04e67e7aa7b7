"""The engine thread: orders in by a queue, events out by one queued signal. The only file with a thread.

It imports the engine inside the thread, after `start` (design D10, D11); it knows nothing of widgets.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, QThread, Signal

from inference.events import Failed, LoadFailed, Notice, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from inference.events import Event
    from inference.settings import Control, ModelChoice, Request


class Session(Protocol):
    """What the window needs of the engine: two plain generators."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterable[Event]:
        """LoadProgress events, then Loaded or LoadFailed."""

    def reply(self, request: Request, control: Control) -> Iterable[Event]:
        """Started, Prefill and Round events, then Finished or Failed."""

    def close(self) -> None:
        """Let go of the model."""


def engine() -> Session:
    """The real session. The import takes seconds, so this runs inside the thread only."""
    from inference.session import Session as Engine

    session: Session = Engine()
    return session


@dataclass(frozen=True, slots=True)
class _Load:
    number: int
    choice: ModelChoice
    cancel: threading.Event


@dataclass(frozen=True, slots=True)
class _Reply:
    request: Request
    control: Control


@dataclass(frozen=True, slots=True)
class _News:
    load: int | None
    event: Event


class Worker(QObject):
    """Runs one session on one thread. ``happened`` arrives on the thread that made this object."""

    happened = Signal(object)

    def __init__(self, make_session: Callable[[], Session] = engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._orders: SimpleQueue[_Load | _Reply | None] = SimpleQueue()
        self._thread = _EngineThread(make_session, self._orders, self)
        self._thread.news.connect(self._on_news, Qt.ConnectionType.QueuedConnection)
        self._loads = 0
        self._load_cancel: threading.Event | None = None
        self._control: Control | None = None
        self._is_closing = False

    def start(self) -> None:
        """Begin to work on orders; before that they wait in the queue."""
        if not self._is_closing:
            self._thread.start()

    def load(self, choice: ModelChoice) -> None:
        """Load a model; a load or reply still going on is given up and its events are dropped."""
        self.stop()
        if self._load_cancel is not None:
            self._load_cancel.set()
        self._loads += 1
        self._load_cancel = threading.Event()
        self._orders.put(_Load(self._loads, choice, self._load_cancel))

    def reply(self, request: Request, control: Control) -> None:
        """Write one reply; what may change meanwhile is in ``control``."""
        self._control = control
        self._orders.put(_Reply(request, control))

    def stop(self) -> None:
        """End the reply within one forward pass."""
        if self._control is not None:
            self._control.cancel.set()

    def close(self) -> None:
        """Cancel everything and let the thread end; returns at once."""
        if self._is_closing:
            return
        self._is_closing = True
        self.stop()
        if self._load_cancel is not None:
            self._load_cancel.set()
        self._thread.requestInterruption()
        self._orders.put(None)

    def has_ended(self, wait_ms: int) -> bool:
        """Whether the thread has ended, waiting for it at most ``wait_ms``."""
        return self._thread.wait(wait_ms)

    def _on_news(self, news: _News) -> None:
        if self._is_closing or (news.load is not None and news.load != self._loads):
            return
        self.happened.emit(news.event)


class _EngineThread(QThread):
    """The loop over orders. Nothing but ``news`` leaves it."""

    news = Signal(object)

    def __init__(
        self, make_session: Callable[[], Session], orders: SimpleQueue[_Load | _Reply | None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._make_session = make_session
        self._orders = orders

    def run(self) -> None:
        session: Session | None = None
        while (order := self._orders.get()) is not None and not self.isInterruptionRequested():
            try:
                session = session or self._make_session()
                if isinstance(order, _Load):
                    self._tell(session.load(order.choice, order.cancel), order.number)
                else:
                    self._tell(session.reply(order.request, order.control), None)
            except Exception as problem:  # whatever goes wrong must become a sentence, not a vanished thread
                notice = problem.notice if isinstance(problem, Problem) else _unexpected(problem)
                failure = LoadFailed(notice) if isinstance(order, _Load) else Failed(order.request.turn, notice)
                self.news.emit(_News(order.number if isinstance(order, _Load) else None, failure))
        if session is not None:
            session.close()

    def _tell(self, events: Iterable[Event], load: int | None) -> None:
        for event in events:
            self.news.emit(_News(load, event))
            if self.isInterruptionRequested():
                break


def _unexpected(problem: Exception) -> Notice:
    detail = " ".join(str(problem).split()) or type(problem).__name__
    return Notice("error.unexpected", {"detail": detail[:300]})
