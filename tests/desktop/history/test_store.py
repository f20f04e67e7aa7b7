"""What is put in comes out, is found by its words, and leaves for ever only when it must."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from desktop.history import details, trees
from desktop.history.copying import of_row, to_record
from desktop.history.finding import BEGIN, END, excerpt, query_of
from desktop.history.opening import NAME
from desktop.history.records import ChatRecord, FolderRecord, Ids, MessageRecord, columns
from desktop.history.trees import record_of
from desktop.plain_text import storable
from desktop.reply import Reply
from desktop.store import BIN_SECONDS, Store
from tests.desktop.history.library import ODD, fill, texts_in

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.history.records import Record


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


@pytest.mark.parametrize("behind", ["", " é", " é" + " filling" * 3000], ids=["ascii", "accented", "long"])
@pytest.mark.parametrize(
    ("text", "words", "hit"),
    [
        ("one Two three", "two", "one [Two] three"),
        ("one two three", "three on", "[one] two [three]"),
        ("the ship and the lighthouse", "the lightho", "[the] ship and [the] [lighthouse]"),
        ("tone stone one", "one", "tone stone [one]"),
        ("one_two two", "two", "one_two [two]"),
        ("oneness one", "one x", "oneness [one]"),
        ("a oneness one", "x one", "a [oneness] [one]"),
        ("1one one1", "one", "1one [one1]"),
        ("one (two)", '"two"', "one ([two])"),
        ("one two", "four", None),
    ],
)
def test_an_excerpt_shows_the_first_hit(text: str, words: str, hit: str | None, behind: str) -> None:
    marked = excerpt(text + behind, words).replace(BEGIN, "[").replace(END, "]")
    assert marked.startswith(hit) if hit else marked == ""


def test_of_several_words_the_longest_is_shown_where_they_stand_far_apart() -> None:
    text = "The ship sailed on. " + "It met another ship. " * 20 + "Then a líghthouse shone."
    assert f"a {BEGIN}líghthouse{END} shone." in excerpt(text, "the lighth")


def test_an_accent_is_no_other_word_in_a_long_text_either() -> None:
    assert excerpt("filling " * 3000 + "Café é", "cafe").endswith(f"{BEGIN}Café{END} é")


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


VALUES = st.one_of(
    st.none(),
    st.integers(-3, 9),
    st.floats(),
    st.sampled_from(["user", "over", "writing", "x", ""]),
    st.binary(max_size=3),
)


@given(st.sampled_from([ChatRecord, MessageRecord, FolderRecord]), st.data())
def test_the_quick_way_to_a_record_leads_to_the_same(kind: type[Record], data: st.DataObject) -> None:
    usual: dict[str, object] = {
        "id": 5, "title": "t", "name": "n", "created": 1.5, "changed": 2.5, "shown": 7, "system": "s", "is_named": 1,
        "is_pinned": 0, "is_archived": 1, "folder": None, "binned": None, "settings": "", "draft": "d", "chat": 3,
        "parent": None, "role": "user", "text": "x", "state": "over", "details": "{}",
    }  # fmt: skip
    names = columns(kind)
    row = [usual[name] for name in names]
    for place in data.draw(st.lists(st.integers(0, len(names) - 1), max_size=2)):
        row[place] = data.draw(VALUES)
    assert of_row(kind, names, tuple(row)) == to_record(kind, dict(zip(names, row, strict=True)))


def test_how_a_reply_came_about_is_read_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = details.fill

    def counted(reply: Reply, known: str) -> None:
        read.append(known)
        whole(reply, known)

    monkeypatch.setattr("desktop.history.trees.fill", counted)
    question = MessageRecord(1, 9, None, "user", "q", 1.0)
    answers = [MessageRecord(2 + n, 9, 1, "assistant", "a", 1.0, details=f'{{"seed": {n}}}') for n in range(3)]
    nodes = trees.nodes_of([question, *answers])
    replies = [node for node in nodes if isinstance(node, Reply)]
    assert read == []
    assert [reply.text for reply in replies] == ["a"] * 3
    assert replies[1].seed == 1
    assert read == ['{"seed": 1}']
    assert replies[1].is_interrupted
    assert (replies[1].notes, replies[1].manner, replies[1].finished) == ((), None, None)
    assert replies[2].copied(7, 8, nodes[0]).seed == 2  # type: ignore[arg-type]
    assert [one for one in nodes if record_of(one, 9).details != "{}"] == replies
    assert len(read) == 3
    with pytest.raises(AttributeError):
        replies[0].nothing  # type: ignore[attr-defined]  # noqa: B018
