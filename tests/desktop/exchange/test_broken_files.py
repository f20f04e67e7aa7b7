"""Files that are cut off, twisted or written by nobody: what can be read of them comes in, the rest does no harm."""

from __future__ import annotations

import copy
import json
import random
import time
import zipfile
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from desktop.exchange.reading import Unknown, chats_in
from desktop.exchange.whole import shown_path
from desktop.exchange.writing import exported, imported, take_in_leftovers
from desktop.history.history import History
from desktop.history.records import LAST_SECOND, ChatRecord, MessageRecord
from desktop.sidebar.sections import Shelf, listed
from desktop.store import Store
from tests.desktop.exchange.test_foreign import chatgpt_export, message, node, text
from tests.desktop.history.library import fill, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtCore import QCoreApplication
    from pytestqt.qtbot import QtBot

    from desktop.exchange.whole import Whole

IMPOSSIBLE = [float("inf"), float("-inf"), float("nan"), 10**400, -(10**400), -1, True, "yesterday", None, []]
DETAILS = {
    "manner": {"sampling": {"temperature": 0.5}, "max_new_tokens": 9, "stop": ["x"], "system": "s"},
    "seed": 7,
    "finished": {
        "reason": {"id": "finish.end", "values": {}},
        "statistics": {"tokens": 5, "seconds": 1.0, "tokens_per_second": 5.0, "ttft": 0.1, "acceptance": 0.5},
        "token_ids": [1, 2],
    },
    "notes": [{"id": "note", "values": {"a": 1}}],
    "thinking_seconds": 1.5,
}


def ours(*chats: dict[str, Any]) -> dict[str, Any]:
    return {"format": "borrador-chats", "version": 1, "chats": list(chats)}


def chat(one: int, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": str(one), "title": f"chat {one}", "created": 1.7e9, "messages": list(messages), **more}


def said(one: int, words: str, parent: int | None = None, **more: Any) -> dict[str, Any]:
    role = "user" if parent is None else "assistant"
    return {"id": str(one), "parent": parent and str(parent), "role": role, "text": words, "created": 1.7e9, **more}


def read(folder: Path, data: Any) -> list[Whole]:
    path = folder / "x.json"
    path.write_text(json.dumps(data))
    return list(chats_in(path))


def bring_in(store: Store, folder: Path, data: Any) -> int:
    path = folder / "x.json"
    path.write_text(json.dumps(data))
    count = max(imported(store, chats_in(path)), default=0)
    store.reload()
    return count


def titles(store: Store) -> dict[str, list[str]]:
    return {one.title: [each.text for each in store.messages(one.id)] for one in store.chats.values()}


@pytest.mark.parametrize("value", IMPOSSIBLE, ids=repr)
def test_a_time_that_there_is_not_keeps_nothing_from_coming_in(tmp_path: Path, value: Any) -> None:
    own = ours(chat(5, said(6, "a", created=value), created=value, changed=value))
    web = {"id": "w", "title": "W", "created_at": value, "updated_at": value, "chat": {
        "timestamp": value, "messages": [{"role": "user", "content": "b", "timestamp": value}]}}  # fmt: skip
    gpt = {"title": "G", "create_time": value, "update_time": value, "mapping": {
        "q": node(None, message("user", text("c"), value))}}  # fmt: skip
    store = Store(tmp_path / "s")
    for data in (own, [web], [gpt]):
        bring_in(store, tmp_path, data)
    assert sorted(words for texts in titles(store).values() for words in texts) == ["a", "b", "c"]
    assert len(listed(store.chats.values(), {}, Shelf.CHATS, (), date.today())) > len(store.chats)
    for one in store.chats.values():
        for at in (one.created, one.changed, *(each.created for each in store.messages(one.id))):
            assert 0 <= at <= LAST_SECOND
    store.close()


@pytest.mark.parametrize("value", [float("nan"), -1, "x", 0, 1e9, True], ids=repr)
def test_a_chat_of_the_bin_comes_into_the_bin_and_is_not_gone_at_the_next_start(tmp_path: Path, value: Any) -> None:
    store = Store(tmp_path / "s")
    bring_in(store, tmp_path, ours(chat(5, said(6, "a"), binned=value)))
    assert store.chats[5].binned is not None
    store.close()
    assert texts_in(Store(tmp_path / "s")) == {6: "a"}


def test_ids_that_come_twice_lose_no_text(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    now = time.time()
    store.put(ChatRecord(70, "here", now, now), MessageRecord(60, 70, None, "user", "mine", now))
    data = ours(
        chat(5, said(6, "A"), said(6, "B"), said(6, "A")),
        chat(7, said(6, "C")),
        chat(5, said(6, "D"), said(8, "E"), title="third"),
        chat(9, said(60, "F")),
        chat(0, said(0, "G")),
    )
    assert bring_in(store, tmp_path, data) == 7
    assert titles(store) == {
        "here": ["mine"], "chat 5": ["A", "B"], "chat 7": ["C"], "third": ["D", "E"], "chat 9": ["F"], "chat 0": ["G"],
    }  # fmt: skip
    assert 0 not in store.chats
    assert bring_in(store, tmp_path, data) == 0
    assert len(store.chats) == 6
    store.close()


def test_messages_of_a_list_with_the_same_id_stay_two(tmp_path: Path) -> None:
    entries = [{"id": "x", "role": "user", "content": "a"}, {"id": "x", "role": "assistant", "content": "b"}]
    (one,) = read(tmp_path, [{"id": "w", "chat": {"messages": entries}}])
    assert [(turn.question, turn.reply.text) for turn in shown_path(one).turns] == [("a", "b")]


def test_a_chat_without_any_time_is_the_same_when_it_comes_again(tmp_path: Path) -> None:
    data = [{"title": "T", "mapping": {"q": node(None, message("user", text("a")))}}]
    store = Store(tmp_path / "s")
    assert bring_in(store, tmp_path, data) == 1
    assert bring_in(store, tmp_path, data) == 0
    (only,) = store.chats.values()
    assert only.created > time.time() - 600
    store.close()


def test_a_message_that_lacks_all_but_its_text_comes_in(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    odd = {"text": "c", "role": "tool", "state": 5, "details": [1], "parent": "x", "created": "x", "id": {}}
    assert bring_in(store, tmp_path, ours(chat(5, said(6, "a"), {"text": "b"}, odd, {"id": "9"}, 7))) == 5  # type: ignore[arg-type]
    assert sorted(filter(None, titles(store)["chat 5"])) == ["a", "b", "c"]  # two empty questions stand before replies
    store.close()


def test_of_a_file_that_is_cut_off_what_stands_before_comes_in(qapp: QCoreApplication, tmp_path: Path) -> None:
    store = Store(tmp_path / "one")
    fill(store, chats=30, turns=5)
    path = tmp_path / "all.json"
    for _ in exported(store, list(store.chats), path):
        pass
    whole = path.read_text()
    gpt = json.dumps(chatgpt_export() * 3)
    assert len(list(chats_in(path))) == 30
    for number, (full, share) in enumerate([(whole, 0.99), (whole, 0.5), (whole, 0.02), (gpt, 0.5)]):
        path.write_text(full[: int(len(full) * share)])
        other = Store(tmp_path / str(number))
        if share == 0.02:
            with pytest.raises(Unknown, match="no_json"):
                chats_in(path)
            continue
        with pytest.raises(Unknown, match="cut"):
            max(imported(other, chats_in(path)))
        other.reload()
        if full is whole:
            assert len(other.chats) == int(30 * share)
            assert texts_in(other).items() <= texts_in(store).items()
        assert other.chats
        other.close()


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_zip_is_a_sentence(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(chatgpt_export()))
    sound = path.read_bytes()
    dice = random.Random(seed)
    outcomes: set[int | str] = set()
    for number in range(120):
        damaged = bytearray(sound)
        for _ in range(dice.choice((1, 3))):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged[: dice.randrange(len(damaged))] if number % 4 == 0 else damaged)
        try:
            outcomes.add(len(list(chats_in(path))))
        except Unknown as error:
            outcomes.add(str(error))
    assert "no_json" in outcomes
    assert outcomes <= {2, "no_json", "none"}


@pytest.mark.parametrize("depth", [40, 300, 900])
@pytest.mark.parametrize(("before", "behind"), [("[", "]"), ('{"parts": [', "]}"), ('{"thoughts": [', "]}")])
def test_parts_in_parts_in_parts(tmp_path: Path, depth: int, before: str, behind: str) -> None:
    path = tmp_path / "x.json"
    inner = before * depth + '"x"' + behind * depth
    fine = '"b": {"message": {"author": {"role": "user"}, "content": {"parts": ["fine"]}}}'
    path.write_text(
        f'[{{"mapping": {{"a": {{"message": {{"author": {{"role": "user"}}, "content": {inner}}}}}, {fine}}}}}]'
    )
    try:
        (one,) = chats_in(path)
    except Unknown as error:
        assert (str(error), depth) == ("no_json", 900)
    else:
        assert "fine" in {each.text for each in one.messages}


def test_rings_and_long_ways_between_messages(tmp_path: Path) -> None:
    count = 3000
    empty: dict[str, Any] = {f"e{n}": node(f"e{n - 1}" if n else "q", None) for n in range(count)}
    leaves = {f"l{n}": node(f"e{count - 1 - n % 7}", message("assistant", text(f"leaf {n}"))) for n in range(50)}
    ring = {f"r{n}": node(f"r{(n + 1) % 5}", message("user", text(f"ring {n}"))) for n in range(5)}
    void = {f"v{n}": node(f"v{(n + 1) % 5}", None) for n in range(5)} | {"w": node("v2", message("user", text("w")))}
    mapping = {"q": node(None, message("user", text("root"), 1.7e9)), **empty, **leaves, **ring, **void}
    (one,) = read(tmp_path, [{"title": "t", "mapping": mapping, "current_node": "l3"}])
    ids = {each.text: each.id for each in one.messages}
    assert {each.parent for each in one.messages if each.text.startswith("leaf")} == {ids["root"]}
    assert len(one.messages) == 1 + 50 + 5 + 1
    assert {each.text: each.parent for each in one.messages}["w"] is None
    assert [(turn.question, turn.reply.text) for turn in shown_path(one).turns] == [("root", "leaf 3")]
    everywhere = {each.id for each in one.messages}
    store = Store(tmp_path / "s")
    max(imported(store, [one]))
    assert everywhere <= texts_in(_reloaded(store)).keys()
    store.close()


def _reloaded(store: Store) -> Store:
    store.reload()
    return store


def paths(data: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within."""
    yield way
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from paths(value, (*way, key))


def changed(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    data = copy.deepcopy(data)
    at = data
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    return data


SAMPLES = {
    "ours": ours(
        chat(5, said(6, "question"), said(7, "answer", 6, details=DETAILS), shown="6", folder="F", settings={"seed": 3})
    ),
    "chatgpt": chatgpt_export(),
    "webui": [{"id": "w", "title": "W", "created_at": 1.7e9, "chat": {"history": {"currentId": "b", "messages": {
        "a": {"parentId": None, "role": "user", "content": "Ask", "timestamp": 1.7e9},
        "b": {"parentId": "a", "role": "assistant", "content": [{"type": "text", "text": "Two"}], "model": "m"}}}}}],
}  # fmt: skip
ODD: list[Any] = [None, True, -1, float("inf"), 10**30, "", "x", "\ud800\0", [], [1], {}, {"a": 1}, [[["x"]]], "<b>\n"]


@pytest.mark.parametrize("name", SAMPLES)
def test_whatever_stands_in_a_place_the_chats_can_be_shown_and_go_out_again(
    qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    sample = SAMPLES[name]
    sound = {each.text for one in read(tmp_path, sample) for each in one.messages}
    ways = [way for way in paths(sample) if way]
    for number, (way, value) in enumerate((way, value) for way in ways for value in ODD):
        if number % 7 != len(name) % 7:  # every value meets every kind of place
            continue
        twisted = changed(sample, way, value)
        try:
            found = read(tmp_path, twisted)
        except Unknown:
            assert len(way) <= 4, (way, value)
            continue
        if name == "ours" and way[-1] not in ("text", "messages") and len(way) > 4:
            assert sound <= {each.text for one in found for each in one.messages}, (way, value)
        store = Store(tmp_path / f"{number}")
        max(imported(store, found), default=0)
        store.reload()
        listed(store.chats.values(), store.folders, Shelf.CHATS, (), date.today())
        history = History(store, iter(range(1, 999)).__next__)
        for one in list(store.chats):
            conversation = history.open(one)
            conversation.ask("More")
            conversation.request()
            history.keep(conversation)
            for ending in ("md", "html", "json"):
                max(exported(store, [one], tmp_path / f"out.{ending}"))
        assert not store.is_behind
        store.close()
        assert Store(tmp_path / f"{number}").trouble is None


@pytest.mark.parametrize("ending", ["md", "html", "pdf", "json"])
def test_a_name_that_is_no_text_goes_out_as_text(qtbot: QtBot, tmp_path: Path, ending: str) -> None:
    store = Store(tmp_path / "s")
    now = time.time()
    details = json.dumps({"model": "m\udcff", "failure": {"id": "error.load", "values": {"detail": "/tmp/\udcff"}}})
    answer = MessageRecord(7, 5, 6, "assistant", "a", now, details=details)
    store.put(ChatRecord(5, "t", now, now), MessageRecord(6, 5, None, "user", "q", now), answer)
    path = tmp_path / f"out.{ending}"
    assert max(exported(store, [5], path)) == 2
    if ending in ("md", "html"):
        assert "m\ufffd" in path.read_text(encoding="utf-8")
    store.close()


def test_what_could_not_be_stored_takes_the_place_of_its_beginning(tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    now = time.time()
    one = ChatRecord(store.new_id(), "before", now, now)
    question = MessageRecord(store.new_id(), one.id, None, "user", "q", now)
    answer = MessageRecord(store.new_id(), one.id, question.id, "assistant", "The beg", now, "writing")
    store.put(one, question, answer)
    later = Store(tmp_path / "other")
    whole = MessageRecord(answer.id, one.id, question.id, "assistant", "The beginning and the end.", now, "over")
    later.put(ChatRecord(one.id, "after", now, now), question, whole)
    for _ in exported(later, [one.id], tmp_path / "data" / "borrador-unsaved-1.json"):
        pass
    assert take_in_leftovers(store, [tmp_path / "data"]) > 0
    store.reload()
    assert titles(store) == {"after": ["q", "The beginning and the end."]}
    assert not list((tmp_path / "data").glob("borrador-unsaved-*"))
    later.close()
    store.close()
