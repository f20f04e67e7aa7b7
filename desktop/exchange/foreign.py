"""Chats of ChatGPT and Open WebUI exports. Their branches, times and chosen path come along; pictures become a word.

Formats as those programs wrote them in 2023 to 2026: ChatGPT's conversations.json, alone or in its zip; Open WebUI's
list of chats with `history.messages`, or in its older form with `messages` alone.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.exchange.whole import Whole
from desktop.history.records import LAST_SECOND, ChatRecord, MessageRecord, lasting_id
from desktop.plain_text import storable

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = "[picture]"
DEEPEST = 50
"""Parts of a message that lie deeper in each other were written by no program."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A message as the other program knows it."""

    id: str
    parent: str | None
    role: str
    text: str
    created: float | None
    model: str


def chatgpt(data: Any) -> Iterator[Whole]:
    """The chats of a ChatGPT export."""
    for one in data if isinstance(data, list) else [data]:
        if not isinstance(one, dict) or not isinstance(one.get("mapping"), dict):
            continue
        nodes = [_chatgpt_node(name, entry) for name, entry in one["mapping"].items() if isinstance(entry, dict)]
        created = _time(one.get("create_time")) or 0.0
        name = _word(one.get("conversation_id")) or _word(one.get("id")) or _word(one.get("title")) or str(created)
        yield _whole(
            name, one.get("title"), created, _time(one.get("update_time")), nodes, one.get("current_node"),
            is_archived=bool(one.get("is_archived")), is_pinned=bool(one.get("is_starred")),
        )  # fmt: skip


def open_webui(data: Any) -> Iterator[Whole]:
    """The chats of an Open WebUI export."""
    for one in data if isinstance(data, list) else [data]:
        chat = one.get("chat") if isinstance(one, dict) else None
        if not isinstance(chat, dict):
            continue
        history = chat.get("history")
        messages = history.get("messages") if isinstance(history, dict) else None
        current = history.get("currentId") if isinstance(history, dict) else None
        if isinstance(messages, dict) and messages:
            nodes = [_webui_node(name, entry) for name, entry in messages.items() if isinstance(entry, dict)]
        else:
            nodes = _in_a_row(chat.get("messages"))
            current = nodes[-1].id if nodes else None
        created = _time(one.get("created_at")) or _time(chat.get("timestamp")) or 0.0
        title = one.get("title") or chat.get("title")
        name = _word(one.get("id")) or _word(title) or str(created)
        yield _whole(
            name, title, created, _time(one.get("updated_at")), nodes, current,
            is_archived=bool(one.get("archived")), is_pinned=bool(one.get("pinned")),
        )  # fmt: skip


def _whole(
    name: str,
    title: Any,
    created: float,
    changed: float | None,
    nodes: list[_Node],
    current: Any,
    *,
    is_archived: bool,
    is_pinned: bool,
) -> Whole:
    known = {node.id: node for node in nodes}
    kept = {node.id: node for node in nodes if node.role in ("user", "assistant", "tool") and node.text.strip()}
    system = next((node.text for node in nodes if node.role == "system" and node.text.strip()), "")
    times = [node.created for node in kept.values() if node.created]
    known_since = created or min(times, default=0.0)
    ids = {node.id: lasting_id(node.created or known_since, name, node.id) for node in kept.values()}
    chat_id = lasting_id(known_since, name)
    created = known_since or time.time()
    skipped: dict[str, str | None] = {}
    parents = {node.id: _kept_parent(node, known, kept, skipped) for node in kept.values()}
    shown, first = _path(current, known, kept, parents)
    messages = [
        MessageRecord(
            ids[node.id],
            chat_id,
            ids[parents[node.id]] if parents[node.id] is not None else None,  # type: ignore[index]
            "user" if node.role == "user" else "assistant",
            node.text,
            node.created or created,
            "over",
            ids.get(shown.get(node.id, "")),
            json.dumps({"model": node.model} if node.model else {}),
        )
        for node in kept.values()
    ]
    changed = changed or max(times, default=created)
    words = storable(title) if isinstance(title, str) else ""
    chat = ChatRecord(
        chat_id, " ".join(words.split()), created, changed, ids.get(first or ""), system,
        is_named=bool(words.strip()), is_pinned=is_pinned, is_archived=is_archived,
    )  # fmt: skip
    return Whole(chat, tuple(messages))


def _kept_parent(
    node: _Node, known: dict[str, _Node], kept: dict[str, _Node], skipped: dict[str, str | None]
) -> str | None:
    """The nearest message above that comes along; ``skipped`` notes it for those between."""
    seen = {node.id}
    above = node.parent
    while above is not None and above in known and above not in seen and above not in kept and above not in skipped:
        seen.add(above)
        above = known[above].parent
    found = skipped.get(above) if above is not None and above in skipped else above if above in kept else None
    found = None if found == node.id else found
    skipped.update((one, found) for one in seen if one not in kept)
    return found


def _path(
    current: Any, known: dict[str, _Node], kept: dict[str, _Node], parents: dict[str, str | None]
) -> tuple[dict[str, str], str | None]:
    """Which message follows which on the page, and the first one."""
    below = current if isinstance(current, str) and current in known else None
    if below is not None and below not in kept:
        below = _kept_parent(known[below], known, kept, {})
    shown: dict[str, str] = {}
    seen: set[str] = set()
    while below is not None and below not in seen:
        seen.add(below)
        above = parents[below]
        if above is None:
            return shown, below
        shown[above] = below
        below = above
    return shown, None


def _chatgpt_node(name: str, entry: dict[str, Any]) -> _Node:
    message = entry.get("message")
    parent = entry.get("parent") if isinstance(entry.get("parent"), str) else None
    if not isinstance(message, dict):
        return _Node(name, parent, "", "", None, "")
    author = message.get("author")
    meta = message.get("metadata")
    role = _word(author.get("role")) if isinstance(author, dict) else ""
    model = _word(meta.get("model_slug")) if isinstance(meta, dict) else ""
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, dict) else None
    is_hidden = kind in ("model_editable_context", "user_editable_context", "reasoning_recap")
    return _Node(name, parent, role, "" if is_hidden else _words(content), _time(message.get("create_time")), model)


def _webui_node(name: str, entry: dict[str, Any]) -> _Node:
    parent = entry.get("parentId") if isinstance(entry.get("parentId"), str) else None
    words = _words(entry.get("content"))
    if entry.get("files"):
        words = f"{words}\n\n{PICTURE}".strip()
    return _Node(
        name, parent, _word(entry.get("role")), words, _time(entry.get("timestamp")), _word(entry.get("model"))
    )


def _in_a_row(messages: Any) -> list[_Node]:
    nodes: list[_Node] = []
    names: set[str] = set()
    for number, entry in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(entry, dict):
            name = _word(entry.get("id")) or str(number)
            name = f"{name}#{number}" if name in names else name
            names.add(name)
            node = _webui_node(name, entry)
            before = nodes[-1].id if nodes else None
            nodes.append(_Node(node.id, before, node.role, node.text, node.created, node.model))
    return nodes


def _words(content: Any, depth: int = 0) -> str:
    """The text of a message; parts that are no text become a word."""
    if isinstance(content, str):
        return storable(content)
    if isinstance(content, list):
        inner = (_words(part, depth + 1) for part in content if depth < DEEPEST)
        return "\n\n".join(filter(None, inner))
    if not isinstance(content, dict):
        return ""
    if "parts" in content:
        return _words(content["parts"], depth + 1) if depth < DEEPEST else ""
    if "asset_pointer" in content or content.get("type") in ("image_url", "image"):
        return PICTURE
    if isinstance(content.get("thoughts"), list):
        words = _words(content["thoughts"], depth)
        return f"<think>\n{words}\n</think>" if words else ""
    words = next((content[name] for name in ("text", "content", "result") if isinstance(content.get(name), str)), "")
    return storable(words)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _time(value: Any) -> float | None:
    """Seconds since 1970; some exports count milliseconds or nanoseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e20:
        return None  # NaN and infinity among them
    while value > 1e11:
        value /= 1000
    return min(float(value), LAST_SECOND)
