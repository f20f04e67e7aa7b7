"""Chats out and in again: nothing changes on the way, whatever is in them."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from desktop.exchange.reading import Unknown, chats_in
from desktop.exchange.whole import Whole, whole
from desktop.exchange.writing import exported, imported
from desktop.history.backup import Copying, is_daily_due, restored, saved
from desktop.history.history import History
from desktop.history.opening import BACKUPS
from desktop.history.records import ChatRecord, FolderRecord, MessageRecord
from desktop.history.trouble import Damaged
from desktop.plain_text import storable
from desktop.store import Store
from tests.desktop.history.library import ODD, fill, texts_in

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QCoreApplication
    from pytestqt.qtbot import QtBot

ANY_TEXT = st.text(st.characters(), max_size=40)  # with lone surrogates and NUL


def run(steps: object) -> int:
    return max(steps, default=0)  # type: ignore[call-overload, no-any-return]


def everything(store: Store) -> list[Whole]:
    return [whole(store, chat) for chat in sorted(store.chats)]


def odd_chat(store: Store) -> int:
    """Versions, a folder, pins, odd characters, a megabyte, details."""
    folder = FolderRecord(store.new_id(), ODD)
    now = time.time()
    first, second, answer, other = (store.new_id() for _ in range(4))
    chat = ChatRecord(
        store.new_id(), ODD, now, now + 1, second, "system " + ODD,
        is_named=True, is_pinned=True, is_archived=True, folder=folder.id, binned=now + 2,
        settings='{"temperature": 0, "stop": ["\\nMe:"]}', draft=ODD,
    )  # fmt: skip
    store.put(
        folder,
        chat,
        MessageRecord(first, chat.id, None, "user", ODD, now),
        MessageRecord(second, chat.id, None, "user", "x" * 1_000_000, now + 1, shown=other),
        MessageRecord(answer, chat.id, second, "assistant", "", now + 2, "interrupted"),
        MessageRecord(other, chat.id, second, "assistant", ODD * 3, now + 3, details='{"seed": 7, "model": "m"}'),
    )
    return chat.id


def test_json_comes_back_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path / "one")
    odd_chat(store)
    fill(store, chats=3)
    path = tmp_path / "all.json"
    assert run(exported(store, list(store.chats), path)) == len(texts_in(store))
    assert json.loads(path.read_text(encoding="ascii"))["format"] == "borrador-chats"
    other = Store(tmp_path / "two")
    assert run(imported(other, chats_in(path))) == len(texts_in(store))
    other.reload()
    before = [replace(one, chat=replace(one.chat, folder=None)) for one in everything(store)]
    after = [replace(one, chat=replace(one.chat, folder=None)) for one in everything(other)]
    assert after == before
    assert run(imported(other, chats_in(path))) == 0
    other.reload()
    assert len(everything(other)) == len(before)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=5), title=ANY_TEXT)
def test_any_text_survives_store_and_json(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], title: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    store = Store(folder)
    now = time.time()
    chat = ChatRecord(store.new_id(), storable(title), now, now)
    ids = [store.new_id() for _ in texts]
    records = (MessageRecord(one, chat.id, None, "user", storable(t), now) for one, t in zip(ids, texts, strict=True))
    store.put(chat, *records)
    run(exported(store, [chat.id], folder / "c.json"))
    other = Store(folder / "other")
    run(imported(other, chats_in(folder / "c.json")))
    other.reload()
    assert [one.text for one in other.messages(chat.id)] == [storable(text) for text in texts]
    assert other.chats[chat.id].title == storable(title)
    for text in texts:
        assert len(storable(text)) <= len(text)
        if not any(0xD800 <= ord(sign) < 0xE000 or sign == "\0" for sign in text):
            assert storable(text) == text
    store.close()
    other.close()


def test_lone_surrogates_in_a_file_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(
        '{"format": "borrador-chats", "version": 1, "chats": [{"id": "5", "title": "\\ud83e x", "created": 1e9,'
        ' "messages": [{"id": "6", "parent": null, "role": "user", "text": "\\ud83d\\ude42 \\udc9f \\u0000",'
        ' "created": 1e9}, {"id": "x"}, 7]}, 3]}'
    )
    store = Store(tmp_path / "s")
    assert run(imported(store, chats_in(path))) == 1
    store.reload()
    assert texts_in(store) == {6: "🙂 \ufffd \ufffd"}
    assert store.chats[5].title == "\ufffd x"


def test_a_chat_that_was_changed_elsewhere_comes_in_beside_the_one_here(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = fill(store, chats=1)
    (chat,) = store.chats
    run(exported(store, [chat], tmp_path / "c.json"))
    path = tmp_path / "c.json"
    path.write_text(path.read_text().replace("user 0 0", "changed 0 0"))
    assert run(imported(store, chats_in(path))) == len(texts)
    store.reload()
    assert len(store.chats) == 2
    assert texts.items() <= texts_in(store).items()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no_json"), (b"{", "no_json"), (b"\xff\xfe", "no_json"), (b"[" * 100_000, "no_json"), (b"[]", "none"),
        (b"7", "none"), (b'{"format": "borrador-chats", "version": 2, "chats": []}', "newer"),
        (b'{"format": "borrador-chats", "version": 1, "chats": 5}', "none"), (b"PK\x03\x04rubbish", "no_json"),
        (b'[{"mapping": 3}]', "none"), (b'[{"chat": {"history": 3, "messages": 4}}]', None),
        (b'[{"mapping": {"a": {"message": {"author": 1, "content": {"parts": [null]}}, "parent": "a"}}}]', None),
    ],
)  # fmt: skip
def test_a_file_of_something_else_is_refused_in_a_sentence(tmp_path: Path, content: bytes, reason: str | None) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    if reason is None:
        assert all(not one.messages for one in chats_in(path))
    else:
        with pytest.raises(Unknown, match=reason):
            chats_in(path)


def test_a_backup_holds_everything_and_brings_back_what_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "one")
    odd = odd_chat(store)
    texts = fill(store, chats=5) | {one.id: one.text for one in store.messages(odd)}
    before = everything(store)
    path = tmp_path / "all.sqlite"
    steps = saved(store, path)
    next(steps)
    late = fill(store, chats=1, turns=1, seed=44)  # what comes while the copy is made is not in it
    run(steps)
    with closing(sqlite3.connect(path)) as copy:
        assert copy.execute("SELECT count(*) FROM message").fetchone() == (len(texts),)
    for chat in list(store.chats)[:3]:
        store.remove(ChatRecord, chat)
    assert run(restored(store, path)) > 0
    store.reload()
    assert texts_in(store) == texts | late
    assert store.search("user 4 2")
    empty = Store(tmp_path / "two")
    assert run(restored(empty, path)) == len(texts)
    empty.reload()
    assert everything(empty) == before
    assert run(restored(empty, path)) == 0
    assert not list(tmp_path.glob("*.part"))


def test_something_else_is_no_backup(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for content in (b"x" * 5000, b""):
        (tmp_path / "x.sqlite").write_bytes(content)
        with pytest.raises(Damaged):
            run(restored(store, tmp_path / "x.sqlite"))
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE message (id)")
    with pytest.raises(Damaged):
        run(restored(store, tmp_path / "other.sqlite"))
    assert (tmp_path / "x.sqlite").read_bytes() == b""


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    fill(store, chats=2)
    (tmp_path / "c.json").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("desktop.exchange.writing.whole", full)
    with pytest.raises(OSError, match="No space"):
        run(exported(store, list(store.chats), tmp_path / "c.json"))
    assert (tmp_path / "c.json").read_text() == "old"
    assert not list(tmp_path.glob("*.part"))


def test_once_a_day_a_copy_is_made_between_other_things(qtbot: QtBot, tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = fill(store, chats=3)
    assert is_daily_due(tmp_path)
    for _ in range(5):
        copying = Copying.daily(store, None)  # type: ignore[arg-type]
        with qtbot.waitSignal(copying.ended, timeout=60_000):
            copying.start()
    kept = sorted((tmp_path / BACKUPS).glob("*"))
    assert len(kept) == 3
    with closing(sqlite3.connect(kept[-1])) as copy:
        assert dict(copy.execute("SELECT id, text FROM message")) == texts
    assert not is_daily_due(tmp_path)


def test_an_imported_chat_with_two_questions_in_a_row_can_be_gone_on_with(
    qapp: QCoreApplication, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    now = time.time()
    chat = ChatRecord(11, "T", now, now)
    rows = [("assistant", "hello"), ("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d")]
    messages = tuple(
        MessageRecord(20 + n, 11, 19 + n if n else None, role, text, now + n)  # type: ignore[arg-type]
        for n, (role, text) in enumerate(rows)
    )
    run(imported(store, [Whole(chat, messages)]))
    store.reload()
    history = History(store, iter(range(1, 99)).__next__)
    for _ in range(2):
        turns = history.open(11).turns
        assert [(t.question, t.reply.text) for t in turns] == [("", "hello"), ("a", ""), ("b", "c"), ("", "d")]
        conversation = history.open(11)
        conversation.ask("e")
        history.keep(conversation)
        conversation = history.open(11)
        assert conversation.turns[-1].question == "e"
        conversation.show_version(conversation.turns[-1], -1, of_question=True)
        store.remove(ChatRecord, 11)
        run(imported(store, [Whole(chat, messages)]))
        store.reload()
    store.close()
