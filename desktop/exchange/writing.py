"""Chats into a file, a little at a time; the file gets its name when it is complete."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.exchange import pages, tree_json
from desktop.exchange.reading import Unknown, chats_in
from desktop.exchange.whole import moved, tidied, whole
from desktop.history.copying import writing
from desktop.history.opening import stamp
from desktop.history.records import FolderRecord
from desktop.history.trouble import FAULTS
from desktop.store import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from desktop.exchange.whole import Whole
    from desktop.history.records import Record
    from desktop.store import Store

LEFTOVERS = "borrador-unsaved-"


def exported(store: Store, chats: Iterable[int], path: Path) -> Iterator[int]:
    """Write chats to ``path``, in the form its name ends in; gives how many messages are done.

    Markdown, web page and PDF take one chat. Raises OSError, Unavailable.
    """
    part = path.with_name(path.name + ".part")
    try:
        ending = path.suffix.lower()
        if ending in (".md", ".html", ".pdf"):
            yield from _page(whole(store, next(iter(chats))), part, ending)
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
        path = place / f"{LEFTOVERS}{stamp()}.json"
        with suppress(OSError, Unavailable):
            for _ in exported(store, chats, path):
                pass
            return path
    return None


def take_in_leftovers(store: Store, places: Iterable[Path]) -> int:
    """Bring in what an earlier run could not store; how many messages."""
    count = 0
    for place in places:
        for path in sorted(place.glob(f"{LEFTOVERS}*.json")):
            with suppress(*FAULTS, OSError, Unknown, Unavailable):
                count += max(imported(store, chats_in(path)), default=0)
                path.unlink()
    return count


def imported(store: Store, chats: Iterable[Whole]) -> Iterator[int]:
    """Put chats into the store. One that is here already is completed; one that differs comes in beside it.

    Gives how many messages are new. Raises sqlite3.Error, Unavailable.
    """
    names = {folder.name: folder.id for folder in store.folders.values()}
    yield from writing(store.connection, _records(store, chats, names), only_new=True)


def _records(store: Store, chats: Iterable[Whole], names: dict[str, int]) -> Iterator[Record]:
    for given in chats:
        if not given.messages:
            continue
        one = tidied(given)
        if one.chat.id in store.chats and _differs(one, store):
            one = moved(one, store.new_id)
        folder = None
        if one.folder:
            if one.folder not in names:
                names[one.folder] = store.new_id()
                yield FolderRecord(names[one.folder], one.folder)
            folder = names[one.folder]
        yield replace(one.chat, folder=folder)
        yield from one.messages


def _differs(one: Whole, store: Store) -> bool:
    """Whether a message that is here says something else there."""
    here = {message.id: message for message in store.messages(one.chat.id)}
    return any(message.id in here and here[message.id].text != message.text for message in one.messages)


def _page(one: Whole, part: Path, ending: str) -> Iterator[int]:
    if ending == ".pdf":
        pages.write_pdf(one, part)
    else:
        text = pages.markdown(one) if ending == ".md" else pages.web_page(one)
        part.write_text(text, encoding="utf-8", newline="\n")
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
