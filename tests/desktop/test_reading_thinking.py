"""What a model thinks aloud is folded, told apart from the answer, and unfolds where the reader is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QTextCursor

from desktop.conversation import Conversation
from desktop.reply import Reply
from inference.events import Piece
from tests.desktop.transcripts import begun, copied, formats_of, opened, press, write
from tests.fake_session import tokens_of

if TYPE_CHECKING:
    from desktop.transcript.view import Transcript


def test_c07_thinking_is_folded_with_its_time_and_unfolds(view: Transcript) -> None:
    view.show_question("q")
    reply = opened(True)
    view.begin_reply(reply)
    for at, token in enumerate(tokens_of("I **think** so.\n\nYes.\n</think>\n\nThe *answer*.")):
        write(reply, token, at)
        view.extend()
        assert "think" not in view.toPlainText().partition("q\n")[2]
        assert "</" not in view.toPlainText()
    view.finish()
    assert "▸ Thought for 12 s\nThe answer." in view.toPlainText()
    view.show_question("next")
    press(view, "thought/1")
    assert "▾ Thought for 12 s\nI think so.\nYes.\nThe answer." in view.toPlainText()
    assert copied(view) == "q\nI think so.\nYes.\nThe answer.\nnext"
    view.colour(True)
    view._marks.colours.rehighlight()
    texts = [text.strip() for text, _ in formats_of(view)]
    assert "I" in texts
    assert "answer." in texts
    press(view, "thought/1")
    assert "▸ Thought for 12 s\nThe answer." in view.toPlainText()
    assert [view.document().findBlock(p.start).text() for p in view._sheet.passages] == ["▸ Thought for 12 s"]


def test_thinking_that_is_unfolded_grows_while_it_streams(view: Transcript) -> None:
    reply = Reply(1)
    view.begin_reply(reply)
    write(reply, "<think>one *two*")
    view.extend()
    assert "▸ Thinking" in view.toPlainText()
    press(view, "thought/1")
    assert "▾ Thinking\none two" in view.toPlainText()
    write(reply, " three</think>four")
    view.extend()
    reply.is_interrupted = True
    view.finish()
    assert "▾ Thought\none two three\nfour" in view.toPlainText()


def test_c09_tags_in_the_answer_and_in_code_are_text(view: Transcript) -> None:
    text = "<think>it ends with `</think>`, so</think>Put `<think>x</think>` around <think>notes</think>."
    begun(view, text)
    view.finish()
    assert "Put <think>x</think> around <think>notes</think>." in view.toPlainText()
    press(view, "thought/1")
    assert "it ends with </think>, so" in view.toPlainText()


def test_b13_a_reply_that_ended_while_thinking_says_so_and_can_go_on(view: Transcript) -> None:
    reply = opened(True)
    view.begin_reply(reply)
    write(reply, "thinking and thinking")
    reply.is_interrupted = True
    view.finish()
    assert "The reply ended while the model was still thinking" in view.toPlainText()
    assert "Continue" in view.toPlainText()
    assert reply.answer == ""


@pytest.mark.parametrize(
    ("opens", "text", "answer"),
    [
        (True, "so\n</think>\n\nYes", "Yes"),
        (False, "<think>so</think>Yes", "Yes"),
        (False, "No tags </think> at all", "No tags </think> at all"),
        (None, "so</think>Yes 😀", "Yes 😀"),
        (None, "put `</think>` there", "put `</think>` there"),
        (False, "<think></think>Yes", "Yes"),
        (True, "", ""),
    ],
)
def test_c07_the_answer_is_the_text_without_the_thinking(opens: bool | None, text: str, answer: str) -> None:
    reply = Reply(1, opens_thinking=opens)
    write(reply, text)
    reply.is_interrupted = True
    assert reply.answer == answer


def test_c06_white_space_alone_is_kept() -> None:
    reply = Reply(1)
    for piece in (" ", "\n", "    ", "\n\n", "```python", "\n", "x"):
        reply.add([Piece(piece, "plain", 0)])
    assert reply.text == " \n    \n\n```python\nx"


def test_h08_the_reader_stays_while_a_fold_above_opens(view: Transcript) -> None:
    reply = opened(True)
    view.begin_reply(reply)
    write(reply, "thought\n\n" * 40 + "</think>" + "answer\n\n" * 40)
    reply.is_interrupted = True
    view.finish()
    bar = view.verticalScrollBar()
    bar.setValue(200)
    title = QTextCursor(view.document().begin())
    before = view.cursorRect(title).top()
    press(view, "thought/1")
    assert view.cursorRect(title).top() == before
    assert bar.maximum() > 2 * 200


def test_b13_a_turn_that_never_got_beyond_thinking_is_not_sent_back_as_an_empty_answer() -> None:
    conversation = Conversation()
    for text in ("<think>endless", "<think>short</think>Yes"):
        reply = conversation.ask("Is it?").reply
        write(reply, text)
        reply.is_interrupted = True
    conversation.ask("And now?")
    assert [message.content for message in conversation.request().messages] == [
        "Is it?",
        "<think>short</think>Yes",
        "And now?",
    ]
