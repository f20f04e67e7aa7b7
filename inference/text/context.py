"""The chat made to fit the context: oldest whole turns are left out, the system prompt and the newest turn stay.

Knows nothing of the engine; sizes are counted in the very ids that will be sent.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    fewest, most = 1, len(turns) - 1
    best: tuple[int, Encoded] | None = None
    while fewest <= most:
        dropped = (fewest + most) // 2
        encoded = template.encode(_without(messages, turns[:dropped]))
        if len(encoded.ids) + reserve <= limit:
            best, most = (dropped, encoded), dropped - 1
        else:
            fewest = dropped + 1
    if best is None:
        best = len(turns) - 1, template.encode(_without(messages, turns[:-1]))
        if len(best[1].ids) >= limit:
            raise Problem("error.prompt_too_long", size=len(best[1].ids), limit=limit)
    dropped, encoded = best
    notes = encoded.notes
    if dropped:
        notes = (*notes, Notice("context.left_out", {"turns": dropped, "limit": limit}))
    left_out = tuple(sorted(index for turn in turns[:dropped] for index in turn))
    return Fitted(encoded.ids, notes, left_out, encoded.opens_thinking)


def _turns(messages: Sequence[Message]) -> list[list[int]]:
    """The indices of each turn: a question and what follows up to the next; system prompts belong to none."""
    turns: list[list[int]] = [[]]
    for index, message in enumerate(messages):
        if message.role == "user" and any(messages[earlier].role == "user" for earlier in turns[-1]):
            turns.append([])
        if message.role != "system":
            turns[-1].append(index)
    return turns


def _without(messages: Sequence[Message], turns: Sequence[Sequence[int]]) -> list[Message]:
    left_out = {index for turn in turns for index in turn}
    return [message for index, message in enumerate(messages) if index not in left_out]
