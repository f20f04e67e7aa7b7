"""The form of the database, version by version. A step, once released, is never changed; a new one is added behind it.

The version stands in the file's header and, so that a damaged header is noticed, in a table as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x426F7272
"""What the header says of whose file it is."""

_FIRST = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chat (id INTEGER PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL, changed REAL NOT NULL,"
    " shown INTEGER, system TEXT NOT NULL DEFAULT '')",
    "CREATE TABLE message (id INTEGER PRIMARY KEY, chat INTEGER NOT NULL, parent INTEGER, role TEXT NOT NULL,"
    " text TEXT NOT NULL, created REAL NOT NULL, state TEXT NOT NULL, shown INTEGER,"
    " details TEXT NOT NULL DEFAULT '{}')",
    "CREATE INDEX message_of_chat ON message (chat)",
    "CREATE INDEX message_being_written ON message (state) WHERE state = 'writing'",
)
_ORDER = (
    "CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "ALTER TABLE chat ADD COLUMN is_named INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat ADD COLUMN folder INTEGER",
    "ALTER TABLE chat ADD COLUMN binned REAL",
)
_WORDS = "tokenize='unicode61 remove_diacritics 2'"
_SEARCH = (
    f"CREATE VIRTUAL TABLE title_index USING fts5 (title, content='chat', content_rowid='id', {_WORDS})",
    f"CREATE VIRTUAL TABLE message_index USING fts5 (text, content='message', content_rowid='id', {_WORDS})",
    "INSERT INTO title_index (title_index) VALUES ('rebuild')",
    "INSERT INTO message_index (message_index) VALUES ('rebuild')",
    "CREATE TRIGGER title_added AFTER INSERT ON chat BEGIN"
    " INSERT INTO title_index (rowid, title) VALUES (new.id, new.title); END",
    "CREATE TRIGGER title_changed AFTER UPDATE OF title ON chat WHEN old.title <> new.title BEGIN"
    " INSERT INTO title_index (title_index, rowid, title) VALUES ('delete', old.id, old.title);"
    " INSERT INTO title_index (rowid, title) VALUES (new.id, new.title); END",
    "CREATE TRIGGER title_gone AFTER DELETE ON chat BEGIN"
    " INSERT INTO title_index (title_index, rowid, title) VALUES ('delete', old.id, old.title); END",
    # A reply that is still being written is not indexed: its text changes every moment.
    "UPDATE message SET state = 'interrupted' WHERE state = 'writing'",
    "CREATE TRIGGER text_added AFTER INSERT ON message WHEN new.state <> 'writing' BEGIN"
    " INSERT INTO message_index (rowid, text) VALUES (new.id, new.text); END",
    # One trigger for both: the order of two is not defined, and the old words must go before the new ones come.
    "CREATE TRIGGER text_changed AFTER UPDATE ON message WHEN old.state <> new.state OR old.text <> new.text BEGIN"
    " INSERT INTO message_index (message_index, rowid, text)"
    " SELECT 'delete', old.id, old.text WHERE old.state <> 'writing';"
    " INSERT INTO message_index (rowid, text) SELECT new.id, new.text WHERE new.state <> 'writing'; END",
    "CREATE TRIGGER text_gone AFTER DELETE ON message WHEN old.state <> 'writing' BEGIN"
    " INSERT INTO message_index (message_index, rowid, text) VALUES ('delete', old.id, old.text); END",
)
_WRITING = (
    "ALTER TABLE chat ADD COLUMN settings TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE chat ADD COLUMN draft TEXT NOT NULL DEFAULT ''",
)
STEPS: tuple[tuple[str, ...], ...] = (_FIRST, _ORDER, _SEARCH, _WRITING)
NEWEST = len(STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a database; 0 for an empty one. -1 where header, table and contents contradict each other."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    has_tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] > 0
    if not has_tables:
        return 0 if version == 0 else -1
    try:
        row = connection.execute("SELECT value FROM about WHERE name = 'version'").fetchone()
    except connection.OperationalError:
        return -1
    return version if row is not None and row[0] == str(version) and version > 0 else -1


def lacks_index(connection: sqlite3.Connection) -> bool:
    """Whether chats cannot be searched: so are copies, which are half as large without the index."""
    row = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'message_index'").fetchone()
    return bool(row[0] == 0)


def bring_up_to_date(connection: sqlite3.Connection, newest: int = NEWEST, *, with_index: bool = True) -> None:
    """Run the steps that are missing, in one transaction; running it again changes nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        steps = [step for step in STEPS[version:newest] if step is not _SEARCH]
        if with_index and newest > STEPS.index(_SEARCH) and lacks_index(connection):
            steps.append(_SEARCH)
        for step in steps:
            for statement in step:
                connection.execute(statement)
        if version < newest:
            connection.execute("INSERT OR REPLACE INTO about VALUES ('version', ?)", (str(newest),))
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
