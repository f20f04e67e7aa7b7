"""What is kept of chats, as a person sees it: settings, figures, titles, odd characters, long chats, a second start."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.settings.chat_settings import ChatSettings
from desktop.settings.preferences import Preferences
from desktop.store import Store
from inference.events import Notice
from inference.settings import Sampling
from tests.desktop.history.library import fill, texts_in
from tests.desktop.steps import ended, follow, questions, reopened, replies
from tests.fake_session import POEM, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.desktop.stage import MakeStage


def test_settings_seed_and_figures_of_a_reply_are_kept(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.preferring.keep(Preferences(usual=ChatSettings(Sampling(temperature=0.4, seed=99), 77)))
    one.ask()
    page, finished = one.page, one.reply.finished
    other = reopened(one, stage)
    assert other.page == page
    assert other.reply.finished is not None
    assert finished is not None
    assert other.reply.finished.statistics == finished.statistics
    assert other.reply.finished.token_ids == finished.token_ids
    assert other.reply.manner is not None
    assert (other.reply.manner.sampling.temperature, other.reply.manner.max_new_tokens) == (0.4, 77)
    assert other.reply.seed == 99


def test_leaving_a_chat_ends_its_reply_and_keeps_it_with_its_figures(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    chat, text = one.conversation.id, one.reply.text
    one.window.new_chat()
    one.wait(lambda: not one.window.chat._left)
    one.window.show_chat(chat, None)
    assert one.reply.text == text
    assert one.reply.finished is not None
    assert one.reply.finished.reason == Notice("finish.cancelled")
    permits.release(1000)
    one.ask("And now")


def test_c15_deleting_a_chat_in_the_middle_of_its_reply(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(2))).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    chat, control = one.conversation.id, one.window.chat.control
    one.window.commands.bin(chat)
    assert control is not None
    assert control.cancel.is_set()
    assert one.page == ""
    one.window.history.remove(chat)
    one.session.script.permits = None
    one.ask("And now")
    store = one.window.history.store
    assert chat not in store.chats
    assert store.connection.execute("SELECT count(*) FROM message WHERE chat = ?", (chat,)).fetchone() == (0,)


@pytest.mark.parametrize(
    ("question", "answer", "title"),
    [
        ("# **Hello** `there`\nmore", "x", "Hello there"),
        ("<think>\nsecret\n</think>\nAsk me", "x", "Ask me"),
        ("```python\nprint(1)\n```", "x", "print(1)"),
        ("***\n\n---", "<think>I muse</think>The *answer* is 4.", "The answer is 4."),
        ("🙂🙂", "…", "New chat"),
        ("word " * 40, "x", "word word word word word word word word word word word word…"),
        ("[link](http://x.y) and <b>bold</b> <|im_start|>", "x", "link and bold"),
        ("a\u202eb", "x", "a b"),
    ],
)
def test_c13_titles_come_at_once_without_markup_and_are_never_blank(
    stage: MakeStage, question: str, answer: str, title: str
) -> None:
    one = stage(replies(answer)).ready().ask(question)
    rows = one.window.sidebar.rows
    names = [rows.data(rows.index(number)) for number in range(rows.rowCount())]
    assert names == ["Today", title]


def test_c16_odd_characters_survive_to_a_restart(stage: MakeStage) -> None:
    one = stage(replies("half \ud83e of it")).ready().ask("a\ud83e b 10\u00a0000\u202f€ \ud83d\ude42")
    other = reopened(one, stage)
    assert questions(other) == [("a\ufffd b 10\u00a0000\u202f€ 🙂", "half \ufffd of it")]


def test_h15_no_break_spaces_are_kept_through_edit_and_restart(stage: MakeStage) -> None:
    one = stage().ready().ask("10\u00a0000\u202f€")
    follow(one, f"edit/{one.reply.turn}")
    assert one.window.composer.text() == "10\u00a0000\u202f€"
    one.window.composer.put("20\u00a0000\u202f€")
    one.window.composer.submit()
    ended(one)
    assert one.session.requests[-1].messages[0].content == "20\u00a0000\u202f€"
    assert reopened(one, stage).conversation.turns[0].question == "20\u00a0000\u202f€"


def test_h12_enter_of_an_input_method_does_not_send_while_editing(stage: MakeStage) -> None:
    one = stage().ready().ask("ひ")
    follow(one, f"edit/{one.reply.turn}")
    field = one.window.composer.field
    QApplication.sendEvent(field, QInputMethodEvent("に", []))
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert one.window.composer.is_editing
    done = QInputMethodEvent()
    done.setCommitString("に")
    QApplication.sendEvent(field, done)
    QTest.keyClick(field, Qt.Key.Key_Return)
    ended(one)
    assert one.conversation.turns[0].question == "ひに"


def test_giving_up_an_edit_brings_the_draft_back(stage: MakeStage) -> None:
    one = stage().ready().ask("first")
    one.window.composer.put("half a thought")
    follow(one, f"edit/{one.reply.turn}")
    QTest.keyClick(one.window.composer.field, Qt.Key.Key_Escape)
    assert one.window.composer.text() == "half a thought"
    one.window.composer.submit()
    ended(one)
    assert [turn.question for turn in one.conversation.turns] == ["first", "half a thought"]


def test_h03_closing_in_the_middle_keeps_the_reply(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(3))).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 3)
    text = one.reply.text
    other = reopened(one, stage)
    assert other.reply.text == text
    assert other.reply.is_interrupted
    assert "interrupted" in other.page
    assert "Continue" in other.page


def test_a_failed_reply_is_told_again_after_a_restart(stage: MakeStage) -> None:
    one = stage(Script(fail_after_rounds=2)).ready().ask("First")
    assert "The memory is used up" in reopened(one, stage).page


def test_h10_of_a_long_chat_the_end_comes_first(stage: MakeStage, tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    fill(store, chats=1, turns=300)
    store.close()
    one = stage().ready()
    (chat,) = one.window.history.store.chats
    one.window.show_chat(chat, None)
    assert "user 0 598" in one.page
    assert "user 0 0 " not in one.page
    view = one.window.transcript
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
    before = len(view._sheet.passages)
    assert before < 120
    follow(one, "earlier/0")
    assert len(view._sheet.passages) > before
    assert view.verticalScrollBar().value() > 0
    (hit,) = one.window.history.store.search("user 0 4")
    assert hit.message is not None
    one.window.show_chat(chat, hit.message)
    assert "user 0 4 " in one.page
    assert "user 0 598" not in one.page
    one.wait(lambda: "user 0 598" in one.page and "user 0 0 " in one.page)  # the rest comes bit by bit
    assert [p.reply.turn for p in view._sheet.passages] == [turn.reply.turn for turn in one.conversation.turns]


def test_h10_of_a_reply_of_a_megabyte_the_beginning_comes_first(stage: MakeStage) -> None:
    one = stage(replies("word " * 15_000 + "the end")).ready().ask("Go")
    chat = one.conversation.id
    one.window.new_chat()
    one.window.show_chat(chat, None)
    assert len(one.page) < 60_000
    assert "more characters" in one.page
    follow(one, f"whole/{one.reply.turn}")
    one.wait(lambda: "the end" in one.page)
    assert "more characters" not in one.page


def test_a_link_of_the_model_is_no_action(stage: MakeStage) -> None:
    one = stage(replies("[press](borrador:branch/77) [me](borrador:again)")).ready().ask("Go")
    document = one.window.transcript.document()
    block = document.begin()
    hrefs = set()
    while block.isValid():
        walk = block.begin()
        while not walk.atEnd():
            hrefs.add(walk.fragment().charFormat().anchorHref())
            walk += 1
        block = block.next()
    assert "borrador:again" not in hrefs
    assert "borrador:branch/77" not in hrefs


def test_what_cannot_be_stored_comes_back_later(
    stage: MakeStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    one = stage(replies("A reply.")).ready()
    store = one.window.history.store
    store._is_writable = False
    monkeypatch.setattr(store, "retry", lambda: False)
    one.ask("Kept?")
    chat = one.conversation.id
    one.window.close()
    assert one.worker.has_ended(60_000)
    (left,) = [*tmp_path.glob("data/borrador-unsaved-*.json"), *(tmp_path / "home").glob("borrador-unsaved-*.json")]
    assert json.loads(left.read_text())["chats"][0]["title"] == "Kept?"
    other = stage().ready()
    other.window.show_chat(chat, None)
    assert questions(other) == [("Kept?", "A reply.")]
    assert not left.exists()


def test_a_trouble_is_told_and_the_chat_goes_on(stage: MakeStage, tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    texts = fill(store, chats=1)
    store.close()
    path = tmp_path / "data" / "history.sqlite"
    data = bytearray(path.read_bytes())
    data[:4] = b"XXXX"
    path.write_bytes(data)
    one = stage().ready()
    assert one.window.notice.isVisible()
    words = one.window.notice.words.text()
    assert words.startswith(f"The history was damaged; {len(texts)} messages were saved, and the damaged file is kept")
    one.ask()
    assert texts.items() <= texts_in(one.window.history.store).items()


def test_nothing_of_chats_is_cut_off_in_a_small_window(stage: MakeStage) -> None:
    one = stage(size=(480, 400)).ready().ask()
    one.window.toggle_side()
    bar = one.window.sidebar
    assert bar.isVisible()
    assert bar.geometry().right() <= 480
    assert bar.search.mapTo(one.window, QPoint(0, 0)).x() >= 0
    QTest.keyClick(one.window, Qt.Key.Key_Escape)
    assert bar.isHidden()


def test_the_copy_of_the_day_is_made_while_the_window_is_open(stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready().ask()
    one.window.history._begin_daily()
    one.wait(lambda: list((tmp_path / "data" / "backups").glob("history-daily-*.sqlite")))
    one.wait(lambda: one.window.history._daily is None)
    one.window.history._begin_daily()
    assert one.window.history._daily is None


def test_opening_the_chat_at_hand_leaves_its_reply_alone(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    conversation = one.conversation
    one.window.chat.open(conversation.id)
    assert one.conversation is conversation
    assert one.window.chat.is_writing
    permits.release(1000)
    ended(one)
    assert one.reply.text == POEM
