"""The chat as the window uses it: sends questions to the worker, keeps the conversation, says what changed.

It gives every reply a control of its own and drops events of replies that are no longer awaited. It knows no widgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.conversation import Conversation
from inference.events import Failed, Finished, Loaded, LoadFailed, LoadProgress, Prefill, Round
from inference.settings import Control

if TYPE_CHECKING:
    from desktop.worker import Worker
    from inference.events import Event
    from inference.settings import ModelChoice, Sampling, Speculation


class Chat(QObject):
    """One chat and the model it is held with.

    ``state_changed`` comes whenever one of the ``is_...`` answers may be another. ``progressed``, ``load_failed`` and
    ``loaded`` carry the event of that name; ``grown`` comes with new rounds of the last reply, ``over`` at its end.
    """

    state_changed = Signal()
    progressed = Signal(object)
    load_failed = Signal(object)
    loaded = Signal(object)
    grown = Signal()
    over = Signal()

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self.conversation = Conversation()
        self.control: Control | None = None
        self.model: Loaded | None = None
        self.is_loading = False
        self.is_stopping = False
        worker.happened.connect(self.on_event)

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

    def ask(self, question: str) -> None:
        """Add a turn; `write` has it answered."""
        self.conversation.ask(question)

    def again(self) -> None:
        """Give the last turn a new reply; `write` has it written."""
        self.conversation.again()

    def write(self, speculation: Speculation, sampling: Sampling, max_new_tokens: int) -> None:
        """Have the last reply written."""
        self.is_stopping = False
        self.control = Control(speculation)
        self._worker.reply(self.conversation.request(sampling, max_new_tokens), self.control)
        self.state_changed.emit()

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
        """Begin anew; a reply still being written is ended and no longer awaited."""
        self._worker.stop()
        self.conversation.clear()
        self.is_stopping = False
        self.state_changed.emit()

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
        elif self.conversation.record(event):
            self._on_reply_event(event)

    def _on_reply_event(self, event: Event) -> None:
        if isinstance(event, Round):
            self.grown.emit()
        elif isinstance(event, Prefill):
            self.state_changed.emit()
        elif isinstance(event, Finished | Failed):
            self.is_stopping = False
            self.over.emit()
            self.state_changed.emit()
