"""Replies and chats as a page shows them, and what a user does there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextCursor

from desktop.conversation import Conversation
from desktop.reply import Reply
from inference.events import Piece, Started
from tests.fake_session import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QTextCharFormat

    from desktop.transcript.view import Transcript
    from inference.events import Origin


def write(reply: Reply, text: str, start: int = 0) -> None:
    origins: tuple[Origin, ...] = ("accepted", "correction", "bonus", "plain")
    for index, token in enumerate(tokens_of(text), start):
        reply.add([Piece(token, origins[index % 4], index)])


def begun(view: Transcript, text: str = "") -> Reply:
    reply = Reply(1)
    view.begin_reply(reply)
    write(reply, text)
    view.extend()
    return reply


def formats_of(view: Transcript) -> Iterator[tuple[str, QTextCharFormat]]:
    """Each stretch of text with the marks laid over it."""
    block = view.document().begin()
    while block.isValid():
        for mark in block.layout().formats():
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + mark.start)
            cursor.setPosition(block.position() + mark.start + mark.length, QTextCursor.MoveMode.KeepAnchor)
            yield cursor.selectedText(), mark.format
        block = block.next()


def copied(view: Transcript) -> str:
    view.selectAll()
    return view.createMimeDataFromSelection().text()


def press(view: Transcript, path: str) -> None:
    view.anchorClicked.emit(QUrl(f"borrador:{path}"))


def opened(thinking: bool, seconds: float | None = 12.3) -> Reply:
    reply = Reply(1)
    reply.take(Started(1, 10, 0, 7, opens_thinking=thinking))
    reply.thinking_seconds = seconds
    return reply


def chat(turns: int, words: int = 60) -> Conversation:
    conversation = Conversation()
    for number in range(turns):
        turn = conversation.ask(f"question {number}")
        turn.reply.add([Piece(f"reply {number} " + "word " * words, "plain", 0)])
        turn.reply.is_interrupted = True
    return conversation


def numbers(view: Transcript) -> list[int]:
    return [passage.reply.turn for passage in view._sheet.passages]
