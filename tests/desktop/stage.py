"""A window with the session that plays in it, and words for what tests do with both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop.main_window import MainWindow  # noqa: TC001

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.conversation import Conversation
    from desktop.reply import Reply
    from desktop.worker import Worker
    from tests.fake_session import FakeSession


class Stage:
    """One window, its worker and the session behind it."""

    def __init__(self, window: MainWindow, worker: Worker, session: FakeSession, qtbot: QtBot) -> None:
        self.window = window
        self.worker = worker
        self.session = session
        self.qtbot = qtbot

    def wait(self, condition: Callable[[], object]) -> None:
        """Let events happen until the condition holds."""
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=60_000)

    def ready(self) -> Stage:
        """Wait for the model."""
        self.wait(lambda: self.window.status_bar.state.text() == "ready")
        return self

    def ask(self, text: str = "Write a short poem about the sea.") -> Stage:
        """Ask and wait for the whole reply."""
        self.window.ask(text)
        self.wait(lambda: not self.conversation.is_writing)
        return self

    @property
    def conversation(self) -> Conversation:
        """The chat as the window keeps it."""
        return self.window.chat.conversation

    @property
    def reply(self) -> Reply:
        """The newest reply."""
        return self.conversation.turns[-1].reply

    @property
    def page(self) -> str:
        """The text on the page."""
        return self.window.transcript.toPlainText()


MakeStage = Callable[..., Stage]
