"""Copies of the whole history in one file, and back; made a little at a time, so that the window stays alive."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.history.copying import read_all, writing
from desktop.history.opening import BACKUPS, connect, forgiving, stamp
from desktop.history.records import ChatRecord
from desktop.history.schema import NEWEST, bring_up_to_date, version_of
from desktop.history.trouble import FAULTS, Damaged, Trouble, kind_of
from desktop.store import Unavailable, with_time_left

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from desktop.history.trouble import Kind
    from desktop.store import Store

DAY = 24 * 3600.0
KEPT_DAYS = 3
SLICE = 0.008
"""Seconds of copying before the window gets its turn."""
PAUSE_MS = 4


def saved(store: Store, goal: Path) -> Iterator[int]:
    """Write a copy of the whole history to ``goal``, some records at each step; it appears when it is complete.

    The copy shows the moment at which it was begun. Raises sqlite3.Error, OSError, Unavailable.
    """
    part = goal.with_name(goal.name + ".part")
    part.unlink(missing_ok=True)
    try:
        with closing(_snapshot(store)) as source, closing(sqlite3.connect(part, isolation_level=None)) as target:
            target.execute("PRAGMA journal_mode = OFF")
            target.execute("PRAGMA synchronous = OFF")
            bring_up_to_date(target, with_index=False)
            yield from writing(target, read_all(source))
            target.execute("PRAGMA synchronous = FULL")
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("INSERT OR REPLACE INTO about VALUES ('copied', ?)", (str(time.time()),))
        part.replace(goal)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def restored(store: Store, path: Path) -> Iterator[int]:
    """Bring in everything from a copy that is not here; what is here stays. Some records at each step.

    Raises Damaged for a file that is none of ours, sqlite3.Error, OSError, Unavailable.
    """
    with closing(forgiving(connect(path, "ro"))) as source:
        try:
            version = version_of(source)
        except FAULTS as error:
            raise Damaged("no database") from error
        if version < 1:
            raise Damaged("no history")
        if version > NEWEST:
            raise Unavailable(Trouble("newer"))
        records = (with_time_left(one) if isinstance(one, ChatRecord) else one for one in read_all(source))
        yield from writing(store.writable, records, only_new=True)


def is_daily_due(folder: Path) -> bool:
    """Whether the last copy is more than a day old."""
    newest = max((one.stat().st_mtime for one in _dailies(folder)), default=0.0)
    return newest < time.time() - DAY


class Copying(QObject):
    """Runs the steps of a copy between other things. ``ended`` carries how many messages, ``failed`` a Trouble."""

    ended = Signal(int)
    failed = Signal(object)
    went_on = Signal(int)

    def __init__(self, steps: Iterator[int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps = steps
        self._count = 0
        self._timer = QTimer(self)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._go_on)

    @classmethod
    def daily(cls, store: Store, parent: QObject) -> Copying:
        """The copy of the day, in the folder for backups; older ones go."""
        goal = store.folder / BACKUPS / f"history-daily-{stamp()}.sqlite"
        copying = cls(_with_folder(goal, lambda: saved(store, goal)), parent)
        copying.ended.connect(lambda _count: _thin_out(store.folder))
        return copying

    def start(self) -> None:
        """Begin."""
        self._timer.start()

    def cancel(self) -> None:
        """Give up; a half-written copy goes."""
        self._timer.stop()
        self.deleteLater()
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()

    def _go_on(self) -> None:
        end = time.perf_counter() + SLICE
        try:
            while time.perf_counter() < end:
                self._count = next(self._steps)
        except StopIteration:
            self._timer.stop()
            self.deleteLater()
            self.ended.emit(self._count)
        except Exception as error:  # whatever goes wrong must become a sentence
            self._timer.stop()
            self.deleteLater()
            self.failed.emit(error.trouble if isinstance(error, Unavailable) else Trouble(*_said(error)))
        else:
            self.went_on.emit(self._count)


def _said(error: Exception) -> tuple[Kind, dict[str, str | int]]:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return kind_of(error), {"detail": " ".join(words.split())[:200], "folder": ""}


def _snapshot(store: Store) -> sqlite3.Connection:
    """A connection of its own that goes on seeing the history as it is now."""
    path = store.connection.execute("PRAGMA database_list").fetchone()[2]
    if not path:  # a history that cannot be written is held in memory
        memory = sqlite3.connect(":memory:", isolation_level=None)
        store.connection.backup(memory)
        return memory
    source = forgiving(connect(store.folder / path.replace("\\", "/").rpartition("/")[2], "ro"))
    source.execute("BEGIN")
    source.execute("SELECT count(*) FROM folder").fetchone()
    return source


def _with_folder(goal: Path, steps: Callable[[], Iterator[int]]) -> Iterator[int]:
    goal.parent.mkdir(parents=True, exist_ok=True)
    yield from steps()


def _dailies(folder: Path) -> list[Path]:
    return sorted((folder / BACKUPS).glob("history-daily-*.sqlite"))


def _thin_out(folder: Path) -> None:
    for old in _dailies(folder)[:-KEPT_DAYS]:
        with suppress(OSError):
            old.unlink()
