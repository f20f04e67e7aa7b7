"""What surrounds the message being written: drafts, earlier messages, files, the chat's settings, the count of tokens.

Joins the composer to the chat at hand. It sends nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop.counting import count, counted_text
from desktop.field import files_in
from desktop.sentences import filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QSettings

    from desktop.chat import Chat
    from desktop.history.history import History
    from desktop.page import Page
    from desktop.settings.chat_settings import ChatSettings

DRAFT_MS = 700
COUNT_MS = 200


class Desk(QObject):
    """``usual`` gives the settings of chats that have none of their own; ``made_usual`` carries others for them."""

    made_usual = Signal(object)

    def __init__(
        self,
        chat: Chat,
        history: History,
        page: Page,
        settings: QSettings,
        usual: Callable[[], ChatSettings],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._chat = chat
        self._history = history
        self._page = page
        self._composer = page.composer
        self._settings = settings
        self._usual = usual
        self._window = window
        self._is_blank = True
        self._counted: tuple[str, int | None] = ("", None)
        self._draft_timer = self._timer(DRAFT_MS, self.keep)
        self._count_timer = self._timer(COUNT_MS, self.show_count)
        self._composer.recall.prompts = lambda: history.prompts(chat.conversation)
        self._composer.changed.connect(self._on_changed)
        self._composer.refused.connect(page.notice.say)
        self._composer.files_wanted.connect(self.ask_for_files)
        self._composer.settings_wanted.connect(self.show_settings)
        self._composer.thinking_chosen.connect(self.think)
        chat.state_changed.connect(self._count_timer.start)
        chat.loaded.connect(self._on_loaded)
        chat.counted.connect(self._on_counted)
        page.setAcceptDrops(True)
        page.installEventFilter(self)

    # The draft

    def arrive(self) -> None:
        """Bring back what was being written in the chat at hand."""
        conversation = self._chat.conversation
        self._is_blank = not conversation.id
        text = self._history.recall_new_chat(conversation) if self._is_blank else self._history.draft(conversation.id)
        if text != self._composer.text():
            self._composer.put(text)
        self._composer.recall.forget()
        self._draft_timer.stop()
        self._offer_thinking()

    def keep(self) -> None:
        """Keep what is being written, now."""
        self._draft_timer.stop()
        conversation = self._chat.conversation
        if not conversation.id:
            self._history.keep_new_chat(conversation, self._composer.draft())
            return
        if self._is_blank:
            self._history.keep_new_chat(None, "")
            self._is_blank = False
        self._history.keep_draft(conversation.id, self._composer.draft())

    def close(self) -> None:
        """The program ends: keep what is written, read no further."""
        self.keep()
        self._count_timer.stop()
        self._composer.attaching.close()

    # Files

    def ask_for_files(self) -> None:
        """Let the user choose files to attach."""
        dialog = QFileDialog(self._window, self.tr("Attach files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([self.tr("Text, code, PDF and Word files (*)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda names: self._composer.add_files([Path(name) for name in names]))
        dialog.open()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Files may be dropped anywhere on the page."""
        if isinstance(event, QDropEvent) and (paths := files_in(event.mimeData())):
            event.acceptProposedAction()
            if not isinstance(event, QDragEnterEvent) and event.type() == QEvent.Type.Drop:
                self._composer.add_files(paths)
                self._composer.setFocus()
            return True
        return super().eventFilter(watched, event)

    # Settings

    def show_settings(self) -> None:
        """Let the user change this chat's settings."""
        from desktop.settings.chat_dialog import ChatDialog

        conversation = self._chat.conversation
        last = conversation.last
        dialog = ChatDialog(
            conversation.system,
            conversation.settings,
            self._usual(),
            self._settings,
            self._window,
            last_seed=last.reply.seed if last is not None else None,
            thinking=self.thinking,
        )
        dialog.made_usual.connect(self.made_usual)

        def on_accepted() -> None:
            self._settle(dialog.system, dialog.settings)

        dialog.accepted.connect(on_accepted)
        dialog.open()

    @property
    def thinking(self) -> tuple[str, ...]:
        """How the model at hand can be asked to think; empty where its template does not offer it."""
        return self._chat.model.thinking if self._chat.model is not None else ()

    def fix_seed(self, seed: int) -> None:
        """Let the replies of this chat begin from this seed."""
        conversation = self._chat.conversation
        how = conversation.settings or self._usual()
        self._settle(conversation.system, replace(how, sampling=replace(how.sampling, seed=seed)))

    def think(self, level: str) -> None:
        """Let the model of this chat think so."""
        conversation = self._chat.conversation
        settings = replace(conversation.settings or self._usual(), thinking=level)
        self._settle(conversation.system, settings if settings != self._usual() else None)

    # The count

    def show_count(self) -> None:
        """Say how much of the context the chat and the message take, and have the engine count it better."""
        self._count_timer.stop()
        text = counted_text(self._chat.conversation, self._composer.text())
        if text != self._counted[0] or self._counted[1] is None:
            self._counted = (text, None)
            if text:
                self._chat.count(text)
        self._show_count(self._counted[1])

    def _on_counted(self, text: str, tokens: int) -> None:
        if text == self._counted[0]:
            self._counted = (text, tokens)
            self._show_count(tokens)

    def _show_count(self, known: int | None) -> None:
        model, conversation = self._chat.model, self._chat.conversation
        if model is None or (self._composer.is_empty and not conversation.turns) or conversation.is_writing:
            self._composer.show_count("")
            return
        limit = (conversation.settings or self._usual()).max_new_tokens
        found = count(conversation, self._composer.text(), model.context, limit, known)
        words, hint = self.tr("about {used} of {context} tokens"), ""
        if found.is_too_long:
            words = self.tr("about {used} of {context} tokens: too long")
            hint = self.tr("Shorten the message, or load the model with a larger context.")
        elif found.leaves_out:
            words = self.tr("about {used} of {context} tokens: the oldest turns are left out")
            hint = self.tr("The model reads the newest turns only; everything stays in the chat.")
        numbers = {"used": QLocale().toString(found.whole), "context": QLocale().toString(found.context)}
        self._composer.show_count(filled(words, **numbers), hint, is_over=found.is_too_long)

    # Within

    def _settle(self, system: str, settings: ChatSettings | None) -> None:
        conversation = self._chat.conversation
        conversation.system, conversation.settings = system, settings
        if conversation.id:
            self._history.keep(conversation)
        else:
            self.keep()
        self._offer_thinking()
        self.show_count()

    def _on_loaded(self) -> None:
        self._counted = ("", None)  # another model counts otherwise
        self._offer_thinking()

    def _offer_thinking(self) -> None:
        settings = self._chat.conversation.settings or self._usual()
        self._composer.offer_thinking(self.thinking, settings.thinking)

    def _on_changed(self) -> None:
        self._draft_timer.start()
        self._count_timer.start()

    def _timer(self, interval: int, on_timeout: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(on_timeout)
        return timer
