"""The chat as the window uses it: sends questions to the worker, has the conversation stored, says what changed.

It gives every reply a control of its own and drops events of replies that are no longer awaited. It knows no widgets.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.store import Unavailable
from inference.events import (
    DraftersChanged,
    Failed,
    Finished,
    GivenUp,
    Loaded,
    LoadFailed,
    LoadProgress,
    Prefill,
    Round,
    TwinProgress,
)
from inference.settings import Control

if TYPE_CHECKING:
    from desktop.conversation import Conversation, Turn
    from desktop.history.history import History
    from desktop.settings.chat_settings import ChatSettings
    from desktop.worker import Counted, Worker
    from inference.events import Event
    from inference.settings import ModelChoice, Speculation


class Chat(QObject):
    """One chat and the model it is held with.

    ``state_changed`` comes whenever one of the ``is_...`` answers may be another. ``progressed``, ``load_failed`` and
    ``loaded`` carry the event of that name; ``twin_progressed`` carries how far
    the making of the twin is; ``drafters_changed`` comes when a drafter did or went; ``lacked`` carries what had to be
    given up for want of memory; ``grown`` comes with
    new rounds of the last reply, ``over`` at its end; ``let_go`` comes when no model is loaded any more, ``unloaded``
    when its memory is free, too.
    """

    state_changed = Signal()
    progressed = Signal(object)
    load_failed = Signal(object)
    loaded = Signal(object)
    drafters_changed = Signal()
    twin_progressed = Signal(object)
    lacked = Signal(object)
    grown = Signal()
    over = Signal()
    let_go = Signal()
    unloaded = Signal()
    counted = Signal(str, int)
    """A text, and how many tokens it is."""

    def __init__(self, worker: Worker, history: History, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._history = history
        self._left: list[Conversation] = []
        self.conversation = history.blank()
        self.control: Control | None = None
        self.model: Loaded | None = None
        self.is_loading = False
        self.is_stopping = False
        worker.happened.connect(self.on_event)
        worker.unloaded.connect(self.unloaded)
        worker.counted.connect(self._on_counted)

    @property
    def is_writing(self) -> bool:
        """Whether a reply is being written."""
        return self.conversation.is_writing

    @property
    def can_ask(self) -> bool:
        """Whether a question can be put now."""
        return self.model is not None and not self.is_writing

    def load(self, choice: ModelChoice) -> None:
        """Load a model; a reply still being written is ended."""
        self.is_loading = True
        self.is_stopping = self.is_writing
        self.model = None
        self._worker.load(choice)
        self.state_changed.emit()

    def unload(self) -> None:
        """Let the model go, or give its loading up; a reply still being written is ended, and kept as far as it is."""
        if self.model is None and not self.is_loading:
            return
        self.is_loading = False
        self.is_stopping = self.is_writing
        self.model = None
        self._worker.unload()
        self.let_go.emit()
        self.state_changed.emit()

    def ask(self, question: str) -> None:
        """Add a turn; `write` has it answered."""
        self.conversation.ask(question)

    def edit(self, turn: Turn, question: str) -> None:
        """Ask otherwise beside the question of ``turn``; `write` has it answered."""
        self.conversation.edit(turn, question)

    def again(self, turn: Turn | None = None) -> None:
        """Give a question another reply, the last one if none is named; `write` has it written."""
        self.conversation.again(turn)

    def go_on(self) -> None:
        """Let the last reply go on where it ended; `write` has it written."""
        self.conversation.go_on()

    def write(self, speculation: Speculation, usual: ChatSettings) -> None:
        """Have the last reply written; ``usual`` are the settings of a chat that has none of its own."""
        self.is_stopping = False
        self.control = Control(speculation)
        identity = self.model.identity if self.model else ""
        request = self.conversation.request(usual, speculation, identity)
        self._history.keep(self.conversation, is_asked=True)
        self._worker.reply(request, self.control)
        self.state_changed.emit()

    def count(self, text: str) -> None:
        """Have the tokens of a text counted, unless the engine has something else to do; ``counted`` tells them."""
        if self.can_ask:
            self._worker.count(text)

    def show_version(self, turn: Turn, step: int, *, of_question: bool) -> bool:
        """Show another version of a question or a reply; False where there is none."""
        if self.is_writing or not self.conversation.show_version(turn, step, of_question=of_question):
            return False
        self._history.keep(self.conversation)
        return True

    def show_message(self, message: int) -> Turn | None:
        """Show the path through a message; the turn it is in. While a reply is written only what is on the page is."""
        if not self.is_writing:
            return self.conversation.show_message(message)
        return next((one for one in self.conversation.turns if message in (one.asked.id, one.reply.id)), None)

    def speculate(self, speculation: Speculation) -> None:
        """Speculate otherwise from the next round on, also in the middle of a reply."""
        if self.control is not None:
            self.control.speculation = speculation

    def stop(self) -> None:
        """End the reply; what the engine ends with is still to come."""
        if self.is_writing and not self.is_stopping:
            self.is_stopping = True
            self._worker.stop()
            self.state_changed.emit()

    def clear(self) -> None:
        """Begin anew; a reply still being written is ended, and kept as far as it is."""
        self.become(self._history.blank())

    def open(self, chat: int) -> None:
        """Go over to a stored chat, unless it is the one at hand. Raises Unavailable."""
        if chat == self.conversation.id:
            return
        left = next((one for one in self._left if one.id == chat), None)
        self.become(left or self._history.open(chat))
        if left is not None:
            self._left.remove(left)
            self.is_stopping = self.is_writing
            self.state_changed.emit()

    def look_again(self) -> bool:
        """Take in what came into the chat at hand from elsewhere; whether there was anything that can be read."""
        chat = self.conversation.id
        if self.is_writing or chat not in self._history.store.chats:
            return False
        known = {node.id for node in self.conversation.nodes()}
        with suppress(Unavailable):
            if any(message.id not in known for message in self._history.store.messages(chat)):
                self.become(self._history.open(chat))
                return True
        return False

    def become(self, conversation: Conversation) -> None:
        """Go over to another conversation; a reply still being written is ended, and kept as far as it is."""
        self._worker.stop()
        if self.is_writing:
            self._left.append(self.conversation)
            self._history.keep(self.conversation)
        self.conversation = conversation
        self.is_stopping = False
        self.state_changed.emit()

    def forget(self, chat: int) -> None:
        """The chat is gone: from the bin it comes back with its reply as far as it is; else nothing more is written."""
        is_kept = chat in self._history.store.chats
        if not is_kept:
            self._left = [one for one in self._left if one.id != chat]
        if self.conversation.id == chat and is_kept:
            self.clear()
        elif self.conversation.id == chat:
            self._worker.stop()
            self.conversation = self._history.blank()
            self.is_stopping = False
            self.state_changed.emit()

    @property
    def open_conversations(self) -> list[Conversation]:
        """The one at hand, and those that were left while their reply was being written."""
        return [*self._left, self.conversation]

    def on_event(self, event: Event) -> None:
        """Take in what the engine did."""
        if isinstance(event, LoadProgress):
            self.progressed.emit(event)
        elif isinstance(event, LoadFailed):
            self.is_loading = False
            self.load_failed.emit(event)
            self.state_changed.emit()
        elif isinstance(event, Loaded):
            self.is_loading = False
            self.model = event
            self.loaded.emit(event)
            self.state_changed.emit()
            if event.given_up:
                self.lacked.emit(event.given_up)
        elif isinstance(event, GivenUp):
            if self.model is not None:
                self.model = event.loaded
                self.drafters_changed.emit()
                self.lacked.emit((event.notice,))
        elif isinstance(event, DraftersChanged):
            if self.model is not None:
                reason = event.refused.get(self.model.drafter)
                self.model = replace(
                    self.model,
                    drafters=event.drafters,
                    refused=event.refused,
                    no_drafter=reason,
                    taken=event.taken,
                    recipes=event.recipes,
                )
                self.drafters_changed.emit()
        elif isinstance(event, TwinProgress):
            self.twin_progressed.emit(event)
        elif self.conversation.record(event):
            self._on_reply_event(event)
        elif isinstance(event, Finished | Failed):
            for left in [one for one in self._left if one.record(event)]:
                self._left.remove(left)
                self._history.keep(left)

    def _on_counted(self, found: Counted) -> None:
        self.counted.emit(found.text, found.tokens)

    def _on_reply_event(self, event: Event) -> None:
        if isinstance(event, Round):
            self._history.keep_growing(self.conversation)
            self.grown.emit()
        elif isinstance(event, Prefill):
            self.state_changed.emit()
        elif isinstance(event, Finished | Failed):
            self.is_stopping = False
            self._history.keep(self.conversation)
            self.over.emit()
            self.state_changed.emit()
