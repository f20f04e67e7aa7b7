"""Exports of other programs come in with their branches, times and chosen path."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from desktop.exchange.reading import chats_in
from desktop.exchange.whole import shown_path
from desktop.exchange.writing import imported
from desktop.history.details import parsed
from desktop.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def message(role: str, content: Any, at: float | None = None, **metadata: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": content, "create_time": at, "metadata": metadata}


def text(words: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [words]}


def node(parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"parent": parent, "message": message, "children": []}


def chatgpt_export() -> list[dict[str, Any]]:
    picture = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file-service://x"}, "What is this?"]}
    mapping = {
        "root": node(None, None),
        "sys": node("root", message("system", text(""), None)),
        "q1": node("sys", message("user", text("First \ud83e question"), 1_700_000_000.5)),
        "a1": node("q1", message("assistant", text("Answer one"), 1_700_000_001.0, model_slug="gpt-x")),
        "a2": node("q1", message("assistant", text("Answer two"), 1_700_000_002.0)),
        "q2": node("a1", message("user", picture, 1_700_000_003.0)),
        "think": node("q2", message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}, 1.7e9)),
        "call": node("think", message("assistant", {"content_type": "code", "text": "print(1)"}, 1_700_000_004.0)),
        "tool": node("call", message("tool", {"content_type": "execution_output", "text": "1"}, 1_700_000_005.0)),
        "a3": node("tool", message("assistant", text("It is one."), 1_700_000_006.0)),
    }
    return [
        {
            "title": "My <b>chat</b>", "create_time": 1_700_000_000.0, "update_time": 1_700_000_009.0, "id": "c-1",
            "mapping": mapping, "current_node": "a3", "is_archived": True,
        },
        {"title": None, "create_time": None, "mapping": {}, "current_node": None},
    ]  # fmt: skip


def test_chatgpt(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chatgpt_export()))
    one, empty = chats_in(path)
    assert (one.chat.title, one.chat.created, one.chat.changed) == ("My <b>chat</b>", 1_700_000_000.0, 1_700_000_009.0)
    assert one.chat.is_archived
    assert empty.messages == ()
    by_text = {m.text: m for m in one.messages}
    assert by_text["Answer one"].parent == by_text["Answer two"].parent == by_text["First \ufffd question"].id
    assert parsed(by_text["Answer one"].details) == {"model": "gpt-x"}
    turns = [(turn.question, turn.reply.text) for turn in shown_path(one).turns]
    assert turns == [
        ("First \ufffd question", "Answer one"),
        ("[picture]\n\nWhat is this?", "<think>\nhm\n</think>"),
        ("", "print(1)"), ("", "1"), ("", "It is one."),
    ]  # fmt: skip


def test_chatgpt_in_its_zip_comes_in_once(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations.json", json.dumps(chatgpt_export()))
    store = Store(tmp_path / "s")
    first = max(imported(store, chats_in(path)))
    store.reload()
    assert first >= 8
    assert max(imported(store, chats_in(path)), default=0) == 0
    assert [hit.chat for hit in store.search("answer two")]


def test_open_webui(tmp_path: Path) -> None:
    export = [
        {
            "id": "w-1", "title": "Web chat", "created_at": 1_700_000_000, "updated_at": 1_700_000_100, "pinned": True,
            "chat": {
                "title": "Web chat",
                "history": {
                    "currentId": "b2",
                    "messages": {
                        "a": {"id": "a", "parentId": None, "role": "user", "content": "Ask", "timestamp": 1.7e9},
                        "b1": {"id": "b1", "parentId": "a", "role": "assistant", "content": "One", "model": "llama"},
                        "b2": {"id": "b2", "parentId": "a", "role": "assistant", "content": "Two", "model": "llama"},
                        "c": {"id": "c", "parentId": "b1", "role": "user", "files": [{"type": "image"}],
                              "content": [{"type": "text", "text": "More"}]},
                    },
                },
            },
        },
        {"id": "w-2", "title": "Old", "chat": {"messages": [
            {"role": "user", "content": "x", "timestamp": 1_700_000_000_000}, {"role": "assistant", "content": "y"}]}},
    ]  # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export))
    one, old = chats_in(path)
    assert one.chat.is_pinned
    assert [(t.question, t.reply.text) for t in shown_path(one).turns] == [("Ask", "Two")]
    assert {m.text for m in one.messages} == {"Ask", "One", "Two", "More\n\n[picture]"}
    assert [(t.question, t.reply.text) for t in shown_path(old).turns] == [("x", "y")]
    assert old.chat.created == 1_700_000_000.0
