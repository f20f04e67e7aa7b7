"""Finds out what a file holds and reads its chats: ours, ChatGPT's, Open WebUI's; JSON or a zip with it."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from desktop.exchange import foreign, tree_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.exchange.whole import Whole

LARGEST = 4_000_000_000
"""A zip that would unfold to more than this is refused."""


class Unknown(Exception):
    """The file holds no chats that can be read; the text says why."""


def chats_in(path: Path) -> list[Whole]:
    """All chats of a file. Raises Unknown, OSError."""
    data = _parsed(path)
    if isinstance(data, dict) and data.get("format") == tree_json.FORMAT:
        version = data.get("version")
        if isinstance(version, int) and version > tree_json.VERSION:
            raise Unknown("newer")
        found = list(tree_json.chats(data))
    else:
        found = list(_foreign(data))
    if not found:
        raise Unknown("none")
    return found


def _foreign(data: Any) -> Iterator[Whole]:
    if isinstance(data, dict) and isinstance(data.get("conversations"), list):
        data = data["conversations"]
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, dict) and "mapping" in one:
            yield from foreign.chatgpt(one)
        elif isinstance(one, dict) and "chat" in one:
            yield from foreign.open_webui(one)


def _parsed(path: Path) -> Any:
    try:
        raw = _from_zip(path) if zipfile.is_zipfile(path) else path.read_bytes()
        return json.loads(raw)
    except (ValueError, RecursionError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise Unknown("no_json") from error


def _from_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        entries = [one for one in archive.infolist() if one.filename.endswith(".json")]
        entries.sort(key=lambda one: (not one.filename.endswith("conversations.json"), -one.file_size))
        if not entries or entries[0].file_size > LARGEST:
            raise Unknown("none")
        return archive.read(entries[0])
