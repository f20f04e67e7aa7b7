"""Which chats are listed and under which heading. Knows nothing of how they look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QLocale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from desktop.history.records import ChatRecord, FolderRecord

translate = QCoreApplication.translate
LONGEST_SHOWN = 300


class Shelf(Enum):
    """Which part of the chats is listed."""

    CHATS = "chats"
    ARCHIVED = "archived"
    BIN = "bin"


@dataclass(frozen=True, slots=True)
class Heading:
    """The name over some chats; ``folder`` is set where it is one that a person made."""

    name: str
    folder: int | None = None
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A chat in the list; ``message`` and ``excerpt`` where it was found by words."""

    chat: ChatRecord
    title: str
    excerpt: str = ""
    message: int | None = None


Row = Heading | Line


def listed(
    chats: Iterable[ChatRecord],
    folders: Mapping[int, FolderRecord],
    shelf: Shelf,
    closed: Iterable[int],
    today: date,
) -> list[Row]:
    """The rows of one part: pinned chats, folders by name, then the rest by date, newest first."""
    wanted = sorted((one for one in chats if shelf_of(one) is shelf), key=lambda one: one.changed, reverse=True)
    if shelf is Shelf.BIN:
        wanted.sort(key=lambda one: one.binned or 0.0, reverse=True)
    if shelf is not Shelf.CHATS:
        return [line(one) for one in wanted]
    rows: list[Row] = []
    pinned = [one for one in wanted if one.is_pinned]
    if pinned:
        rows += [Heading(translate("sections", "Pinned")), *map(line, pinned)]
    inside: dict[int, list[ChatRecord]] = {folder: [] for folder in folders}
    loose: list[ChatRecord] = []
    for one in wanted:
        if not one.is_pinned:
            (inside[one.folder] if one.folder in inside and one.folder is not None else loose).append(one)
    shut = set(closed)
    for folder in sorted(folders.values(), key=lambda one: one.name.casefold()):
        is_open = folder.id not in shut
        rows.append(Heading(cut(folder.name), folder.id, is_open))
        rows += map(line, inside[folder.id] if is_open else ())
    heading = _by_date(today)
    last = ""
    for one in loose:
        name = heading(one.changed)
        if name != last:
            rows.append(Heading(name))
            last = name
        rows.append(line(one))
    return rows


def shelf_of(chat: ChatRecord) -> Shelf:
    """Where a chat is listed."""
    if chat.binned is not None:
        return Shelf.BIN
    return Shelf.ARCHIVED if chat.is_archived else Shelf.CHATS


def line(chat: ChatRecord, excerpt: str = "", message: int | None = None) -> Line:
    """A chat as a row."""
    return Line(chat, title_of(chat), excerpt, message)


def title_of(chat: ChatRecord) -> str:
    """What a chat is called on the screen; one without a title is called what it is."""
    return cut(chat.title) or translate("sections", "New chat")


def cut(name: str) -> str:
    """A name that is not too long to be laid out; any can be given by a paste or an import."""
    return name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…"


def _by_date(today: date) -> Callable[[float], str]:
    midnight = datetime.combine(today, datetime.min.time()).timestamp()
    yesterday = datetime.combine(today - timedelta(days=1), datetime.min.time()).timestamp()
    week = datetime.combine(today - timedelta(days=7), datetime.min.time()).timestamp()
    month = datetime.combine(today - timedelta(days=30), datetime.min.time()).timestamp()
    steps = (
        (midnight, translate("sections", "Today")),
        (yesterday, translate("sections", "Yesterday")),
        (week, translate("sections", "Last 7 days")),
        (month, translate("sections", "Last 30 days")),
    )
    locale = QLocale()
    known: dict[tuple[int, int], str] = {}

    def heading(changed: float) -> str:
        for start, name in steps:
            if changed >= start:
                return name
        day = datetime.fromtimestamp(changed)
        key = day.year, day.month
        if key not in known:
            name = locale.toString(QDate(day.year, day.month, 1), "MMMM yyyy")
            known[key] = name[:1].upper() + name[1:]
        return known[key]

    return heading
