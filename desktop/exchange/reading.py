"""Finds out what a file holds and reads its chats: ours, ChatGPT's, Open WebUI's; JSON or a zip with it.

A file that holds one chat after the other is read so as well: the window goes on while a large one comes in, and of one
that is cut off what stands before the cut is there.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from itertools import chain
from typing import TYPE_CHECKING, Any

from desktop.exchange import foreign, tree_json
from desktop.history.trouble import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.exchange.whole import Whole

LARGEST = 4_000_000_000
"""A zip that would unfold to more than this is refused."""
_OURS = re.compile(rf'\s*{{\s*"format":\s*"{tree_json.FORMAT}",\s*"version":\s*(\d+),\s*"chats":\s*\[')
_LIST = re.compile(r"\s*\[")
_BETWEEN = re.compile(r"[\s,]*")
_NO_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError)


class Unknown(Damaged):
    """The file holds no chats that can be read, or no more of them; the text says why."""


def chats_in(path: Path) -> Iterator[Whole]:
    """All chats of a file, the first of them read. Raises Unknown, later too where the file is cut off; OSError."""
    chats = _chats(_text(path))
    first = next(chats, None)
    if first is None:
        raise Unknown("none")
    return chain([first], chats)


def _chats(text: str) -> Iterator[Whole]:
    if ours := _OURS.match(text):
        _refuse_newer(int(ours[1]))
        for one in _elements(text, ours.end()):
            yield from tree_json.chats({"chats": [one]})
    elif (many := _LIST.match(text)) is not None:
        for one in _elements(text, many.end()):
            yield from _foreign(one)
    else:
        data = _parsed(text)
        if isinstance(data, dict) and data.get("format") == tree_json.FORMAT:
            _refuse_newer(data.get("version"))
            yield from tree_json.chats(data)
        else:
            several = data.get("conversations") if isinstance(data, dict) else None
            for one in several if isinstance(several, list) else [data]:
                yield from _foreign(one)


def _foreign(one: Any) -> Iterator[Whole]:
    if isinstance(one, dict) and "mapping" in one:
        yield from foreign.chatgpt(one)
    elif isinstance(one, dict) and "chat" in one:
        yield from foreign.open_webui(one)


def _refuse_newer(version: Any) -> None:
    if isinstance(version, int) and version > tree_json.VERSION:
        raise Unknown("newer")


def _elements(text: str, at: int) -> Iterator[Any]:
    """The values of a JSON array, from behind its bracket on. Raises Unknown where it is none, or is cut off."""
    decoder = json.JSONDecoder()
    count = 0
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Unknown("cut" if count else "no_json") from error
        count += 1
        yield value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unknown("no_json") from error


def _text(path: Path) -> str:
    raw = _from_zip(path) if zipfile.is_zipfile(path) else path.read_bytes()
    try:
        return raw.decode(json.detect_encoding(raw), "surrogatepass")
    except UnicodeError as error:
        raise Unknown("no_json") from error


def _from_zip(path: Path) -> bytes:
    with path.open("rb"):
        pass  # what is wrong from here on is wrong with the zip
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [one for one in archive.infolist() if one.filename.endswith(".json")]
            entries.sort(key=lambda one: (not one.filename.endswith("conversations.json"), -one.file_size))
            if not entries or entries[0].file_size > LARGEST:
                raise Unknown("none")
            return archive.read(entries[0])
    except (*_NO_ZIP, ValueError) as error:
        raise Unknown("no_json") from error
