"""Long chats: laid out bit by bit around the reader, and searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.palette import LIGHT
from desktop.transcript.turns import AT_ONCE, SHOWN_CHARACTERS
from tests.desktop.transcripts import begun, chat, numbers, write

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.transcript.view import Transcript


def test_words_are_found_counted_and_stepped_through(view: Transcript, qtbot: QtBot) -> None:
    view.show_turns(chat(12).turns)
    qtbot.waitUntil(lambda: not view._turns.filling.is_going_on, timeout=60_000)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = view.find_bar
    qtbot.waitUntil(bar.isVisible, timeout=60_000)
    QTest.keyClicks(bar.field, "REPLY 1")
    bar.search()
    assert bar.count.text().endswith("of 3")  # 1, 10 and 11
    seen = set()
    for _ in range(3):
        QTest.keyClick(bar.field, Qt.Key.Key_Return)
        seen.add(bar.count.text())
        mark = next(
            one for one in view.extraSelections() if one.format.background().color().name() == LIGHT.accent.lower()
        )
        assert mark.cursor.selectedText().lower() == "reply 1"
        assert view.viewport().rect().intersects(view.cursorRect(mark.cursor))
    assert seen == {"1 of 3", "2 of 3", "3 of 3"}
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    bar.field.setText("nowhere at all")
    bar.search()
    assert bar.count.text() == "not found"
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert not view.extraSelections()


def test_emoji_before_a_word_do_not_move_what_is_found(view: Transcript) -> None:
    begun(view, "😀😀 İstanbul $x$ word **wor**d")
    view.finish()
    view.find_bar.open_bar()
    view.find_bar.field.setText("word")
    view.find_bar.search()
    assert [mark.cursor.selectedText() for mark in view.extraSelections()] == ["word", "word"]


def test_h10_a_long_chat_is_laid_out_bit_by_bit_and_the_reader_stays(view: Transcript, qtbot: QtBot) -> None:
    conversation = chat(90)
    view.show_turns(conversation.turns)
    assert len(view._sheet.passages) <= SHOWN_CHARACTERS // 300
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() - 150)
    cursor = view.cursorForPosition(view.viewport().rect().center())
    text, top = cursor.block().text(), view.cursorRect(cursor).top()
    qtbot.waitUntil(lambda: not view._turns.filling.is_going_on, timeout=60_000)
    assert numbers(view) == [turn.reply.turn for turn in conversation.turns]
    assert cursor.block().text() == text
    assert abs(view.cursorRect(cursor).top() - top) <= 1
    assert "earlier" not in view.toPlainText()[:200]
    for passage in view._sheet.passages:
        start = next(passage.ranges(0, 5))[0]
        assert view.document().findBlock(start).text().startswith("reply ")
    bar.setValue(0)
    assert "question 0" in view.cursorForPosition(view.viewport().rect().topLeft()).block().next().text()


def test_h10_at_the_top_more_comes_at_once(view: Transcript) -> None:
    view.show_turns(chat(150).turns)
    view._turns.filling.stop()
    before = view._sheet.earlier
    view.verticalScrollBar().setValue(0)
    assert view._sheet.earlier < before - AT_ONCE // 400


def test_h10_a_question_in_a_chat_that_opened_at_its_beginning_stands_at_the_end(view: Transcript) -> None:
    conversation = chat(100)
    view.show_turns(conversation.turns, conversation.turns[3])
    assert "reply 99 " not in view.toPlainText()
    turn = conversation.ask("the newest")
    view.show_question("the newest", turn)
    view.begin_reply(turn.reply, turn)
    write(turn.reply, "and its answer")
    view.extend()
    assert numbers(view) == [turn.reply.turn for turn in conversation.turns[3:]]
    assert "reply 99 " in view.toPlainText().partition("the newest")[0]
