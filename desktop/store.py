"""All chats on disk: what is put in is written at once, and what cannot be written is kept here and tried again.

Chats and folders are held in memory; messages are read chat by chat. One connection, on the thread that made the store.
Knows nothing of Qt.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.history import finding
from desktop.history.copying import of_row, read_kind, upsert
from desktop.history.opening import NAME, Opened, open_history, rescue
from desktop.history.records import (
    ChatRecord,
    FolderRecord,
    Ids,
    MessageRecord,
    columns,
    values,
)
from desktop.history.trouble import FAULTS, Trouble, kind_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    from desktop.history.finding import Found
    from desktop.history.records import Record

    T = TypeVar("T")

BIN_SECONDS = 30 * 24 * 3600.0
LONGEST_RECALLED = 20_000
"""A question of more characters is not offered to be asked again."""


class Unavailable(Exception):
    """Nothing can be read now; ``trouble`` says why."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.kind)
        self.trouble = trouble


def with_time_left(chat: ChatRecord) -> ChatRecord:
    """A chat that came in from elsewhere: in the bin it stays half of the time at least, and is not gone at once."""
    return chat if chat.binned is None else replace(chat, binned=max(chat.binned, time.time() - BIN_SECONDS / 2))


class Store:
    """``chats`` and ``folders`` are as the last call left them. ``trouble`` is what stands in the way, or did."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.new_id = Ids()
        self.chats: dict[int, ChatRecord] = {}
        self.folders: dict[int, FolderRecord] = {}
        self.trouble: Trouble | None = None
        self._now = now
        self._waiting: dict[tuple[str, int], Record] = {}
        self._going: dict[tuple[str, int], None] = {}
        self._notes: dict[str, str] = {}
        self._connection: sqlite3.Connection | None = None
        self._is_writable = False
        self._take(open_history(folder))

    @property
    def is_behind(self) -> bool:
        """Whether something is not on disk yet."""
        return bool(self._waiting or self._going)

    @property
    def chats_behind(self) -> list[int]:
        """The chats of which something is not on disk yet."""
        waiting = (one.chat if isinstance(one, MessageRecord) else one.id for one in self._waiting.values())
        return [chat for chat in dict.fromkeys(waiting) if chat in self.chats]

    @property
    def is_writable(self) -> bool:
        """Whether what is put in can be written."""
        return self._is_writable

    @property
    def connection(self) -> sqlite3.Connection:
        """For reading and for copying in steps. Raises Unavailable."""
        if self._connection is None:
            raise Unavailable(self.trouble or Trouble("unexpected", {"detail": ""}))
        return self._connection

    @property
    def writable(self) -> sqlite3.Connection:
        """For bringing in chats in steps. Raises Unavailable."""
        if not self._is_writable:
            raise Unavailable(self.trouble or Trouble("unexpected", {"detail": ""}))
        return self.connection

    # In and out

    def put(self, *records: Record, is_lasting: bool = True) -> bool:
        """Keep records in the place of those with their ids; False if they wait to be written.

        What is ``is_lasting`` outlives a loss of power, too; the rest at least the end of the process.
        """
        for record in records:
            if isinstance(record, ChatRecord):
                self.chats[record.id] = record
            elif isinstance(record, FolderRecord):
                self.folders[record.id] = record
            elif record.chat not in self.chats:
                continue  # the chat was removed meanwhile
            self._waiting[record.table, record.id] = record
        return self.save(is_lasting=is_lasting)

    def remove(self, kind: type[ChatRecord | FolderRecord], *ids: int) -> bool:
        """Remove chats with their messages, or folders, for ever."""
        for one in ids:
            (self.chats if kind is ChatRecord else self.folders).pop(one, None)
            self._waiting.pop((kind.table, one), None)
            self._going[kind.table, one] = None
        gone = set(ids) if kind is ChatRecord else set()
        for key, record in list(self._waiting.items()):
            if isinstance(record, MessageRecord) and record.chat in gone:
                del self._waiting[key]
        return self.save()

    def messages(self, chat: int) -> list[MessageRecord]:
        """All messages of a chat, oldest first. Raises Unavailable."""
        found: dict[int, MessageRecord] = {}
        if self._connection is not None:
            found = {one.id: one for one in self._tried(lambda: self._read_messages(chat))}
        elif chat not in self.chats:
            raise Unavailable(self.trouble or Trouble("unexpected", {"detail": ""}))
        for record in self._waiting.values():
            if isinstance(record, MessageRecord) and record.chat == chat:
                found[record.id] = record
        return sorted(found.values(), key=lambda record: record.id)

    def search(self, words: str, limit: int = 60) -> list[Found]:
        """Chats whose title or messages hold all of ``words``, those with the newest hits first. Raises Unavailable."""
        hits = self._tried(lambda: finding.found(self.connection, words, limit))
        return [hit for hit in hits if hit.chat in self.chats and self.chats[hit.chat].binned is None]

    def newest_questions(self, limit: int) -> list[str]:
        """What the user asked last, newest first, but for chats in the bin. Raises Unavailable."""
        query = "SELECT chat, text FROM message WHERE role = 'user' AND length(text) < ? ORDER BY id DESC LIMIT ?"
        rows = self._tried(lambda: self.connection.execute(query, (LONGEST_RECALLED, limit)).fetchall())
        here = self.chats
        return [str(text) for chat, text in rows if chat in here and here[chat].binned is None]

    def note(self, name: str, value: str) -> None:
        """Keep a text of the program's own beside the chats, if that is possible now."""
        self._notes[name] = value
        if self._connection is not None and self._is_writable:
            with suppress(*FAULTS):
                self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str:
        """The text that was kept under this name, or an empty one."""
        if name not in self._notes and self._connection is not None:
            with suppress(*FAULTS):
                row = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
                self._notes[name] = str(row[0]) if row else ""
        return self._notes.get(name, "")

    # The file

    def save(self, *, is_lasting: bool = True) -> bool:
        """Write what waits; False if it still waits, with the reason in ``trouble``."""
        if not self.is_behind:
            return True
        if self._connection is None or not self._is_writable:
            return False
        try:
            self._write(self._connection, is_lasting)
        except FAULTS as error:
            return self._after(error) and self.save(is_lasting=is_lasting)
        if self.trouble is not None and not self.trouble.is_over:
            self.trouble = None
        return True

    def retry(self) -> bool:
        """Open the file anew if it could not be read or written, and write what waits; True if all is well now."""
        if self._connection is None or not self._is_writable:
            opened = open_history(self.folder, is_retry=True)
            if opened.connection is None:
                self.trouble = opened.trouble
                return False
            self._take(opened)
        return self.save()

    def reload(self) -> None:
        """Read chats and folders again, after a copy came in."""
        self._tried(self._read_chats)

    def close(self) -> None:
        """Write what waits, if that is possible now, and let go of the file."""
        self.retry()
        if self._connection is not None:
            with suppress(*FAULTS):
                self._connection.close()
            self._connection = None

    # Within

    def _take(self, opened: Opened) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._is_writable, self.trouble = opened.connection, opened.is_writable, opened.trouble
        if self._connection is None:
            return
        try:
            self._read_chats()
            if self._is_writable:
                self._connection.execute("UPDATE message SET state = 'interrupted' WHERE state = 'writing'")
        except FAULTS as error:
            if not self._after(error):
                return
        old = [one.id for one in self.chats.values() if one.binned and one.binned < self._now() - BIN_SECONDS]
        if old and self._is_writable:
            self.remove(ChatRecord, *old)

    def _read_chats(self) -> None:
        connection = self.connection
        chats = {one.id: one for one in read_kind(connection, ChatRecord) if isinstance(one, ChatRecord)}
        folders = {one.id: one for one in read_kind(connection, FolderRecord) if isinstance(one, FolderRecord)}
        for record in self._waiting.values():
            if isinstance(record, ChatRecord):
                chats[record.id] = record
            elif isinstance(record, FolderRecord):
                folders[record.id] = record
        for table, one in self._going:
            (chats if table == ChatRecord.table else folders).pop(one, None)
        self.chats, self.folders = chats, folders

    def _read_messages(self, chat: int) -> list[MessageRecord]:
        names = columns(MessageRecord)
        rows = self.connection.execute(
            f"SELECT {', '.join(names)} FROM message INDEXED BY message_of_chat WHERE chat = ? ORDER BY id", (chat,)
        ).fetchall()
        records = (of_row(MessageRecord, names, row) for row in rows)
        return [one for one in records if isinstance(one, MessageRecord)]

    def _write(self, connection: sqlite3.Connection, is_lasting: bool) -> None:
        connection.execute(f"PRAGMA synchronous = {'FULL' if is_lasting else 'NORMAL'}")
        connection.execute("BEGIN IMMEDIATE")
        try:
            for table, one in self._going:
                if table == ChatRecord.table:
                    connection.execute("DELETE FROM message WHERE chat = ?", (one,))
                connection.execute(f"DELETE FROM {table} WHERE id = ?", (one,))
            for record in self._waiting.values():
                connection.execute(upsert(record), values(record))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._waiting.clear()
        self._going.clear()

    def _tried(self, read: Callable[[], T]) -> T:
        """What ``read`` gives, at the second try if the file was found damaged. Raises Unavailable."""
        try:
            return read()
        except FAULTS as error:
            if not self._after(error):
                raise Unavailable(self.trouble or Trouble("unexpected", {"detail": str(error)})) from error
        try:
            return read()
        except FAULTS as error:
            raise Unavailable(Trouble("unexpected", {"detail": str(error)})) from error

    def _after(self, error: Exception) -> bool:
        """Note what went wrong; True if it has been put right."""
        kind = kind_of(error)
        self.trouble = Trouble(kind, {"folder": str(self.folder), "detail": " ".join(str(error).split())})
        if kind != "damaged" or self._connection is None or not self._is_writable:
            return False
        path = self.folder / NAME
        for _name, file in ((row[1], row[2]) for row in self._connection.execute("PRAGMA database_list")):
            path = path.with_name(file.replace("\\", "/").rpartition("/")[2]) if file else path
        self._connection.close()
        self._connection = None
        try:
            self._take(rescue(path))
        except (*FAULTS, OSError) as second:
            self._is_writable = False
            self.trouble = Trouble(kind_of(second), {"folder": str(self.folder), "detail": str(second)})
            return False
        return self._connection is not None
