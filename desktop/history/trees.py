"""A conversation as records and back. Damaged or foreign records make a tree as well: nothing in them is left out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from desktop.conversation import Question
from desktop.history.details import details_of, fill
from desktop.history.records import MessageRecord, lasting_id
from desktop.plain_text import storable
from desktop.reply import Reply, in_halves

if TYPE_CHECKING:
    from collections.abc import Iterable

    from desktop.history.records import State


def record_of(node: Question | Reply, chat: int) -> MessageRecord:
    """The row for a message as it is now."""
    shown = node.shown.id if node.shown else None
    if isinstance(node, Question):
        parent = node.parent.id if node.parent else None
        return MessageRecord(node.id, chat, parent, "user", storable(node.text), node.created, "over", shown)
    state: State = "interrupted" if node.is_interrupted else "over" if node.is_over else "writing"
    parent = node.question.id if node.question else None
    details = details_of(node)
    text = storable(node.text)
    return MessageRecord(node.id, chat, parent, "assistant", text, node.created, state, shown, details)


def nodes_of(records: Iterable[MessageRecord]) -> list[Question | Reply]:
    """The linked messages of a chat, parents first.

    A message whose parent is not there, or that would close a ring, becomes a first one. Between two messages of one
    role an empty one of the other is put, always the same one.
    """
    ordered = sorted(records, key=lambda record: (record.created, record.id))
    known = {record.id: record for record in ordered}
    nodes: dict[int, Question | Reply] = {}
    made: list[Question | Reply] = []
    for record in ordered:
        chain: dict[int, MessageRecord] = {}
        above: MessageRecord | None = record
        while above is not None and above.id not in nodes and above.id not in chain:
            chain[above.id] = above
            above = known.get(above.parent) if above.parent is not None else None
        for one in reversed(chain.values()):
            parent = nodes.get(one.parent) if one.parent is not None else None
            between, node = _node(one, parent)
            made += [*between, node]
            nodes[one.id] = node
    for record in ordered:
        _choose(nodes[record.id], nodes.get(record.shown) if record.shown is not None else None)
    return made


def _node(record: MessageRecord, parent: Question | Reply | None) -> tuple[list[Question | Reply], Question | Reply]:
    between: list[Question | Reply] = []
    if record.role == "user":
        if isinstance(parent, Question):
            gap = Reply(0, id=_gap_id(record), created=record.created, question=parent, is_interrupted=True)
            parent.replies.append(gap)
            between.append(gap)
            parent = gap
        question = Question(record.id, record.text, parent, record.created)
        if parent is not None:
            parent.questions.append(question)
        return between, question
    if not isinstance(parent, Question):
        parent_question = Question(_gap_id(record), "", parent, record.created)
        if parent is not None:
            parent.questions.append(parent_question)
        between.append(parent_question)
        parent = parent_question
    reply = Reply(0, record.text, in_halves(record.text), id=record.id, created=record.created, question=parent)
    reply.put_off(partial(_fill, details=record.details))
    parent.replies.append(reply)
    return between, reply


def _fill(reply: Reply, details: str) -> None:
    fill(reply, details)
    reply.is_interrupted = reply.finished is None and reply.failure is None


def _gap_id(record: MessageRecord) -> int:
    return lasting_id(record.created, "gap", str(record.id))


def _choose(node: Question | Reply, shown: Question | Reply | None) -> None:
    if isinstance(node, Question):
        node.shown = shown if isinstance(shown, Reply) and shown.question is node else None
    else:
        node.shown = shown if isinstance(shown, Question) and shown.parent is node else None
