"""What a person does in a chat, step by step, and what is then there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from tests.fake_session import Script

if TYPE_CHECKING:
    from tests.desktop.stage import MakeStage, Stage


def replies(*texts: str) -> Script:
    return Script(replies=texts)


def follow(one: Stage, path: str) -> None:
    """Press an action of the page."""
    one.window.transcript.anchorClicked.emit(QUrl(f"borrador:{path}"))


def ended(one: Stage) -> None:
    one.wait(lambda: not one.conversation.is_writing)


def questions(one: Stage) -> list[tuple[str, str]]:
    return [(turn.question, turn.reply.text) for turn in one.conversation.turns]


def places(one: Stage) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [(turn.question_place, turn.reply_place) for turn in one.conversation.turns]


def edit(one: Stage, turn: int, text: str) -> None:
    follow(one, f"edit/{one.conversation.turns[turn].reply.turn}")
    one.window.composer.put(text)
    QTest.keyClick(one.window.composer.field, Qt.Key.Key_Return)
    ended(one)


def reopened(one: Stage, make: MakeStage) -> Stage:
    """The same chat in another window, as after a restart."""
    chat = one.conversation.id
    one.window.close()
    assert one.worker.has_ended(60_000)
    other = make(one.session.script).ready()
    other.window.show_chat(chat, None)
    return other
