"""All records that can still be read of a damaged database: through SQLite as far as it goes, then page by page."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from desktop.history import pages
from desktop.history.copying import read_kind, to_record, write_all
from desktop.history.records import KINDS, ChatRecord, MessageRecord, columns
from desktop.history.trouble import FAULTS
from desktop.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.history.records import Record

FEWEST = {"folder": 2, "chat": 6, "message": 9}
"""How many values a row of the first version has."""
EARLIEST = 1e9
"""A time before this (2001) is none that was written here."""


def records(path: Path) -> Iterator[Record]:
    """Every record that can be read, each once; folders and chats may come after messages. Writes to ``path``."""
    seen: dict[str, set[int]] = {kind.table: set() for kind in KINDS}
    is_whole = True
    with suppress(*FAULTS), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for kind in KINDS:
            try:
                for record in read_kind(connection, kind):
                    seen[kind.table].add(record.id)
                    yield record
            except FAULTS:
                is_whole = False
        is_whole = is_whole and _is_sound(connection)
        with suppress(*FAULTS):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if is_whole and seen["chat"]:
        return
    for record in _from_pages(path):
        if record.id not in seen[record.table]:
            seen[record.table].add(record.id)
            yield record


def adopt_orphans(connection: sqlite3.Connection) -> None:
    """Messages whose chat is lost get a chat of their own, named by their first question."""
    lost = connection.execute(
        "SELECT chat, min(created), max(created) FROM message WHERE chat NOT IN (SELECT id FROM chat) GROUP BY chat"
    ).fetchall()
    for chat, created, changed in lost:
        first = connection.execute("SELECT text FROM message WHERE chat = ? ORDER BY id LIMIT 1", (chat,)).fetchone()
        write_all(connection, [ChatRecord(chat, title_of(first[0]), created, changed)])


def _is_sound(connection: sqlite3.Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except FAULTS:
        return False


def _from_pages(path: Path) -> Iterator[Record]:
    for _row, values in pages.rows(path, path.with_name(path.name + "-wal")):
        for kind in KINDS:
            names = columns(kind)
            if FEWEST[kind.table] <= len(values) <= len(names):
                record = to_record(kind, dict(zip(names, values, strict=False)))
                if record is not None and _is_likely(record):
                    yield record
                    break


def _is_likely(record: Record) -> bool:
    if isinstance(record, ChatRecord | MessageRecord):
        return record.id > 0 and record.created > EARLIEST
    return record.id > EARLIEST
