"""A chat with all its messages, as it goes out and comes in. Knows no file format."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from desktop.conversation import Conversation
from desktop.history.records import lasting_id
from desktop.history.trees import nodes_of, record_of

if TYPE_CHECKING:
    from desktop.history.records import ChatRecord, MessageRecord
    from desktop.store import Store


@dataclass(frozen=True, slots=True)
class Whole:
    """``folder`` is the name of the folder the chat is in, or empty."""

    chat: ChatRecord
    messages: tuple[MessageRecord, ...]
    folder: str = ""


def whole(store: Store, chat: int) -> Whole:
    """A chat as it is stored. Raises Unavailable."""
    record = store.chats[chat]
    folder = store.folders.get(record.folder) if record.folder is not None else None
    return Whole(record, tuple(store.messages(chat)), folder.name if folder else "")


def shown_path(one: Whole) -> Conversation:
    """The chat as a conversation, of which the turns that were on the page can be read."""
    conversation = Conversation()
    nodes = nodes_of(one.messages)
    conversation.grow(nodes, one.chat.shown, {message.id for message in one.messages})
    return conversation


def tidied(one: Whole) -> Whole:
    """The same with a message between any two of one role, so that it can be gone on with."""
    nodes = nodes_of(one.messages)
    if len(nodes) == len(one.messages):
        return one
    given = {message.id: message for message in one.messages}
    messages = []
    for record in (record_of(node, one.chat.id) for node in nodes):
        known = given.get(record.id)
        messages.append(replace(known, parent=record.parent, shown=record.shown) if known else record)
    return replace(one, messages=tuple(messages))


def distinct(one: Whole) -> Whole:
    """The same with each message once, and those with an id that another text has under one of their own."""
    texts: dict[int, str] = {}
    messages: list[MessageRecord] = []
    for given in one.messages:
        message = given
        if given.id in texts and given.text != texts[given.id]:
            message = replace(given, id=lasting_id(given.created, "twice", str(given.id), given.text))
        if message.id not in texts:
            texts[message.id] = message.text
            messages.append(message)
    return replace(one, messages=tuple(messages))


def moved(one: Whole) -> Whole:
    """A copy under ids of its own, the same ones whenever the same is moved."""
    texts = hashlib.sha256(repr([(message.id, message.text) for message in one.messages]).encode()).hexdigest()
    chat = lasting_id(one.chat.created, "moved", str(one.chat.id), texts)
    fresh = sorted(lasting_id(message.created, str(chat), str(message.id)) for message in one.messages)
    in_time = sorted(one.messages, key=lambda message: (int(message.created), message.id))
    ids = {message.id: new for message, new in zip(in_time, fresh, strict=True)}  # in the order they had
    messages = tuple(
        replace(
            message,
            id=ids[message.id],
            chat=chat,
            parent=ids.get(message.parent) if message.parent is not None else None,
            shown=ids.get(message.shown) if message.shown is not None else None,
        )
        for message in one.messages
    )
    shown = ids.get(one.chat.shown) if one.chat.shown is not None else None
    return replace(one, chat=replace(one.chat, id=chat, shown=shown), messages=messages)
