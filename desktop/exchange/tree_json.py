"""Chats as JSON: the whole tree with settings, seeds and figures. What is written is read back the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from desktop.exchange.whole import Whole
from desktop.history.copying import possible, to_record
from desktop.history.details import parsed
from desktop.history.records import LAST_SECOND, ROLES, STATES, ChatRecord, MessageRecord, lasting_id
from desktop.plain_text import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMAT = "borrador-chats"
VERSION = 1
_CHAT = {"pinned": "is_pinned", "archived": "is_archived", "named": "is_named"}


def pieces(chats: Iterable[Whole]) -> Iterator[str]:
    """The text of the file, a chat at a time. Ids are texts: other programs cannot hold numbers of this size."""
    yield f'{{"format": "{FORMAT}", "version": {VERSION}, "chats": ['
    comma = "\n"
    for one in chats:
        yield comma + json.dumps(_to_json(one), indent=1)
        comma = ",\n"
    yield "\n]}\n"


def chats(data: Any) -> Iterator[Whole]:
    """The chats of parsed JSON; what is no chat of ours is left out."""
    for one in _list(data.get("chats") if isinstance(data, dict) else None):
        read = _from_json(one) if isinstance(one, dict) else None
        if read is not None:
            yield read


def _to_json(one: Whole) -> dict[str, Any]:
    chat = one.chat
    return {
        "id": str(chat.id),
        "title": chat.title,
        "created": chat.created,
        "changed": chat.changed,
        "system": chat.system,
        "settings": parsed(chat.settings) if chat.settings else None,
        "draft": chat.draft,
        **{name: getattr(chat, attribute) for name, attribute in _CHAT.items()},
        "binned": chat.binned,
        "folder": one.folder,
        "shown": _text(chat.shown),
        "messages": [
            {
                "id": str(message.id),
                "parent": _text(message.parent),
                "role": message.role,
                "text": message.text,
                "created": message.created,
                "state": message.state,
                "shown": _text(message.shown),
                "details": parsed(message.details),
            }
            for message in one.messages
        ],
    }


def _from_json(given: dict[str, Any]) -> Whole | None:
    created = possible(given.get("created"))
    chat = to_record(
        ChatRecord,
        {
            "id": _number(given.get("id")),
            "title": _clean(given.get("title")) or "",
            "created": created,
            "changed": possible(given.get("changed"), created),
            "shown": _number(given.get("shown")),
            "system": _clean(given.get("system")) or "",
            "settings": json.dumps(given["settings"]) if isinstance(given.get("settings"), dict) else "",
            "draft": _clean(given.get("draft")) or "",
            "binned": _binned(given.get("binned")),
            **{attribute: bool(given.get(name)) for name, attribute in _CHAT.items()},
        },
    )
    if not isinstance(chat, ChatRecord):
        return None
    given_ones = enumerate(_list(given.get("messages")))
    messages = (_message(one, chat, number) for number, one in given_ones if isinstance(one, dict))
    return Whole(chat, tuple(one for one in messages if one is not None), _clean(given.get("folder")) or "")


def _message(given: dict[str, Any], chat: ChatRecord, number: int) -> MessageRecord | None:
    """A message that has a text; what else it lacks, or has in another form than ours, it does without."""
    text, role, state = _clean(given.get("text")), given.get("role"), given.get("state", "over")
    created = possible(given.get("created"), chat.created)
    own_id = lasting_id(created, "number", str(chat.id), str(number), text or "")
    record = to_record(
        MessageRecord,
        {
            "id": _number(given.get("id")) or own_id,
            "chat": chat.id,
            "parent": _number(given.get("parent")),
            "role": role if role in ROLES else "assistant",
            "text": text,
            "created": created,
            "state": "interrupted" if state == "writing" else state if state in STATES else "over",
            "shown": _number(given.get("shown")),
            "details": json.dumps(details if isinstance(details := given.get("details"), dict) else {}),
        },
    )
    return record if isinstance(record, MessageRecord) else None


def _binned(time: Any) -> float | None:
    return None if time is None or time is False else possible(time, LAST_SECOND)


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _number(text: Any) -> int | None:
    try:
        number = int(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if -(2**63) < number < 2**63 else None


def _clean(text: Any) -> str | None:
    return storable(text) if isinstance(text, str) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
