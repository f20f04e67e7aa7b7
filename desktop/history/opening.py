"""Opens the file the chats are kept in, whatever state it is in, and says what was wrong. Knows no window.

A damaged file is put aside under a new name and what can be read of it goes into a new one; a file of a newer version
is left as it is; a file that cannot be written is read from a copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.history import log, salvage
from desktop.history.copying import read_all, write_all
from desktop.history.schema import NEWEST, bring_up_to_date, lacks_index, version_of
from desktop.history.trouble import FAULTS, Damaged, Trouble, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "history.sqlite"
BACKUPS = "backups"
PATIENCE = 0.1
"""Seconds to wait for a lock: the window waits as long."""
CHECKED_BYTES = 24_000_000
"""A file of up to this size is checked each time it is opened (about 1.5 ms a megabyte)."""


@dataclass(frozen=True, slots=True)
class Opened:
    """``connection`` is None where nothing can be read; ``is_writable`` is False where nothing can be written."""

    connection: sqlite3.Connection | None
    is_writable: bool
    trouble: Trouble | None = None


def open_history(folder: Path, *, is_retry: bool = False) -> Opened:
    """Open the chats kept in ``folder``; makes it if need be. Never raises for what is wrong with files.

    A retry that does not succeed has no connection: the copy that was read at first is still there.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _finish_rescue(path)
        connection = _checked(path)
    except (*FAULTS, OSError, Damaged) as error:
        return _despite(path, error, is_retry)
    version = version_of(connection)
    if version > NEWEST:
        connection.close()
        return _beside_newer(folder, version)
    try:
        if version < NEWEST or lacks_index(connection):
            if 0 < version < NEWEST:
                back_up(connection, folder, f"before-version-{NEWEST}-from-{version}")
            bring_up_to_date(connection)
        _take_in(connection, folder)
    except (*FAULTS, OSError) as error:
        connection.close()
        return _despite(path, error, is_retry)
    return Opened(connection, True)


def connect(path: Path, mode: str = "rwc") -> sqlite3.Connection:
    """A connection that waits a moment for locks and leaves transactions to us; text must be UTF-8."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def forgiving(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The same connection, that reads U+FFFD where text is no UTF-8 (five times as slow as being strict)."""
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def rescue(path: Path) -> Opened:
    """Put a damaged file aside and begin a new one with all that can be read of it and of the newest backup."""
    aside = path.with_name(f"{path.stem}-damaged-{stamp()}{path.suffix}")
    fresh = path.with_name(path.name + ".rescued")
    was_empty = path.exists() and path.stat().st_size == 0
    for old in (fresh, _wal(fresh), _shm(fresh)):
        old.unlink(missing_ok=True)
    backups = sorted((path.parent / BACKUPS).glob("*.sqlite"), key=lambda one: one.stat().st_mtime, reverse=True)
    with _workplace() as work:
        copy = _copied(path, work)
        with closing(connect(fresh)) as target:
            bring_up_to_date(target)
            found = write_all(target, salvage.records(copy))
            for backup in backups[:1]:
                with suppress(*FAULTS):
                    found += write_all(target, salvage.records(_copied(backup, work)), only_new=True)
            salvage.adopt_orphans(target)
    for source, goal in ((_wal(path), _wal(aside)), (path, aside)):
        if source.exists():
            source.replace(goal)
    _shm(path).unlink(missing_ok=True)
    fresh.replace(path)
    trouble = Trouble("emptied" if was_empty else "damaged", {"file": aside.name, "count": found}, is_over=True)
    return Opened(_prepared(connect(path)), True, trouble)


def back_up(connection: sqlite3.Connection, folder: Path, name: str) -> Path:
    """A whole copy of the database, in the backups' folder; it gets its name when it is complete."""
    backups = folder / BACKUPS
    backups.mkdir(parents=True, exist_ok=True)
    goal = backups / f"history-{name}-{stamp()}.sqlite"
    part = goal.with_suffix(".part")
    try:
        with closing(sqlite3.connect(part)) as target:
            connection.backup(target)
        part.replace(goal)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return goal


def _checked(path: Path) -> sqlite3.Connection:
    """A connection to a file that looks sound."""
    is_there = path.exists()
    if is_there and path.stat().st_size == 0:
        raise Damaged("the file is empty")
    if is_there and not _is_readable_form(path):
        raise Damaged("the header is not one of ours")
    if _has_torn_log(path):
        raise Damaged("the log is not one of ours")
    if is_there and not os.access(path, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    connection = connect(path)
    try:
        _prepared(connection)
        if version_of(connection) < 0:
            raise Damaged("the versions differ")
        if is_there and path.stat().st_size <= CHECKED_BYTES:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            if answer[0] != "ok":
                raise Damaged(str(answer[0]))
    except BaseException:
        connection.close()
        raise
    return connection


def _is_readable_form(path: Path) -> bool:
    """Whether the header names a file format that there is; SQLite takes any other for one it may not write."""
    with path.open("rb") as file:
        header = file.read(100)
    return len(header) == 100 and set(header[18:20]) <= {1, 2}


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -16000")
    return connection


def _despite(path: Path, error: Exception, is_retry: bool) -> Opened:
    """The best that can be done after opening failed."""
    kind = kind_of(error)
    values: dict[str, str | int] = {"folder": str(path.parent), "detail": _detail(error)}
    if kind == "damaged":
        try:
            return rescue(path)
        except (*FAULTS, OSError) as second:
            kind = kind_of(second)
            values["detail"] = _detail(second)
            kind = "unreadable" if kind == "damaged" else kind
    if is_retry or kind in ("locked", "unexpected"):
        return Opened(None, False, Trouble(kind, values))
    try:
        return Opened(_copy_in_memory(path), False, Trouble(kind, values))
    except (*FAULTS, OSError, Damaged):
        is_there = _is_there(path)
        return Opened(None, False, Trouble("unreadable" if is_there and kind == "unwritable" else kind, values))


def _is_there(path: Path) -> bool:
    with suppress(OSError):
        return path.exists()
    return True


def _copy_in_memory(path: Path) -> sqlite3.Connection | None:
    """What is in a file that cannot be written, brought up to date; None if there is no file."""
    if not path.exists():
        return None
    memory = forgiving(sqlite3.connect(":memory:", isolation_level=None))
    with _workplace() as work, closing(connect(_copied(path, work))) as copy:
        if not 0 < version_of(copy) <= NEWEST:
            raise Damaged("the versions differ")
        copy.backup(memory)
    bring_up_to_date(memory)
    return memory


def _beside_newer(folder: Path, version: int) -> Opened:
    """Chats go into a file of their own, which a newer program will take in."""
    trouble = Trouble("newer", {"folder": str(folder), "version": version}, is_over=True)
    try:
        connection = _checked(folder / f"history-version-{NEWEST}.sqlite")
        bring_up_to_date(connection)
    except (*FAULTS, OSError, Damaged) as error:
        return Opened(None, False, Trouble(kind_of(error), {"folder": str(folder), "detail": _detail(error)}))
    return Opened(connection, True, trouble)


def _take_in(connection: sqlite3.Connection, folder: Path) -> None:
    """Chats that an older program kept beside this file come in; their file goes to the backups."""
    for side in sorted(folder.glob("history-version-*.sqlite")):
        with _workplace() as work, closing(forgiving(connect(_copied(side, work)))) as source:
            write_all(connection, read_all(source), only_new=True)
        goal = folder / BACKUPS / f"{side.stem}-{stamp()}.sqlite"
        goal.parent.mkdir(exist_ok=True)
        for source_file, goal_file in ((_wal(side), _wal(goal)), (side, goal)):
            if source_file.exists():
                source_file.replace(goal_file)


def _finish_rescue(path: Path) -> None:
    """A rescue that was ended between its two last steps is completed."""
    fresh = path.with_name(path.name + ".rescued")
    if not path.exists() and fresh.exists():
        fresh.replace(path)


@contextmanager
def _workplace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="borrador-") as folder:
        yield Path(folder)


def _copied(path: Path, folder: Path) -> Path:
    """A copy of a database with what has not been written into it yet, for reading."""
    goal = folder / path.name
    if path.exists():
        shutil.copyfile(path, goal)
    else:
        goal.touch()
    if _has_torn_log(path):
        _wal(goal).write_bytes(log.mended(_wal(path).read_bytes()))
    elif _wal(path).exists():
        shutil.copyfile(_wal(path), _wal(goal))
    return goal


def _has_torn_log(path: Path) -> bool:
    """Whether a log that was left by a program that was killed was changed since."""
    is_there = _wal(path).exists() and _wal(path).stat().st_size <= CHECKED_BYTES
    return is_there and log.is_torn(_wal(path).read_bytes())


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _shm(path: Path) -> Path:
    return path.with_name(path.name + "-shm")


def stamp() -> str:
    """Now, for the name of a file."""
    return datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")


def _detail(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
