"""What can be wrong with the file the chats are kept in, and how SQLite's errors tell it. Knows no sentences."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["locked", "full", "unwritable", "unreadable", "damaged", "emptied", "newer", "gone", "unexpected"]

_PRIMARY: dict[int, Kind] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "unwritable",
    sqlite3.SQLITE_PERM: "unwritable",
    sqlite3.SQLITE_CANTOPEN: "unwritable",
    sqlite3.SQLITE_IOERR: "unwritable",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_ERROR: "damaged",  # a table or column that must be there is not
    sqlite3.SQLITE_MISMATCH: "damaged",
}
SHORT_READ = 522
FAULTS = (sqlite3.Error, UnicodeError)
"""What a damaged file makes the database raise: names and messages of its own may no longer be text, too."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong, with the values its sentence needs. ``is_over`` says that it has been dealt with."""

    kind: Kind
    values: dict[str, str | int] = field(default_factory=dict)
    is_over: bool = False


class Damaged(Exception):
    """The file is not what it was when it was written."""


def kind_of(error: Exception) -> Kind:
    """What an error of SQLite or of the file system means."""
    if isinstance(error, Damaged | UnicodeError):
        return "damaged"
    if isinstance(error, OSError):
        return "full" if error.errno == 28 else "unwritable"
    code = getattr(error, "sqlite_errorcode", None)
    if code == SHORT_READ:
        return "damaged"
    if code is None:  # a value that could not be read as what it should be
        return "damaged" if isinstance(error, sqlite3.OperationalError) else "unexpected"
    return _PRIMARY.get(code & 0xFF, "unexpected")
