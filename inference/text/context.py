"""The chat made to fit the context: oldest whole turns are left out, the system prompt and the newest turn stay.

Knows nothing of the engine; sizes are counted in the very ids that will be sent.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inference.messages import Notice, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.settings import Message
    from inference.text.template import ChatTemplate, Encoded


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits. ``left_out`` are the indices of the messages that are not in it."""

    ids: list[int]
    notes: tuple[Notice, ...] = ()
    left_out: tuple[int, ...] = ()
    opens_thinking: bool = False


def fit(template: ChatTemplate, messages: Sequence[Message], limit: int, reserve: int) -> Fitted:
    """The prompt for as much of the chat as ``limit`` tokens hold, ``reserve`` of them free for the reply.

    Nothing is left out while all fits; else as few of the oldest turns as will do. The newest turn may use the reserve
    up to one token; beyond that it is refused with error.prompt_too_long.
    """
    encoded = template.encode(messages)
    if len(encoded.ids) + reserve <= limit:
        return Fitted(encoded.ids, encoded.notes, (), encoded.opens_thinking)
    turns = _turns(messages)
    last = len(turns) - 1
    dropped = _estimate(template, messages, turns, limit - reserve)
    while dropped < last and len(_encode(template, messages, turns[:dropped]).ids) + reserve > limit:
        dropped += 1
    while dropped > 1 and len(_encode(template, messages, turns[: dropped - 1]).ids) + reserve <= limit:
        dropped -= 1
    encoded = _encode(template, messages, turns[:dropped])
    if len(encoded.ids) >= limit:
        raise Problem("error.prompt_too_long", size=len(encoded.ids), limit=limit)
    notes = encoded.notes
    if dropped:
        notes = (*notes, Notice("context.left_out", {"turns": dropped, "limit": limit}))
    left_out = tuple(sorted(index for turn in turns[:dropped] for index in turn))
    return Fitted(encoded.ids, notes, left_out, encoded.opens_thinking)


def _estimate(template: ChatTemplate, messages: Sequence[Message], turns: Sequence[Sequence[int]], room: int) -> int:
    """How many turns must go, at most all but the newest, if no answer keeps its own ids: a few renderings tell."""
    plain = [replace(message, token_ids=None) for message in messages]
    return bisect_left(
        range(len(turns) - 1), True, key=lambda dropped: len(_encode(template, plain, turns[:dropped]).ids) <= room
    )


def _turns(messages: Sequence[Message]) -> list[list[int]]:
    """The indices of each turn: a question and what follows up to the next; system prompts belong to none."""
    turns: list[list[int]] = [[]]
    for index, message in enumerate(messages):
        if message.role == "user" and any(messages[earlier].role == "user" for earlier in turns[-1]):
            turns.append([])
        if message.role != "system":
            turns[-1].append(index)
    return turns


def _encode(template: ChatTemplate, messages: Sequence[Message], left_out: Sequence[Sequence[int]]) -> Encoded:
    gone = {index for turn in left_out for index in turn}
    return template.encode([message for index, message in enumerate(messages) if index not in gone])
