"""Histories to test with: filled stores, and children that are killed."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from desktop.history.records import ChatRecord, MessageRecord, Role

if TYPE_CHECKING:
    from desktop.store import Store

ODD = (
    "a\u00a0b \u202f 10\u00a0000 € 🙂 👩\u200d🚀 \u2028 \ufffd \x07 עברית العربية 山川"
    " <b>&amp;</b> \"q\" 'x' \\u0041 %s {0}"
)


def fill(store: Store, chats: int = 8, turns: int = 6, seed: int = 1) -> dict[int, str]:
    """Chats with turns of some text; every message's text by its id."""
    dice = random.Random(seed)
    texts: dict[int, str] = {}
    now = time.time()
    for number in range(chats):
        chat = ChatRecord(store.new_id(), f"Chat {number}", now, now - number)
        parent = None
        records: list[MessageRecord] = []
        for turn in range(2 * turns):
            role: Role = "assistant" if turn % 2 else "user"
            some = " ".join(f"word{dice.randrange(5000)}" for _ in range(dice.randrange(5, 90)))
            words = f"{role} {number} {turn} {some}"
            one = MessageRecord(store.new_id(), chat.id, parent, role, words, now + turn)
            records.append(one)
            texts[one.id] = words
            parent = one.id
        store.put(chat, *records)
    return texts


def texts_in(store: Store) -> dict[int, str]:
    """Every message's text by its id, as the store has it now."""
    return {one.id: one.text for chat in store.chats for one in store.messages(chat)}
