"""What is put in comes out, is found by its words, and leaves for ever only when it must."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.history.finding import BEGIN, END, query_of
from desktop.history.opening import NAME
from desktop.history.records import ChatRecord, FolderRecord, Ids, MessageRecord
from desktop.plain_text import storable
from desktop.store import BIN_SECONDS, Store
from tests.desktop.history.library import ODD, fill, texts_in

if TYPE_CHECKING:
    from pathlib import Path


def chat_with(store: Store, *texts: str, title: str = "T") -> ChatRecord:
    chat = ChatRecord(store.new_id(), title, time.time(), time.time())
    messages = [MessageRecord(store.new_id(), chat.id, None, "user", text, time.time()) for text in texts]
    assert store.put(chat, *messages)
    return chat


def test_everything_comes_back_after_a_restart(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = fill(store)
    folder = FolderRecord(store.new_id(), "Work " + ODD.replace("\u2028", ""))
    chat = replace(next(iter(store.chats.values())), folder=folder.id, is_pinned=True, is_named=True)
    store.put(folder, chat)
    chats = dict(store.chats)
    store.close()
    again = Store(tmp_path)
    assert again.trouble is None
    assert texts_in(again) == texts
    assert again.chats == chats
    assert again.folders == {folder.id: folder}


def test_c16_odd_characters_are_kept_found_and_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    given = [ODD, "a\ud83e b", "\ud83d\ude42", "\udc9f", "nul \0 nul", "🙂" * 3, "x" * 1_000_000 + " needle"]
    chat = chat_with(store, *map(storable, given), title=storable("t \ud83e"))
    store.close()
    again = Store(tmp_path)
    read = [one.text for one in again.messages(chat.id)]
    assert read == [ODD, "a\ufffd b", "🙂", "\ufffd", "nul \ufffd nul", "🙂" * 3, given[-1]]
    assert [hit.chat for hit in again.search("needle")] == [chat.id]
    assert [hit.chat for hit in again.search("עברית")] == [chat.id]


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        ("ecris", True), ("ÉCRIS", True), ("poem sea", True), ("sea po", True), ("poem zzz", False), ("o", False),
        ("山川", True), ("川の", True), ("川山", False), ('"', False), ("sea AND", False), ("NEAR(sea)", False),
        ("(sea", True), ("50%", True), ("title", True), ("a_b", True), ("   ", False), ("sea\0", True),
    ],
)  # fmt: skip
def test_search_takes_any_words(tmp_path: Path, words: str, is_found: bool) -> None:
    store = Store(tmp_path)
    chat = chat_with(store, "Écris a poem of the sea, 50% a_b", "山川の水", title="My titles")
    hits = store.search(words)
    assert [hit.chat for hit in hits] == ([chat.id] if is_found else [])


def test_a_hit_says_where_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    chat = chat_with(store, "one", "two about the lighthouse keeper")
    (hit,) = store.search("lightho")
    assert hit.message == store.messages(chat.id)[1].id
    assert f"{BEGIN}lighthouse{END} keeper" in hit.excerpt
    assert query_of('say "no') == '"say" """no"*'


def test_a_reply_is_found_when_it_has_ended_and_with_its_last_words_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    chat = chat_with(store, "question")
    one = MessageRecord(store.new_id(), chat.id, None, "assistant", "half", time.time(), "writing")
    store.put(one)
    assert store.search("half") == []
    store.put(replace(one, text="whole", state="over"))
    assert [hit.message for hit in store.search("whole")] == [one.id]
    assert store.search("half") == []
    store.put(replace(one, text="whole and more", state="writing"))
    assert store.search("whole") == []
    store.remove(ChatRecord, chat.id)
    assert store.search("question") == []
    check = "INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)"
    store.connection.execute(check)


def test_what_was_being_written_is_interrupted_after_a_restart_and_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    chat = chat_with(store)
    store.put(MessageRecord(store.new_id(), chat.id, None, "assistant", "so far", time.time(), "writing"))
    store.close()
    again = Store(tmp_path)
    assert [one.state for one in again.messages(chat.id)] == ["interrupted"]
    assert [hit.chat for hit in again.search("so far")] == [chat.id]


def test_the_bin_is_emptied_after_thirty_days_and_is_not_searched(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old, young, kept = (chat_with(store, "word") for _ in range(3))
    store.put(replace(old, binned=time.time() - BIN_SECONDS - 1), replace(young, binned=time.time() - BIN_SECONDS + 99))
    assert [hit.chat for hit in store.search("word")] == [kept.id]
    store.close()
    again = Store(tmp_path)
    assert set(again.chats) == {young.id, kept.id}
    assert again.connection.execute("SELECT count(*) FROM message WHERE chat = ?", (old.id,)).fetchone() == (0,)


def test_nothing_is_written_to_a_chat_that_was_removed(tmp_path: Path) -> None:
    """C15."""
    store = Store(tmp_path)
    chat = chat_with(store, "word")
    store.remove(ChatRecord, chat.id)
    store.put(MessageRecord(store.new_id(), chat.id, None, "assistant", "late", time.time()))
    assert store.connection.execute("SELECT count(*) FROM message").fetchone() == (0,)


def test_ids_rise_and_are_never_the_same(tmp_path: Path) -> None:
    one, other = Ids(), Ids()
    made = [one() for _ in range(5000)]
    assert made == sorted(set(made))
    assert one() < other() + (1 << 40)
    assert max(made) < 2**63


def test_the_file_is_in_wal_mode_and_small_growth_does_not_reach_the_index(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    chat = chat_with(store)
    one = MessageRecord(store.new_id(), chat.id, None, "assistant", "", time.time(), "writing")
    for length in range(20):
        store.put(replace(one, text="word " * length), is_lasting=False)
    with sqlite3.connect(tmp_path / NAME) as other:
        assert other.execute("SELECT text FROM message").fetchall() == [("word " * 19,)]
    other.close()
