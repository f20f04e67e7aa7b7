"""What the chat does, shown: the reply as it grows, its figures, what can be done now, which model is there.

Connects the chat's signals to the parts of the window; commands of the user are the window's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop.composer import Readiness
from desktop.flush import Flush
from desktop.sentences import sentence
from inference.events import Notice

if TYPE_CHECKING:
    from desktop.chat import Chat
    from desktop.header import Header
    from desktop.page import Page
    from desktop.speculation.panel import Panel
    from desktop.status_bar import StatusBar
    from inference.events import Loaded, LoadFailed, TwinProgress
    from inference.settings import Speculation


class Live(QObject):
    """Keeps header, page, panel and status bar true to the chat."""

    def __init__(
        self, chat: Chat, header: Header, page: Page, panel: Panel, status_bar: StatusBar, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._header = header
        self._page = page
        self._panel = panel
        self._status_bar = status_bar
        self._twin_has_failed = False
        self.flush = Flush(self._show_growth, self)
        chat.state_changed.connect(self.show_state)
        chat.progressed.connect(page.loading.show_progress)
        chat.load_failed.connect(self._on_load_failed)
        chat.let_go.connect(self._on_let_go)
        chat.loaded.connect(self._on_loaded)
        chat.drafters_changed.connect(self._on_drafters_changed)
        chat.twin_progressed.connect(self._on_twin_progressed)
        panel.drafter.chosen.connect(header.choose_drafter)
        panel.others.toggled.connect(header.look_in_other_chats)
        chat.grown.connect(self._on_grown)
        chat.over.connect(self._on_over)
        header.speculation_changed.connect(self._on_speculation_changed)
        panel.pointed.connect(self._on_pointed)

    def show_state(self) -> None:
        """What can be done now."""
        if self._chat.is_writing:
            readiness = Readiness.STOPPING if self._chat.is_stopping else Readiness.WRITING
        elif self._chat.model is None:
            readiness = Readiness.WAITING if self._chat.is_loading else Readiness.UNLOADED
        else:
            readiness = Readiness.READY
        self._page.composer.show_readiness(readiness)
        self._status_bar.show_chat(self._chat)

    def _on_loaded(self, model: Loaded) -> None:
        self._page.loading.hide()
        self._status_bar.show_loaded(model)
        self._status_bar.show_twin(None)
        self._header.show_model(model.name)
        self._header.show_largest_k(model.largest_k)
        chosen = self._header.speculation.drafter
        if chosen is not None and chosen not in model.drafters:
            self._header.choose_drafter(None)
        self._panel.show_mode(model.mode)
        self._show_drafters(model)

    def _on_load_failed(self, event: LoadFailed) -> None:
        self._page.loading.show_failure(event)
        self._show_no_model()

    def _on_let_go(self) -> None:
        self.flush.stop()
        self._page.loading.hide()
        self._show_no_model()

    def _show_no_model(self) -> None:
        """Nothing is left of a model's name, mode and drafters."""
        words = sentence(Notice("error.no_model"))
        self._status_bar.show_loaded(None)
        self._status_bar.show_twin(None)
        self._header.show_model("")
        self._header.show_round(None)
        self._header.show_drafting_possible(False, words)
        self._show_status(words)

    def _show_drafters(self, model: Loaded) -> None:
        """What can draft, what does, and why it cannot where it cannot."""
        current = self._header.speculation.drafter or model.drafter
        can_draft = current != "none" and current in model.drafters
        reason = ""
        if not can_draft:
            why = model.refused.get(current) or model.no_drafter or Notice("drafter.none")
            reason = sentence(Notice("speculation.none", {"reason": sentence(why)}))
        self._panel.drafter.show_drafters(model.drafters, model.refused, current, model.recipes)
        self._header.show_drafting_possible(can_draft, reason)
        if reason or not self._chat.is_writing:
            self._show_status(reason or self._header.speculation_in_words())

    def _on_drafters_changed(self) -> None:
        if not self._twin_has_failed:
            self._status_bar.show_twin(None)
        if self._chat.model is not None:
            self._show_drafters(self._chat.model)
            self._status_bar.show_parts(self._chat.model.taken)

    def _on_twin_progressed(self, event: TwinProgress) -> None:
        # What went wrong stays on screen; progress goes with the end.
        self._twin_has_failed = event.notice.id.startswith("error.")
        self._status_bar.show_twin(event.notice)

    def _on_grown(self) -> None:
        if not self._chat.is_stopping:
            self.flush.want()

    def _on_over(self) -> None:
        self.flush.stop()
        self._show_figures()
        self._page.transcript.finish()

    def _show_growth(self) -> None:
        self._page.transcript.extend()
        self._show_figures()

    def _show_figures(self) -> None:
        self._panel.refresh()
        last = self._chat.conversation.last
        if last is not None and last.reply.rounds and self._chat.model is not None:
            newest = last.reply.rounds[-1]
            self._header.show_round(newest)
            self._show_status(sentence(newest.status))
            self._status_bar.show_chat(self._chat)

    def _show_status(self, words: str) -> None:
        self._page.status_line.setText(words)
        self._page.status_line.setToolTip(words)

    def _on_speculation_changed(self, speculation: Speculation) -> None:
        self._chat.speculate(speculation)
        if not self._chat.is_writing:
            self._header.show_round(None)
            self._show_status(self._header.speculation_in_words())
        self._on_drafters_changed()

    def _on_pointed(self, index: int) -> None:
        last = self._chat.conversation.last
        self._page.transcript.light(last.reply if last is not None and index >= 0 else None, index)
