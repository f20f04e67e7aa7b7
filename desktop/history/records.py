"""What is kept: chats, their messages, folders. Plain values, one for each row; knows nothing of SQL."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, get_args

State = Literal["over", "writing", "interrupted"]
Role = Literal["user", "assistant"]
STATES: tuple[str, ...] = get_args(State)
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A chat. ``shown`` is the first question on the page; ``binned`` the time it was put into the bin.

    ``is_named`` says that a person gave the title. ``settings`` is JSON, empty where the usual ones hold; ``draft`` is
    what is being written and has not been sent.
    """

    table: ClassVar[str] = "chat"
    id: int
    title: str
    created: float
    changed: float
    shown: int | None = None
    system: str = ""
    is_named: bool = False
    is_pinned: bool = False
    is_archived: bool = False
    folder: int | None = None
    binned: float | None = None
    settings: str = ""
    draft: str = ""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message. ``parent`` is the message it follows, ``shown`` which of those that follow it is on the page.

    ``details`` is JSON: how a reply was asked for, its seed, its figures.
    """

    table: ClassVar[str] = "message"
    id: int
    chat: int
    parent: int | None
    role: Role
    text: str
    created: float
    state: State = "over"
    shown: int | None = None
    details: str = "{}"


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """A folder for chats."""

    table: ClassVar[str] = "folder"
    id: int
    name: str


IDS_A_SECOND = 1_000_000 << 11
LAST_SECOND = 4_000_000_000.0
Record = ChatRecord | MessageRecord | FolderRecord
KINDS: tuple[type[Record], ...] = (FolderRecord, ChatRecord, MessageRecord)


def columns(kind: type[Record]) -> tuple[str, ...]:
    """The names of a record's values, in the order of the table."""
    return tuple(field.name for field in fields(kind))


def values(record: Record) -> tuple[object, ...]:
    """The values of a record, in the order of the table."""
    return tuple(getattr(record, name) for name in columns(type(record)))


class Ids:
    """Ids that rise with time and are the same nowhere else: microseconds, then eleven random bits."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> int:
        """The next one."""
        self._last = max(self._last + 1, (time.time_ns() // 1000 << 11) | secrets.randbits(11))
        return self._last


def lasting_id(created: float, *names: str) -> int:
    """An id that is the same whenever the same thing is imported, and lies where its time belongs."""
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()
    second = int(min(max(created, 0.0), LAST_SECOND))
    return second * IDS_A_SECOND + int.from_bytes(digest[:8], "big") % IDS_A_SECOND
