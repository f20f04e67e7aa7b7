"""The engine thread: orders in by a queue, events out by one queued signal. The only file with a thread.

It imports the engine inside the thread, after `start` (design D10, D11); it knows nothing of widgets.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, QThread, Signal

from inference.bench.comparison import Compared, CompareEvent, Comparison, RunEnded
from inference.events import Failed, LoadFailed, Notice, Problem
from inference.explained import Explained, ExplainFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from inference.bench.comparison import Plan
    from inference.events import Event
    from inference.settings import Control, ModelChoice, Request


class Session(Protocol):
    """What the window needs of the engine: plain generators."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterable[Event]:
        """LoadProgress events, then Loaded or LoadFailed."""

    def reply(self, request: Request, control: Control) -> Iterable[Event]:
        """Started, Prefill and Round events, then Finished or Failed."""

    @property
    def wants_twin(self) -> bool:
        """Whether the loaded model could have a better twin than it has."""

    def make_twin(self, cancel: threading.Event) -> Generator[Event, None, None]:
        """TwinProgress events, then DraftersChanged. Between two events replies may be written."""

    def compare(self, plan: Plan, cancel: threading.Event) -> Iterable[CompareEvent]:
        """Events of the runs, then Compared. At a RunEnded that is a border, replies may be written in between."""

    def explain(self, turn: int, round: int) -> Iterable[Explained | ExplainFailed]:
        """One of the two: a past round of a reply, laid open."""

    def count(self, text: str) -> int:
        """How many tokens a text is. Raises Problem without a model."""

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
class _Unload:
    number: int


@dataclass(frozen=True, slots=True)
class _Reply:
    request: Request
    control: Control


@dataclass(frozen=True, slots=True)
class _Compare:
    plan: Plan
    cancel: threading.Event


@dataclass(frozen=True, slots=True)
class _Explain:
    turn: int
    round: int


@dataclass(frozen=True, slots=True)
class _Count:
    text: str
    cancel: threading.Event


@dataclass(frozen=True, slots=True)
class Counted:
    """A text is so many tokens of the loaded model."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _Unloaded:
    """No model is loaded any more, and its memory is free."""


_Order = _Load | _Unload | _Reply | _Compare | _Explain | _Count


@dataclass(frozen=True, slots=True)
class _News:
    load: int | None
    event: Event | CompareEvent | Explained | ExplainFailed | Counted | _Unloaded


class Worker(QObject):
    """Runs one session on one thread. Its signals arrive on the thread that made this object.

    ``happened`` carries events of loading and of replies, ``compared`` those of comparisons, ``explained`` rounds laid
    open, ``counted`` a Counted. ``unloaded`` comes when the memory of a model that was let go is free.
    """

    happened = Signal(object)
    compared = Signal(object)
    explained = Signal(object)
    counted = Signal(object)
    unloaded = Signal()

    def __init__(self, make_session: Callable[[], Session] = engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._thread = _EngineThread(make_session, self._orders, self)
        self._thread.news.connect(self._on_news, Qt.ConnectionType.QueuedConnection)
        self._loads = 0
        self._load_cancel: threading.Event | None = None
        self._control: Control | None = None
        self._compare_cancel: threading.Event | None = None
        self._count_cancel: threading.Event | None = None
        self._is_closing = False

    def start(self) -> None:
        """Begin to work on orders; before that they wait in the queue."""
        if not self._is_closing:
            self._thread.start()

    def load(self, choice: ModelChoice) -> None:
        """Load a model; a load, reply or comparison still going on is given up; events of a load are dropped."""
        self._give_up()
        self._load_cancel = threading.Event()
        self._orders.put(_Load(self._loads, choice, self._load_cancel))

    def unload(self) -> None:
        """Let the model go; what is still going on with it is given up as by `load`."""
        self._give_up()
        self._orders.put(_Unload(self._loads))

    def reply(self, request: Request, control: Control) -> None:
        """Write one reply; what may change meanwhile is in ``control``."""
        self._control = control
        self._orders.put(_Reply(request, control))

    def stop(self) -> None:
        """End the reply within one forward pass."""
        if self._control is not None:
            self._control.cancel.set()

    def compare(self, plan: Plan) -> None:
        """Run a comparison when everything asked for before is done."""
        self._compare_cancel = threading.Event()
        self._orders.put(_Compare(plan, self._compare_cancel))

    def stop_comparing(self) -> None:
        """End the comparison within one forward pass; what was measured is kept."""
        if self._compare_cancel is not None:
            self._compare_cancel.set()

    def explain(self, turn: int, round: int) -> None:
        """Lay a past round open when everything asked for before is done."""
        self._orders.put(_Explain(turn, round))

    def count(self, text: str) -> None:
        """Count the tokens of a text when everything asked for before is done; a count still waiting is given up."""
        if self._count_cancel is not None:
            self._count_cancel.set()
        self._count_cancel = threading.Event()
        self._orders.put(_Count(text, self._count_cancel))

    def close(self) -> None:
        """Cancel everything and let the thread end; returns at once."""
        if self._is_closing:
            return
        self._is_closing = True
        self._give_up()
        self._thread.requestInterruption()
        self._orders.put(None)

    def has_ended(self, wait_ms: int) -> bool:
        """Whether the thread has ended, waiting for it at most ``wait_ms``."""
        return self._thread.wait(wait_ms)

    def _give_up(self) -> None:
        """End the reply, the comparison and the load that are going on; what a load still tells is dropped."""
        self.stop()
        self.stop_comparing()
        if self._load_cancel is not None:
            self._load_cancel.set()
        self._loads += 1

    def _on_news(self, news: _News) -> None:
        if self._is_closing or (news.load is not None and news.load != self._loads):
            return
        if isinstance(news.event, CompareEvent):
            self.compared.emit(news.event)
        elif isinstance(news.event, Explained | ExplainFailed):
            self.explained.emit(news.event)
        elif isinstance(news.event, Counted):
            self.counted.emit(news.event)
        elif isinstance(news.event, _Unloaded):
            self.unloaded.emit()
        else:
            self.happened.emit(news.event)


class _EngineThread(QThread):
    """The loop over orders. Nothing but ``news`` leaves it."""

    news = Signal(object)

    def __init__(
        self, make_session: Callable[[], Session], orders: SimpleQueue[_Order | None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._make_session = make_session
        self._orders = orders
        self._postponed: deque[_Order | None] = deque()
        self._making: Generator[Event, None, None] | None = None
        self._making_for = 0

    def run(self) -> None:
        session: Session | None = None
        while (order := self._next()) is not None and not self.isInterruptionRequested():
            try:
                session = session or self._make_session()
                self._work(session, order)
            except Exception as problem:  # whatever goes wrong must become a sentence, not a vanished thread
                self._fail(order, problem.notice if isinstance(problem, Problem) else _unexpected(problem))
        self._end_making()
        if session is not None:
            session.close()

    def _next(self) -> _Order | None:
        """The next order; while none is waiting, the twin is made."""
        while self._making is not None and not self._postponed and self._orders.empty():
            if self.isInterruptionRequested():
                self._end_making()
                break
            try:
                self.news.emit(_News(self._making_for, next(self._making)))
            except StopIteration:
                self._making = None
        return self._postponed.popleft() if self._postponed else self._orders.get()

    def _end_making(self) -> None:
        if self._making is not None:
            self._making.close()
            self._making = None

    def _work(self, session: Session, order: _Order) -> None:
        if isinstance(order, _Load):
            self._end_making()
            self._tell(session.load(order.choice, order.cancel), order.number)
            if order.choice.twin_later and session.wants_twin:
                self._making, self._making_for = session.make_twin(order.cancel), order.number
        elif isinstance(order, _Unload):
            self._end_making()
            session.close()
            self.news.emit(_News(order.number, _Unloaded()))
        elif isinstance(order, _Reply):
            self._tell(session.reply(order.request, order.control), None)
        elif isinstance(order, _Explain):
            self._tell(session.explain(order.turn, order.round), None)
        elif isinstance(order, _Count):
            if not order.cancel.is_set():
                self.news.emit(_News(None, Counted(order.text, session.count(order.text))))
        else:
            for event in session.compare(order.plan, order.cancel):
                self.news.emit(_News(None, event))
                if isinstance(event, RunEnded) and event.is_border:
                    self._give_way(session)
                if self.isInterruptionRequested():
                    break

    def _give_way(self, session: Session) -> None:
        """Write replies and count tokens that are waiting, between two runs; everything else waits on."""
        while not self._orders.empty():
            order = self._orders.get()
            if not isinstance(order, _Reply | _Count):
                self._postponed.append(order)
                continue
            try:
                self._work(session, order)
            except Exception as problem:  # as in run: the comparison goes on
                self._fail(order, problem.notice if isinstance(problem, Problem) else _unexpected(problem))

    def _fail(self, order: _Order, notice: Notice) -> None:
        """An order that ended in an error ends with a sentence."""
        if isinstance(order, _Load):
            self.news.emit(_News(order.number, LoadFailed(notice)))
        elif isinstance(order, _Reply):
            self.news.emit(_News(None, Failed(order.request.turn, notice)))
        elif isinstance(order, _Explain):
            self.news.emit(_News(None, ExplainFailed(order.turn, order.round, notice)))
        elif isinstance(order, _Compare):
            self.news.emit(_News(None, Compared(Comparison(order.plan, {}, (), (), is_whole=False), notice)))

    def _tell(self, events: Iterable[Event | Explained | ExplainFailed], load: int | None) -> None:
        for event in events:
            self.news.emit(_News(load, event))
            if self.isInterruptionRequested():
                break


def _unexpected(problem: Exception) -> Notice:
    detail = " ".join(str(problem).split()) or type(problem).__name__
    return Notice("error.unexpected", {"detail": detail[:300]})
