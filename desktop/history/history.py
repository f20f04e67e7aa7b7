"""Keeps the chats of the window: conversations into the store and out of it, and what the store has to say.

A reply that grows is stored twice a second; what could not be written is tried again every second; once a day a copy
is made, a little at a time. Knows no widgets and no engine.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.conversation import Conversation, Question
from desktop.history.backup import Copying, is_daily_due
from desktop.history.details import parsed
from desktop.history.records import ChatRecord, FolderRecord
from desktop.history.trees import nodes_of, record_of
from desktop.plain_text import storable
from desktop.settings.chat_settings import as_object, from_object, from_text, to_text
from desktop.store import Unavailable
from desktop.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from desktop.conversation import Turn
    from desktop.history.trouble import Trouble
    from desktop.store import Store

GROWING_MS = 500
SHARE_OF_TIME = 20
"""Storing a growing reply may take at most one part in so many of the window's time."""
RETRY_MS = 1000
BEFORE_DAILY_MS = 20_000
NEW_CHAT = "new_chat"
MOST_PROMPTS = 200


class History(QObject):
    """``changed`` comes when the list of chats is another; ``told`` carries a Trouble, or None when it is over."""

    changed = Signal()
    told = Signal(object)

    def __init__(self, store: Store, new_number: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self._new_number = new_number
        self._growing: Conversation | None = None
        self._told: Trouble | None = None
        self._growth_timer = self._timer(GROWING_MS, self._keep_growth)
        self._retry_timer = self._timer(RETRY_MS, self._retry)
        self._daily_timer = self._timer(BEFORE_DAILY_MS, self._begin_daily)
        self._daily: Copying | None = None

    def begin(self) -> None:
        """Say what was wrong with the file, now that somebody listens, and see to the daily copy."""
        self._settle()
        self._daily_timer.start()

    # Conversations

    def blank(self) -> Conversation:
        """A conversation that is stored as soon as something is asked in it."""
        return Conversation(self.store.new_id, self._new_number)

    def open(self, chat: int) -> Conversation:
        """A stored chat as it was left. Raises Unavailable."""
        conversation = self.blank()
        records = self.store.messages(chat)
        known = {record.id for record in records}
        conversation.id = chat
        record = self.store.chats[chat]
        conversation.system = record.system
        conversation.settings = from_text(record.settings) if record.settings else None
        conversation.grow(nodes_of(records), record.shown, known)
        return conversation

    def keep(self, conversation: Conversation, *, is_lasting: bool = True, is_asked: bool = False) -> None:
        """Store what changed in a conversation; ``is_asked`` makes its chat the newest. A removed chat stays away."""
        if conversation is self._growing:
            self._growth_timer.stop()
            self._growing = None
        if not conversation.turns:
            return
        before = self.store.chats.get(conversation.id)
        if before is None and conversation.id:
            return
        now = time.time()
        first = conversation.first[0]
        if before is None:
            conversation.id = self.store.new_id()
            before = ChatRecord(conversation.id, title_of(first.text), now, now)
            is_new = True
        else:
            is_new = False
        title = before.title
        if not title and not before.is_named:
            title = title_of(first.text, conversation.turns[0].reply.answer)
        shown = conversation.shown.id if conversation.shown else None
        settings = to_text(conversation.settings) if conversation.settings else ""
        after = replace(
            before,
            shown=shown,
            title=title,
            changed=now if is_asked else before.changed,
            system=storable(conversation.system),
            settings=settings,
        )
        records = [record_of(node, conversation.id) for node in conversation.take_changes()]
        if after != before or is_new:
            self.store.put(after, *records, is_lasting=is_lasting)
            self.changed.emit()
        else:
            self.store.put(*records, is_lasting=is_lasting)
        self._settle()

    def keep_growing(self, conversation: Conversation) -> None:
        """Store a reply that is being written, soon."""
        self._growing = conversation
        if not self._growth_timer.isActive():
            self._growth_timer.start()

    def branch(self, conversation: Conversation, last: Turn) -> Conversation:
        """A new chat with what is shown of this one, up to and with this turn."""
        title = self.store.chats[conversation.id].title if conversation.id in self.store.chats else ""
        copy = self.blank()
        copy.system, copy.settings = conversation.system, conversation.settings
        for turn in conversation.turns:
            copy.repeat(turn)
            if turn is last:
                break
        self.keep(copy, is_asked=True)
        self.change(copy.id, title=title)
        return copy

    # What is not sent yet

    def draft(self, chat: int) -> str:
        """What was being written in a chat."""
        return self.store.chats[chat].draft if chat in self.store.chats else ""

    def keep_draft(self, chat: int, text: str) -> None:
        """Keep what is being written in a chat."""
        record = self.store.chats.get(chat)
        if record is not None and record.draft != storable(text):
            self.store.put(replace(record, draft=storable(text)), is_lasting=False)
            self._settle()

    def recall_new_chat(self, conversation: Conversation) -> str:
        """Give a blank conversation the settings that the last one had; what was being written in it."""
        known = parsed(self.store.noted(NEW_CHAT))
        settings = known.get("settings")
        conversation.system = str(known.get("system", ""))
        conversation.settings = from_object(settings) if isinstance(settings, dict) else None
        return str(known.get("draft", ""))

    def keep_new_chat(self, conversation: Conversation | None, draft: str) -> None:
        """Keep what is known of a conversation in which nothing has been asked yet; None where there is none."""
        known: dict[str, object] = {"draft": storable(draft)}
        if conversation is not None:
            known["system"] = storable(conversation.system)
            known["settings"] = as_object(conversation.settings) if conversation.settings else None
        text = json.dumps({name: value for name, value in known.items() if value not in ("", None)})
        if text != (self.store.noted(NEW_CHAT) or "{}"):
            self.store.note(NEW_CHAT, text)

    def prompts(self, conversation: Conversation, limit: int = MOST_PROMPTS) -> list[str]:
        """What the user asked, newest first: in this conversation, then elsewhere; none twice."""
        own = [node for node in conversation.nodes() if isinstance(node, Question)]
        texts = [node.text for node in sorted(own, key=lambda node: node.id, reverse=True)]
        with suppress(Unavailable):
            texts += self.store.newest_questions(limit)
        return list(dict.fromkeys(text for text in texts if text.strip()))[:limit]

    # Chats and folders

    def change(self, chat: int, **changes: object) -> None:
        """Change what is kept of a chat: title, is_pinned, is_archived, folder, binned."""
        if chat in self.store.chats:
            if isinstance(changes.get("title"), str):
                changes["title"] = storable(str(changes["title"]))
            self._put(replace(self.store.chats[chat], **changes))  # type: ignore[arg-type]

    def rename(self, chat: int, title: str) -> None:
        """Give a chat a title; a blank one is not taken."""
        words = " ".join(title.split())
        if words:
            self.change(chat, title=words, is_named=True)

    def add_folder(self, name: str) -> int:
        """Make a folder; its id."""
        folder = FolderRecord(self.store.new_id(), storable(" ".join(name.split())))
        self._put(folder)
        return folder.id

    def rename_folder(self, folder: int, name: str) -> None:
        """Give a folder another name; a blank one is not taken."""
        words = " ".join(name.split())
        if words and folder in self.store.folders:
            self._put(FolderRecord(folder, storable(words)))

    def remove_folder(self, folder: int) -> None:
        """Take a folder away; the chats in it stay."""
        inside = [replace(one, folder=None) for one in self.store.chats.values() if one.folder == folder]
        self.store.put(*inside)
        self.store.remove(FolderRecord, folder)
        self._settle()
        self.changed.emit()

    def bin(self, chat: int) -> None:
        """Put a chat into the bin, where it stays for 30 days."""
        self.change(chat, binned=time.time())

    def unbin(self, chat: int) -> None:
        """Take a chat out of the bin."""
        self.change(chat, binned=None)

    def remove(self, *chats: int) -> None:
        """Remove chats for ever."""
        self.store.remove(ChatRecord, *chats)
        self._settle()
        self.changed.emit()

    def reload(self) -> None:
        """Chats came in from elsewhere."""
        self.store.reload()
        self._settle()
        self.changed.emit()

    def end(self, conversations: Iterable[Conversation]) -> bool:
        """Store everything, at the end of the program; False if something could not be written."""
        if self._daily is not None:
            self._daily.cancel()
        for timer in (self._growth_timer, self._retry_timer, self._daily_timer):
            timer.stop()
        for conversation in conversations:
            self.keep(conversation)
        self._retry_timer.stop()
        return self.store.retry()

    # Within

    def _timer(self, interval: int, on_timeout: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(on_timeout)
        return timer

    def _put(self, record: ChatRecord | FolderRecord) -> None:
        self.store.put(record)
        self._settle()
        self.changed.emit()

    def _keep_growth(self) -> None:
        if self._growing is not None:
            begun = time.perf_counter()
            self.keep(self._growing, is_lasting=False)
            spent_ms = 1000 * (time.perf_counter() - begun)
            self._growth_timer.setInterval(round(max(GROWING_MS, SHARE_OF_TIME * spent_ms)))

    def _settle(self) -> None:
        """Say what is wrong if that changed, and go on trying while it lasts."""
        trouble = self.store.trouble
        if trouble != self._told:
            self._told = trouble
            self.told.emit(trouble)
        is_stuck = self.store.is_behind or (trouble is not None and not trouble.is_over)
        if is_stuck and not self._retry_timer.isActive():
            self._retry_timer.start()

    def _retry(self) -> None:
        was_open = self.store.is_writable
        begun = time.perf_counter()
        self.store.retry()
        spent_ms = 1000 * (time.perf_counter() - begun)
        self._retry_timer.setInterval(round(max(RETRY_MS, SHARE_OF_TIME * spent_ms)))
        self._settle()
        if self.store.is_writable and not was_open:
            self.changed.emit()

    def _begin_daily(self) -> None:
        if self.store.is_writable and self.store.chats and is_daily_due(self.store.folder):
            self._daily = Copying.daily(self.store, self)
            self._daily.ended.connect(self._end_daily)
            self._daily.failed.connect(self._end_daily)
            self._daily.start()

    def _end_daily(self, outcome: int | Trouble) -> None:
        self._daily = None
        if not isinstance(outcome, int):
            self.told.emit(replace(outcome, values={**outcome.values, "folder": str(self.store.folder)}))
