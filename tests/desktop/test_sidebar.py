"""The list of chats: by date, pinned, in folders, renamed in place, found, archived, binned and brought back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QLineEdit, QMenu, QMessageBox

from desktop.sidebar.commands import file_name, with_ending
from desktop.sidebar.sections import Shelf
from tests.desktop.history.library import fill, texts_in
from tests.fake_session import Script

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from desktop.history.records import ChatRecord
    from tests.desktop.stage import MakeStage, Stage

DAY = 24 * 3600.0


def names(one: Stage) -> list[str]:
    rows = one.window.sidebar.rows
    return [str(rows.data(rows.index(number))) for number in range(rows.rowCount())]


def press(one: Stage, name: str) -> None:
    """Click a row of the list."""
    bar = one.window.sidebar
    index = bar.rows.index(names(one).index(name))
    bar.list.scrollTo(index)
    QTest.mouseClick(bar.list.viewport(), Qt.MouseButton.LeftButton, pos=bar.list.visualRect(index).center())


def menu_of(one: Stage, name: str) -> QMenu:
    bar = one.window.sidebar
    place = bar.list.visualRect(bar.rows.index(names(one).index(name))).center()
    bar.list.customContextMenuRequested.emit(place)
    menus = [menu for menu in bar.findChildren(QMenu) if menu.isVisible() and menu is not bar.more.menu()]
    return menus[-1]


def choose(menu: QMenu, *words: str) -> None:
    for word in words[:-1]:
        menu = next(action.menu() for action in menu.actions() if action.text() == word)  # type: ignore[assignment]
    next(action for action in menu.actions() if action.text() == words[-1]).trigger()


def asking(one: Stage) -> QMessageBox:
    """The question that is on the screen."""
    return next(box for box in one.window.findChildren(QMessageBox) if box.isVisible())


def chat_named(one: Stage, title: str) -> ChatRecord:
    return next(chat for chat in one.window.history.store.chats.values() if chat.title == title)


def with_chats(stage: MakeStage, ages: Iterable[float] = (0, 0.1)) -> Stage:
    """Chats named after their age in days."""
    one = stage(Script(replies=("A reply about lighthouses.",))).ready()
    store = one.window.history.store
    midnight = time.mktime((*time.localtime()[:3], 12, 0, 0, 0, 0, -1))
    for age in ages:
        one.window.new_chat()
        one.ask(f"chat {age:g}")
        store.put(replace(store.chats[one.conversation.id], changed=midnight - age * DAY))
    one.window.new_chat()
    one.window.sidebar.refresh()
    return one


def test_chats_stand_under_their_dates(stage: MakeStage) -> None:
    one = with_chats(stage, (0, 1, 3, 20))
    assert names(one) == [
        "Today", "chat 0", "Yesterday", "chat 1", "Last 7 days", "chat 3", "Last 30 days", "chat 20",
    ]  # fmt: skip
    store = one.window.history.store
    old = chat_named(one, "chat 20")
    store.put(replace(old, changed=time.mktime((2024, 3, 5, 12, 0, 0, 0, 0, -1))))
    one.window.sidebar.refresh()
    assert names(one)[-2:] == ["March 2024", "chat 20"]


def test_a_click_opens_a_chat_and_marks_it(stage: MakeStage) -> None:
    one = with_chats(stage)
    press(one, "chat 0")
    assert one.conversation.turns[0].question == "chat 0"
    assert one.window.sidebar.painting.open_chat == one.conversation.id
    assert "lighthouses" in one.page


def test_pin_archive_and_folders(stage: MakeStage) -> None:
    one = with_chats(stage, (0, 0.1, 0.2))
    choose(menu_of(one, "chat 0.2"), "Pin")
    assert names(one)[:2] == ["Pinned", "chat 0.2"]
    choose(menu_of(one, "chat 0"), "Folder", "New folder…")
    dialog = one.window.findChild(QInputDialog)
    assert dialog is not None
    dialog.setTextValue(" Work & play ")
    dialog.accept()
    assert names(one) == ["Pinned", "chat 0.2", "Work & play", "chat 0", "Today", "chat 0.1"]
    press(one, "Work & play")
    assert names(one) == ["Pinned", "chat 0.2", "Work & play", "Today", "chat 0.1"]
    press(one, "Work & play")
    choose(menu_of(one, "chat 0.1"), "Folder", "Work && play")
    assert names(one)[-3:] == ["Work & play", "chat 0", "chat 0.1"]
    choose(menu_of(one, "Work & play"), "Remove the folder, keep its chats")
    assert "Work & play" not in names(one)
    choose(menu_of(one, "chat 0.1"), "Archive")
    assert "chat 0.1" not in names(one)
    one.window.sidebar.show_shelf(Shelf.ARCHIVED)
    assert names(one) == ["chat 0.1"]
    choose(menu_of(one, "chat 0.1"), "Take out of the archive")
    one.window.sidebar.back.click()
    assert "chat 0.1" in names(one)


def test_h12_renaming_in_place_with_f2(stage: MakeStage) -> None:
    one = with_chats(stage)
    bar = one.window.sidebar
    press(one, "chat 0")
    bar.list.setFocus()
    bar.list.setCurrentIndex(bar.rows.place_of(one.conversation.id))
    QTest.keyClick(bar.list, Qt.Key.Key_F2)
    editor = bar.list.findChild(QLineEdit)
    assert editor is not None
    assert editor.text() == "chat 0"
    QApplication.sendEvent(editor, QInputMethodEvent("に", []))
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert chat_named(one, "chat 0")
    assert editor.isVisible()
    done = QInputMethodEvent()
    done.setCommitString("")
    QApplication.sendEvent(editor, done)
    editor.setText("  A <b>new</b>\tname ")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    one.wait(lambda: "A <b>new</b> name" in names(one))
    assert chat_named(one, "A <b>new</b> name").is_named
    one.ask("More words")
    assert "A <b>new</b> name" in names(one)


def test_h12_enter_of_an_input_method_opens_no_chat_while_it_searches(stage: MakeStage) -> None:
    one = with_chats(stage)
    field = one.window.sidebar.search
    field.setText("lighthouses")
    QApplication.sendEvent(field, QInputMethodEvent("に", []))
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Escape):
        QTest.keyClick(field, key)
        assert one.conversation.turns == []
        assert field.text() == "lighthouses"
    done = QInputMethodEvent()
    done.setCommitString("")
    QApplication.sendEvent(field, done)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert one.conversation.turns


def test_a_title_of_a_megabyte_is_cut_on_the_screen_only(stage: MakeStage) -> None:
    one = with_chats(stage, (0,))
    chat = chat_named(one, "chat 0").id
    title = ("word " * 200_000).strip()
    one.window.history.rename(chat, title)
    folder = one.window.history.add_folder(title)
    bar = one.window.sidebar
    shown = title[:300] + "…"
    assert [name for name in names(one) if len(name) > 20] == [shown, shown]
    place = bar.rows.place_of(chat)
    assert bar.rows.data(place, Qt.ItemDataRole.EditRole) == title
    one.window.commands.bin(chat)
    assert one.window.notice.words.text() == f"“{shown}” is in the bin and stays there for 30 days."
    assert one.window.history.store.chats[chat].title == title
    assert one.window.history.store.folders[folder].name == title


def test_a_blank_name_is_not_taken(stage: MakeStage) -> None:
    one = with_chats(stage)
    one.window.history.rename(chat_named(one, "chat 0").id, "  \t ")
    assert "chat 0" in names(one)


def test_ctrl_k_finds_titles_and_messages_and_enter_opens(stage: MakeStage) -> None:
    one = with_chats(stage, (0, 0.1, 40))
    bar = one.window.sidebar
    QTest.keyClick(one.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert bar.search.hasFocus()
    QTest.keyClicks(bar.search, "lightho")
    one.wait(lambda: "Today" not in names(one) and len(names(one)) == 3)
    bar.search.setText("chat 40")
    QTest.keyClick(bar.search, Qt.Key.Key_Return)
    assert one.conversation.turns[0].question == "chat 40"
    bar.search.setText("nowhere")
    one.wait(lambda: bar.note.text() == "Nothing found.")
    bar.search.setFocus()
    QTest.keyClick(bar.search, Qt.Key.Key_Escape)
    assert bar.search.text() == ""
    QTest.keyClick(bar.search, Qt.Key.Key_Escape)
    assert one.window.composer.field.hasFocus()


def test_a_hit_in_another_version_is_shown(stage: MakeStage) -> None:
    one = stage(Script(replies=("The first about whales.", "The second."))).ready().ask("Go")
    one.window.again()
    one.wait(lambda: not one.conversation.is_writing)
    one.window.new_chat()
    (hit,) = one.window.history.store.search("whales")
    one.window.show_chat(hit.chat, hit.message)
    assert one.reply.text == "The first about whales."


def test_binning_can_be_undone_and_removing_asks(stage: MakeStage) -> None:
    one = with_chats(stage)
    press(one, "chat 0")
    choose(menu_of(one, "chat 0"), "Move to the bin")
    assert "chat 0" not in names(one)
    assert one.conversation.turns == []
    assert one.window.notice.words.text() == "“chat 0” is in the bin and stays there for 30 days."
    one.window.notice.button.click()
    assert "chat 0" in names(one)
    assert one.conversation.turns[0].question == "chat 0"
    one.window.commands.bin(one.conversation.id)
    bar = one.window.sidebar
    bar.show_shelf(Shelf.BIN)
    assert names(one) == ["chat 0"]
    assert bar.note.text() == "Chats stay here for 30 days."
    press(one, "chat 0")
    assert one.conversation.turns == []
    choose(menu_of(one, "chat 0"), "Remove for ever…")
    box = asking(one)
    assert "cannot be undone" in box.text()
    assert box.defaultButton().text() == "Cancel"
    box.defaultButton().click()
    assert names(one) == ["chat 0"]
    choose(menu_of(one, "chat 0"), "Remove for ever…")
    next(button for button in asking(one).buttons() if button.text() == "Remove").click()
    one.wait(lambda: names(one) == [])
    assert bar.note.text() == "The bin is empty."


@pytest.mark.parametrize("key", [Qt.Key.Key_Backspace, Qt.Key.Key_Delete])
def test_a_bare_backspace_or_delete_removes_nothing(stage: MakeStage, key: Qt.Key) -> None:
    one = with_chats(stage)
    bar = one.window.sidebar
    press(one, "chat 0")
    before = names(one)
    for target in (bar.list, bar, one.window, one.window.transcript):
        QTest.keyClick(target, key)
    assert names(one) == before
    assert not any(chat.binned for chat in one.window.history.store.chats.values())


def test_rows_have_names_and_the_list_is_reached_by_tab(stage: MakeStage) -> None:
    one = with_chats(stage)
    bar = one.window.sidebar
    interface = QAccessible.queryAccessibleInterface(bar.list)
    assert interface.text(QAccessible.Text.Name) == "Chats"
    assert interface.child(1).text(QAccessible.Text.Name) == "chat 0"
    bar.search.setFocus()
    for _ in range(2):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert bar.list.hasFocus()
    QTest.keyClick(bar.list, Qt.Key.Key_Down)
    bar.list.setCurrentIndex(bar.rows.index(1))
    QTest.keyClick(bar.list, Qt.Key.Key_Return)
    assert one.conversation.turns[0].question == "chat 0"


def test_the_list_is_painted_in_every_state(stage: MakeStage) -> None:
    one = with_chats(stage, (0, 1))
    one.window.history.add_folder("A folder")
    one.window.sidebar.search.setText("lighthouses")
    one.window.sidebar.refresh()
    assert not one.window.grab().isNull()
    QTest.mouseMove(one.window.sidebar.list.viewport(), QPoint(40, 20))
    one.window.sidebar.search.clear()
    one.window.sidebar.refresh()
    assert not one.window.grab().isNull()


def test_whether_the_side_bar_is_shown_is_remembered(stage: MakeStage) -> None:
    one = stage().ready()
    assert one.window.sidebar.isVisible()
    QTest.keyClick(one.window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert one.window.sidebar.isHidden()
    assert stage().ready().window.sidebar.isHidden()


def test_export_import_backup_and_restore_from_the_menu(stage: MakeStage, tmp_path: Path) -> None:
    one = with_chats(stage)
    commands, store = one.window.commands, one.window.history.store
    fill(store, chats=4)
    texts = texts_in(store)
    words = one.window.notice.words
    chat = chat_named(one, "chat 0").id
    commands.export_to(chat, tmp_path / "one.md")
    one.wait(lambda: words.text() == "Exported to one.md.")
    commands.export_to(None, tmp_path / "all.json")
    one.wait(lambda: words.text() == "Exported to all.json.")
    commands.back_up_to(tmp_path / "all.sqlite")
    one.wait(lambda: words.text() == "Everything is in all.sqlite.")
    for name, bring_in in (("all.json", commands.import_from), ("all.sqlite", commands.restore_from)):
        words.clear()
        one.window.history.remove(*store.chats)
        assert names(one) == []
        bring_in(tmp_path / name)
        one.wait(lambda: words.text() == f"{len(texts)} new messages came in.")
        assert texts_in(store) == texts
        assert "chat 0" in names(one)
    commands.import_from(tmp_path / "one.md")
    assert words.text() == "one.md is no export of chats: it holds no JSON."
    commands.restore_from(tmp_path / "one.md")
    one.wait(lambda: words.text() == "This file is no backup of Borrador, or it is damaged.")
    commands.export_to(chat, tmp_path / "missing" / "x.md")
    one.wait(lambda: words.text().startswith("This could not be done: "))


def test_names_of_files() -> None:
    assert file_name('a/b\\c: "d" <e>?*|\n.') == "a b c d e"
    assert file_name("...") == "chat"
    assert len(file_name("x" * 500)) == 80
    assert file_name("👩" * 100) == "👩" * 50
    assert file_name("con") == "con chat"
    assert file_name("Aux.old") == "Aux.old chat"
    assert file_name("console") == "console"
    assert with_ending("/x/My v1.2 notes", "Markdown (*.md)").name == "My v1.2 notes.md"
    assert with_ending("/x/a.pdf", "Markdown (*.md)").name == "a.pdf"
