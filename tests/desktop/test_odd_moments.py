"""What a person does with chats while a reply is written or something comes in, and what must not be lost by it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu

from desktop.exchange.reading import chats_in
from desktop.exchange.writing import exported, imported
from desktop.history.backup import restored, saved
from desktop.history.history import History
from desktop.history.opening import NAME
from desktop.history.records import ChatRecord
from desktop.history.schema import NEWEST
from desktop.store import Store
from inference.events import Notice
from tests.desktop.history.library import fill, texts_in
from tests.desktop.steps import edit, ended, follow, questions, reopened, replies
from tests.fake_session import POEM, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.desktop.stage import MakeStage, Stage


def streaming(stage: MakeStage, rounds: int = 3) -> tuple[Stage, threading.Semaphore]:
    """A window in which a reply is held after so many rounds."""
    permits = threading.Semaphore(rounds)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == rounds)
    return one, permits


def idle(one: Stage) -> None:
    one.wait(lambda: one.window.commands._copying is None)


def test_a_hit_in_another_version_waits_while_a_reply_is_written(stage: MakeStage) -> None:
    one = stage(replies("alpha first", "beta second")).ready().ask("one")
    edit(one, 0, "two")
    permits = threading.Semaphore(2)
    one.session.script.permits, one.session.script.replies = permits, (POEM,)
    one.window.ask("three")
    one.wait(lambda: len(one.reply.rounds) == 2)
    (hit,) = one.window.history.store.search("alpha")
    one.window.show_chat(hit.chat, hit.message)
    assert one.window.chat.is_writing
    assert one.window.notice.words.text() == "What was found is in another version; stop the reply to see it."
    (here,) = one.window.history.store.search("beta")
    one.window.show_chat(here.chat, here.message)
    permits.release(1000)
    ended(one)
    assert questions(one) == [("two", "beta second"), ("three", POEM)]
    one.window.show_chat(hit.chat, hit.message)
    assert questions(one) == [("one", "alpha first")]
    states = {message.state for message in one.window.history.store.messages(hit.chat)}
    assert states == {"over"}


def test_a_chat_that_is_binned_in_the_middle_of_its_reply_comes_back_with_it(stage: MakeStage) -> None:
    one, permits = streaming(stage)
    text, chat = one.reply.text, one.conversation.id
    one.window.commands.bin(chat)
    assert one.page == ""
    one.window.notice.button.click()
    assert one.conversation.id == chat
    assert one.reply.text == text
    permits.release(1000)
    ended(one)
    assert one.reply.finished is not None
    assert one.reply.finished.reason == Notice("finish.cancelled")
    assert questions(reopened(one, stage)) == [("Go", text)]


def test_a_chat_that_is_binned_in_the_middle_of_its_reply_keeps_it_in_the_bin(stage: MakeStage) -> None:
    one, permits = streaming(stage)
    text, chat = one.reply.text, one.conversation.id
    one.window.commands.bin(chat)
    one.wait(lambda: not one.window.chat._left)
    permits.release(1000)
    last = one.window.history.store.messages(chat)[-1]
    assert (last.text, last.state) == (text, "over")


def test_a_branch_in_the_middle_of_a_reply_has_what_was_written_and_so_has_the_chat(stage: MakeStage) -> None:
    one, permits = streaming(stage)
    first, text = one.conversation.id, one.reply.text
    follow(one, f"branch/{one.reply.turn}")
    assert one.conversation.id != first
    permits.release(1000)
    one.ask("More")
    assert questions(one) == [("Go", text), ("More", POEM)]
    one.window.show_chat(first, None)
    assert questions(one) == [("Go", text)]


def test_a_backup_comes_back_over_a_reply_that_is_written(stage: MakeStage, tmp_path: Path) -> None:
    one = stage(replies("A reply.")).ready().ask("Before")
    store = one.window.history.store
    permits = threading.Semaphore(2)
    one.session.script.permits, one.session.script.replies = permits, (POEM,)
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    one.window.commands.back_up_to(tmp_path / "all.sqlite")
    idle(one)
    permits.release(2)
    one.wait(lambda: len(one.reply.rounds) == 4)
    one.window.commands.restore_from(tmp_path / "all.sqlite")
    idle(one)
    permits.release(1000)
    ended(one)
    assert questions(one) == [("Before", "A reply."), ("Go", POEM)]
    assert questions(reopened(one, stage)) == [("Before", "A reply."), ("Go", POEM)]
    assert len(store.chats) == 1


@pytest.mark.parametrize("name", [NAME, NAME + "-wal", "HISTORY.SQLITE"])
def test_nothing_is_written_over_the_history_itself(stage: MakeStage, name: str) -> None:
    one = stage(replies("A reply.")).ready().ask("a")
    folder = one.window.history.store.folder
    for command in (one.window.commands.back_up_to, lambda path: one.window.commands.export_to(None, path)):
        one.window.notice.hide()
        command(folder / ".." / folder.name / name)
        assert one.window.notice.words.text() == f"The chats themselves are kept in {name}; choose another name."
        assert one.window.commands._copying is None
    one.window.commands.back_up_to(folder / "copy.sqlite")
    idle(one)
    assert (folder / "copy.sqlite").exists()
    one.ask("b")
    assert questions(reopened(one, stage)) == [("a", "A reply."), ("b", "A reply.")]


def test_nothing_comes_into_a_history_that_cannot_be_written(
    stage: MakeStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = stage(replies("A reply.")).ready().ask("a")
    commands, store = one.window.commands, one.window.history.store
    commands.export_to(None, tmp_path / "all.json")
    commands.back_up_to(tmp_path / "all.sqlite")
    idle(one)
    one.window.history.remove(*store.chats)
    monkeypatch.setattr(store, "retry", lambda: False)
    store._is_writable = False
    for bring_in, name in ((commands.import_from, "all.json"), (commands.restore_from, "all.sqlite")):
        one.window.notice.hide()
        bring_in(tmp_path / name)
        idle(one)
        assert one.window.notice.words.text() == "Nothing can come in while the history cannot be written."
    assert store.connection.execute("SELECT count(*) FROM message").fetchone() == (0,)


def test_what_came_in_before_an_import_was_given_up_is_listed(stage: MakeStage, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    texts = fill(other, chats=60, turns=20)
    for _ in exported(other, list(other.chats), tmp_path / "all.json"):
        pass
    other.close()
    one = stage().ready()
    store = one.window.history.store
    one.window.commands.import_from(tmp_path / "all.json")
    copying = one.window.commands._copying
    assert copying is not None
    one.wait(lambda: copying._count >= 400)
    one.window.notice.button.click()
    there = store.connection.execute("SELECT count(*) FROM chat").fetchone()[0]
    assert 0 < there < 60
    assert len(store.chats) == there
    one.window.commands.import_from(tmp_path / "all.json")
    idle(one)
    assert texts_in(store) == texts


def test_one_command_after_the_other(stage: MakeStage, tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    texts = fill(store, chats=40, turns=20)
    store.close()
    one = stage().ready()
    commands = one.window.commands
    commands.back_up_to(tmp_path / "all.sqlite")
    commands.export_to(next(iter(one.window.history.store.chats)), tmp_path / "{one}.md")
    commands.restore_from(tmp_path / "all.sqlite")
    assert not (tmp_path / "{one}.md").exists()
    one.wait(lambda: one.window.notice.words.text() == "0 new messages came in.")
    assert (tmp_path / "{one}.md").exists()
    assert max(restored(Store(tmp_path / "fresh"), tmp_path / "all.sqlite")) == len(texts)


def test_a_file_that_is_cut_off_is_told_and_what_could_be_read_is_listed(stage: MakeStage, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    fill(other, chats=10)
    path = tmp_path / "all.json"
    for _ in exported(other, list(other.chats), path):
        pass
    other.close()
    path.write_text(path.read_text()[:-2000])
    one = stage().ready()
    one.window.commands.import_from(path)
    idle(one)
    words = one.window.notice.words.text()
    assert words == "all.json ends too early or is damaged; what could be read of it came in."
    assert len(one.window.history.store.chats) == 9
    assert one.window.sidebar.rows.rowCount() == 10


def test_a_backup_of_a_newer_program_is_told(stage: MakeStage, tmp_path: Path) -> None:
    one = stage(replies("A reply.")).ready().ask("a")
    path = tmp_path / "all.sqlite"
    for _ in saved(one.window.history.store, path):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute(f"PRAGMA user_version = {NEWEST + 1}")
        copy.execute("UPDATE about SET value = ? WHERE name = 'version'", (str(NEWEST + 1),))
    one.window.history.remove(*one.window.history.store.chats)
    one.window.commands.restore_from(path)
    idle(one)
    words = one.window.notice.words.text()
    assert words == "This backup was made by a newer Borrador; update, then restore it."
    assert one.window.history.store.chats == {}


def test_a_name_that_is_being_typed_outlives_what_happens_meanwhile(stage: MakeStage) -> None:
    one = stage(replies("A")).ready().ask("a")
    bar, history = one.window.sidebar, one.window.history
    chat = one.conversation.id
    bar.list.setCurrentIndex(bar.rows.place_of(chat))
    bar.list.edit(bar.list.currentIndex())
    field = bar.list.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setText("Half ty")
    now = history.store.chats[chat].changed
    history.store.put(ChatRecord(history.store.new_id(), "newer", now, now + 5))
    history.changed.emit()
    assert bar.list.findChild(QLineEdit) is field
    QTest.keyClicks(field, "ped")
    QTest.keyClick(field, Qt.Key.Key_Return)
    one.wait(lambda: bar.rows.rowCount() == 3)
    assert {one.title for one in history.store.chats.values()} == {"Half typed", "newer"}


def test_rename_of_a_menu_means_the_chat_it_was_opened_for(stage: MakeStage) -> None:
    one = stage(replies("A")).ready().ask("a")
    bar, history = one.window.sidebar, one.window.history
    chat = one.conversation.id
    place = bar.list.visualRect(bar.rows.place_of(chat)).center()
    bar.list.customContextMenuRequested.emit(place)
    menu = next(menu for menu in bar.findChildren(QMenu) if menu.isVisible() and menu is not bar.more.menu())
    now = history.store.chats[chat].changed
    history.store.put(ChatRecord(history.store.new_id(), "newer", now, now + 5))
    history.changed.emit()
    next(action for action in menu.actions() if action.text() == "Rename").trigger()
    field = bar.list.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == "a"
    QTest.keyClick(field, Qt.Key.Key_Escape)


def test_what_is_asked_of_a_chat_that_was_removed_meanwhile_is_answered(stage: MakeStage, tmp_path: Path) -> None:
    one = stage(replies("A")).ready().ask("a")
    commands, words = one.window.commands, one.window.notice.words
    chat = one.conversation.id
    commands.bin(chat)
    one.window.history.remove(chat)
    one.window.notice.button.click()
    assert words.text() == "The chat was removed for ever meanwhile."
    assert one.window.notice.isVisible()
    assert one.conversation.turns == []
    commands.bin(chat)
    commands.remove(chat)
    commands.export_to(chat, tmp_path / "x.md")
    idle(one)
    assert words.text() == "There is no chat to export."
    assert not list(tmp_path.glob("x.md*"))


def test_what_comes_into_the_chat_at_hand_is_shown(stage: MakeStage, tmp_path: Path) -> None:
    one = stage(replies("A", "B")).ready().ask("a")
    chat, commands = one.conversation.id, one.window.commands
    path = tmp_path / "one.json"
    commands.export_to(chat, path)
    idle(one)
    at_hand = one.conversation
    commands.import_from(path)
    idle(one)
    assert one.conversation is at_hand
    other = Store(tmp_path / "elsewhere")  # the same chat goes on on another computer, and comes back
    max(imported(other, chats_in(path)))
    other.reload()
    history = History(other, iter(range(1, 99)).__next__)
    conversation = history.open(chat)
    conversation.ask("asked elsewhere")
    history.keep(conversation)
    max(exported(other, [chat], path))
    other.close()
    commands.import_from(path)
    idle(one)
    assert questions(one) == [("a", "A"), ("asked elsewhere", "")]
    assert "asked elsewhere" in one.page
    one.ask("c")
    assert questions(reopened(one, stage)) == [("a", "A"), ("asked elsewhere", ""), ("c", "B")]
