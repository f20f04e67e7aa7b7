"""Without a model: letting the loaded one go, and loading it again as soon as somebody wants something of it.

What was wanted is done after an explicit yes only, and only while it is still what the user sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from desktop.model_menu import short_name
from desktop.sentences import filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.chat import Chat
    from desktop.model_menu import ModelMenu
    from desktop.page import Page
    from inference.events import Loaded


class Unloading(QObject):
    """``last`` gives what the model that was loaded last is chosen by; ``say`` shows a sentence where the user is."""

    def __init__(
        self, chat: Chat, menu: ModelMenu, page: Page, last: Callable[[], str], say: Callable[[str], object],
        parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._chat = chat
        self._menu = menu
        self._page = page
        self._last = last
        self._say = say
        self._loaded: Loaded | None = None
        self._then: Callable[[], object] | None = None
        self._words = ""
        self._is_offering = False
        menu.unload_wanted.connect(self.unload)
        menu.chosen.connect(self._forget)
        page.composer.model_wanted.connect(self._on_message)
        chat.state_changed.connect(self._on_state)
        chat.loaded.connect(self._on_loaded)
        chat.load_failed.connect(self._forget)
        chat.let_go.connect(self._forget)
        chat.unloaded.connect(self._on_unloaded)

    def unload(self) -> None:
        """Let the loaded model go, or give up loading one."""
        if self._chat.model is not None:
            self._words = filled(self.tr("{name} is unloaded, and its memory is free."), name=self._chat.model.name)
        elif self._chat.is_loading:
            self._words = filled(self.tr("Loading {name} was stopped."), name=short_name(self._menu.choice.model))
        self._chat.unload()

    def offer(self, then: Callable[[], object], button: str = "") -> None:
        """Say that no model is loaded, and offer to load the last one and to do ``then`` what was wanted."""
        words = button or self.tr("Load {name}")
        model, conversation = self._last(), self._chat.conversation

        def wanted() -> None:
            if self._chat.conversation is conversation:
                then()

        self._is_offering = True
        notice = self._page.notice
        notice.say(
            self.tr("No model is loaded."), filled(words, name=self._name_of(model)), lambda: self._load(model, wanted)
        )
        notice.button.setFocus()

    # Within

    def _load(self, model: str, then: Callable[[], object]) -> None:
        self._is_offering = False
        self._page.composer.setFocus()
        self._menu.choose(model)
        self._then = then

    def _on_message(self) -> None:
        text = self._page.composer.text()
        self.offer(lambda: self._send(text), self.tr("Load {name} and send"))

    def _send(self, text: str) -> None:
        """Send the message, unless it has become another while the model was loaded."""
        if self._page.composer.text() == text:
            self._page.composer.submit()

    def _on_loaded(self, model: Loaded) -> None:
        self._loaded = model

    def _on_state(self) -> None:
        chat = self._chat
        if chat.model is not None:
            self._menu.show_unload(filled(self.tr("Unload {name}"), name=chat.model.name))
        else:
            self._menu.show_unload(self.tr("Stop loading") if chat.is_loading else "")
        if self._is_offering and (chat.model is not None or chat.is_loading):
            self._is_offering = False
            if self._page.notice.words.text() == self.tr("No model is loaded."):  # it may say something else by now
                self._page.notice.hide()
        if chat.can_ask and self._then is not None:
            then, self._then = self._then, None
            QTimer.singleShot(0, self, then)  # when every part of the window knows that there is a model

    def _on_unloaded(self) -> None:
        is_still_so = self._chat.model is None and not self._chat.is_loading
        if self._words and is_still_so and not self._page.notice.isVisible():  # what can be seen offers more
            self._say(self._words)
        self._words = ""

    def _forget(self) -> None:
        self._then = None

    def _name_of(self, model: str) -> str:
        if self._loaded is not None and self._loaded.model == model:
            return self._loaded.name
        return short_name(model)
