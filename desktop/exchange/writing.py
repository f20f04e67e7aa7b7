"""Chats into a file, a little at a time; the file gets its name when it is complete."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.exchange import leftovers, pages, tree_json
from desktop.exchange.reading import Unknown, chats_in
from desktop.exchange.whole import distinct, moved, tidied, whole
from desktop.history.copying import writing
from desktop.history.opening import stamp
from desktop.history.records import FolderRecord
from desktop.history.trouble import FAULTS, Trouble
from desktop.plain_text import storable
from desktop.store import Unavailable, with_time_left

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from desktop.exchange.whole import Whole
    from desktop.history.records import Record
    from desktop.store import Store

AT_ONCE = 500
"""So many ids are looked for in one query."""


def exported(store: Store, chats: Iterable[int], path: Path) -> Iterator[int]:
    """Write chats to ``path``, in the form its name ends in; gives how many messages are done.

    Markdown, web page and PDF take one chat. Raises OSError, Unavailable.
    """
    part = path.with_name(path.name + ".part")
    chats = [chat for chat in chats if chat in store.chats]  # others were removed since this was asked for
    if not chats:
        raise Unavailable(Trouble("gone"))
    try:
        ending = path.suffix.lower()
        if ending in (".md", ".html", ".pdf"):
            yield from _page(whole(store, chats[0]), part, ending)
        else:
            yield from _tree(store, chats, part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def save_leftovers(store: Store, places: Iterable[Path]) -> Path | None:
    """Write the chats that could not be stored to the first place that takes them; its path."""
    chats = store.chats_behind
    for place in places if chats else ():
        path = place / f"{leftovers.NAME}{stamp()}.json"
        with suppress(OSError, Unavailable):
            for _ in exported(store, chats, path):
                pass
            return path
    return None


def take_in_leftovers(store: Store, places: Iterable[Path]) -> int:
    """Bring in what an earlier run could not store; how many messages."""
    count = 0
    for path in leftovers.left_over(places):
        with suppress(*FAULTS, OSError, Unknown, Unavailable):
            chats = list(chats_in(path))
            newer = list(_newer(store, chats))
            store.put(*newer)
            count += len(newer)
            count += max(imported(store, chats), default=0)
            path.unlink()
    return count


def imported(store: Store, chats: Iterable[Whole]) -> Iterator[int]:
    """Put chats into the store. One that is here already is completed; one that differs comes in beside it.

    Gives how many messages are new. Raises sqlite3.Error, Unavailable; Unknown where the chats end too early, behind
    what was there.
    """
    names = {folder.name: folder.id for folder in store.folders.values()}
    cuts: list[Unknown] = []

    def until_the_cut() -> Iterator[Whole]:
        try:
            yield from chats
        except Unknown as error:
            cuts.append(error)

    yield from writing(store.writable, _records(store, until_the_cut(), names), only_new=True)
    if cuts:
        raise cuts[0]


def _newer(store: Store, chats: Iterable[Whole]) -> Iterator[Record]:
    """What could not be stored of chats and messages that are here: the rest of a reply that grew, another title."""
    for one in chats:
        here = store.chats.get(one.chat.id)
        if here is None or here.changed > one.chat.changed:
            continue
        texts = {message.id: message.text for message in store.messages(one.chat.id)}
        yield replace(one.chat, folder=here.folder)
        for message in one.messages:
            if message.id in texts and message.text.startswith(texts[message.id]):
                yield message


def _records(store: Store, chats: Iterable[Whole], names: dict[str, int]) -> Iterator[Record]:
    come: dict[int, tuple[int, int]] = {}
    for given in chats:
        if not given.messages:
            continue
        one = tidied(distinct(given))
        if not _has_room(one, store, come):
            one = moved(one)
        come.update({message.id: (message.chat, hash(message.text)) for message in one.messages})
        folder = None
        if one.folder:
            if one.folder not in names:
                names[one.folder] = store.new_id()
                yield FolderRecord(names[one.folder], one.folder)
            folder = names[one.folder]
        yield with_time_left(replace(one.chat, folder=folder))
        yield from one.messages


def _has_room(one: Whole, store: Store, come: Mapping[int, tuple[int, int]]) -> bool:
    """Whether no message has the id of another one that is here, or came in before; 0 is the id of no chat."""
    ids = [message.id for message in one.messages]
    there = {message: come[message] for message in ids if message in come}
    for some in range(0, len(ids), AT_ONCE):
        few = ids[some : some + AT_ONCE]
        query = f"SELECT id, chat, text FROM message WHERE id IN ({', '.join('?' * len(few))})"
        rows = store.connection.execute(query, few)
        there.update((message, (chat, hash(text))) for message, chat, text in rows)
    same = (there.get(message.id) in (None, (message.chat, hash(message.text))) for message in one.messages)
    return one.chat.id > 0 and min(ids) > 0 and all(same)


def _page(one: Whole, part: Path, ending: str) -> Iterator[int]:
    if ending == ".pdf":
        for _ in pages.pdf(one, part):
            yield 0
    else:
        text = pages.markdown(one) if ending == ".md" else pages.web_page(one)
        part.write_text(storable(text), encoding="utf-8", newline="\n")
    yield len(one.messages)


def _tree(store: Store, chats: Iterable[int], part: Path) -> Iterator[int]:
    count = 0

    def read() -> Iterator[Whole]:
        nonlocal count
        for chat in chats:
            if chat in store.chats:
                one = whole(store, chat)
                count += len(one.messages)
                yield one

    with part.open("w", encoding="utf-8", newline="\n") as file:
        for piece in tree_json.pieces(read()):
            file.write(piece)
            yield count
