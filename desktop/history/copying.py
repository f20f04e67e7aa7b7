"""Records out of one database and into another, a few at a time: backup, restore, rescue and import are made of it."""

from __future__ import annotations

from itertools import islice
from types import NoneType
from typing import TYPE_CHECKING, Any

from desktop.history.records import (
    KINDS,
    LAST_SECOND,
    ROLES,
    STATES,
    ChatRecord,
    FolderRecord,
    MessageRecord,
    columns,
    values,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from desktop.history.records import Record

_ID = (int, NoneType)
_USUAL: dict[type[Record], set[tuple[type, ...]]] = {
    FolderRecord: set(),
    ChatRecord: {
        (int, str, float, float, shown, str, int, int, int, folder, binned, str, str)
        for shown in _ID
        for folder in _ID
        for binned in (float, NoneType)
    },
    MessageRecord: {(int, int, parent, str, str, float, str, shown, str) for parent in _ID for shown in _ID},
}
"""The types of the values of a row, in the order of the columns of the newest version."""
STEP = 200
"""So many records are read or written before others get their turn."""


def read_all(connection: sqlite3.Connection) -> Iterator[Record]:
    """Every record of a sound database of any version: folders, chats, messages."""
    for kind in KINDS:
        yield from read_kind(connection, kind)


def read_kind(connection: sqlite3.Connection, kind: type[Record]) -> Iterator[Record]:
    """Every record of one kind, by id. What an older version does not know has its usual value."""
    there = {row[1] for row in connection.execute(f"PRAGMA table_info ({kind.table})")}
    names = [name for name in columns(kind) if name in there]
    if not names:
        return
    query = f"SELECT {', '.join(names)} FROM {kind.table} WHERE id > ? ORDER BY id LIMIT {STEP}"
    last = -(2**63)
    while rows := connection.execute(query, (last,)).fetchall():
        for row in rows:
            last = row[0]
            record = of_row(kind, names, row)
            if record is not None:
                yield record


def upsert(record: Record) -> str:
    """The statement that puts a record of this kind in, or in the place of the one that was there."""
    names = columns(type(record))
    changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
    return f"{_insert(record)} ON CONFLICT (id) DO UPDATE SET {changes}"


def writing(target: sqlite3.Connection, records: Iterable[Record], *, only_new: bool = False) -> Iterator[int]:
    """Put records in, some at each step, each step whole or not at all; gives how many messages were new to it.

    With ``only_new`` a record that is there stays as it is.
    """
    waiting = iter(records)
    count = 0
    while some := list(islice(waiting, STEP)):
        target.execute("BEGIN IMMEDIATE")
        try:
            for record in some:
                statement = f"{_insert(record)} ON CONFLICT (id) DO NOTHING" if only_new else upsert(record)
                done = target.execute(statement, values(record)).rowcount
                count += done if isinstance(record, MessageRecord) else 0
            target.execute("COMMIT")
        except BaseException:
            if target.in_transaction:
                target.execute("ROLLBACK")
            raise
        yield count


def write_all(target: sqlite3.Connection, records: Iterable[Record], *, only_new: bool = False) -> int:
    """The same at one go; how many messages were put in."""
    return max(writing(target, records, only_new=only_new), default=0)


def of_row(kind: type[Record], names: Sequence[str], row: tuple[Any, ...]) -> Record | None:
    """The same as `to_record`; several times as fast for a row as this program writes it."""
    if tuple(map(type, row)) in _USUAL[kind]:
        if kind is MessageRecord and row[3] in ROLES and row[6] in STATES and 0 <= row[5] <= LAST_SECOND:
            return MessageRecord(*row)
        is_in_time = kind is ChatRecord and 0 <= row[2] <= LAST_SECOND and 0 <= row[3] <= LAST_SECOND
        if is_in_time and 0 <= (row[10] or 0) <= LAST_SECOND:
            return ChatRecord(*row[:6], *map(bool, row[6:9]), *row[9:])
    return to_record(kind, dict(zip(names, row, strict=True)))


def to_record(kind: type[Record], given: Mapping[str, Any]) -> Record | None:
    """A record of values as they were read; None where they cannot be one of this kind. Times become possible ones."""
    whole = (int,)
    number = (int, float)
    if not _are(given, whole, "id"):
        return None
    row: dict[str, Any] = dict(given)
    for name in ("created", "changed"):
        if isinstance(row.get(name), number):
            row[name] = possible(row[name])
    if isinstance(row.get("binned"), number):
        row["binned"] = possible(row["binned"], otherwise=LAST_SECOND)  # 0 would be long ago, and the chat removed
    if kind is FolderRecord:
        return FolderRecord(**row) if _are(row, (str,), "name") else None
    if kind is ChatRecord:
        if not (_are(row, (str,), "title") and _are(row, number, "created", "changed")):
            return None
        if not (_are(row, (int, type(None)), "shown", "folder") and _are(row, (int, float, type(None)), "binned")):
            return None
        flags = {name: bool(row[name]) for name in ("is_named", "is_pinned", "is_archived") if name in row}
        words = {name: _text(row[name]) for name in ("system", "settings", "draft") if name in row}
        known: dict[str, Any] = dict(row) | words | flags
        return ChatRecord(**known)
    if not (_are(row, whole, "chat") and _are(row, (str,), "text", "details") and _are(row, number, "created")):
        return None
    if not _are(row, (int, type(None)), "parent", "shown"):
        return None
    if row.get("role") not in ROLES or row.get("state") not in STATES:
        return None
    return MessageRecord(**row)


def possible(time: Any, otherwise: float = 0.0) -> float:
    """Seconds since 1970 that are a day in every calendar."""
    return float(min(time, LAST_SECOND)) if isinstance(time, int | float) and time >= 0 else otherwise


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _are(row: Mapping[str, Any], types: tuple[type, ...], *names: str) -> bool:
    return all(isinstance(row[name], types) for name in names if name in row)


def _insert(record: Record) -> str:
    names = columns(type(record))
    marks = ", ".join("?" * len(names))
    return f"INSERT INTO {record.table} ({', '.join(names)}) VALUES ({marks})"
