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


_LONG = 8
"""Characters a token; a chat of more is first measured from its end."""
_FIRST_WORDS = 40
"""So many characters name the turn with which the prompt begins."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits. ``left_out`` are the indices of the messages that are not in it.

    The last ``begun`` ids are those of an answer that goes on: the chat's last message, if it is one.
    """

    ids: list[int]
    begun: int = 0
    notes: tuple[Notice, ...] = ()
    left_out: tuple[int, ...] = ()
    opens_thinking: bool = False


def fit(template: ChatTemplate, messages: Sequence[Message], limit: int, reserve: int) -> Fitted:
    """The prompt for as much of the chat as ``limit`` tokens hold, ``reserve`` of them free for the reply.

    Nothing is left out while all fits; else as few of the oldest turns as will do. The newest turn may use the reserve
    up to one token; beyond that it is refused with error.prompt_too_long.
    """
    turns = _turns(messages)
    dropped = 0
    if sum(len(message.content) for message in messages) > limit * _LONG:
        dropped = _estimate(template, messages, turns, limit - reserve)
    encoded = _encode(template, messages, turns[:dropped])
    if dropped == 0 and len(encoded.ids) + reserve > limit:
        dropped = _estimate(template, messages, turns, limit - reserve)
        encoded = _encode(template, messages, turns[:dropped])
    while dropped < len(turns) - 1 and len(encoded.ids) + reserve > limit:
        dropped += 1
        encoded = _encode(template, messages, turns[:dropped])
    while dropped and len((more := _encode(template, messages, turns[: dropped - 1])).ids) + reserve <= limit:
        dropped, encoded = dropped - 1, more
    if len(encoded.ids) >= limit:
        raise Problem("error.prompt_too_long", size=len(encoded.ids), limit=limit)
    notes = encoded.notes
    if dropped:
        first = _beginning(messages, turns[dropped])
        notes = (*notes, Notice("context.begins_at", {"turns": dropped, "limit": limit, "first": first}))
    left_out = tuple(sorted(index for turn in turns[:dropped] for index in turn))
    return Fitted(encoded.ids, encoded.begun, notes, left_out, encoded.opens_thinking)


def _estimate(template: ChatTemplate, messages: Sequence[Message], turns: Sequence[Sequence[int]], room: int) -> int:
    """How many of the oldest turns must go if no answer keeps its own ids.

    Goes from the newest turn back in doubled steps, so the cost follows the context and not the length of the chat.
    """
    plain = [replace(message, token_ids=None) for message in messages]

    def too_long(kept: int) -> bool:
        return len(_encode(template, plain, turns[: len(turns) - kept]).ids) > room

    most = 1
    while most < len(turns) and not too_long(most):
        most *= 2
    fewest = max(most // 2, 1)
    candidates = range(fewest + 1, min(most, len(turns)) + 1)
    return len(turns) - fewest - bisect_left(candidates, True, key=too_long)


def _beginning(messages: Sequence[Message], turn: Sequence[int]) -> str:
    """The first words of a turn, on one line: by them a person finds it in the chat."""
    words = next((" ".join(messages[index].content[:1000].split()) for index in turn if messages[index].content), "")
    return words if len(words) <= _FIRST_WORDS else words[:_FIRST_WORDS].rstrip() + "…"


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
    kept = [message for index, message in enumerate(messages) if index not in gone]
    goes_on = bool(kept) and kept[-1].role == "assistant" and bool(kept[-1].content)
    return template.encode_to_go_on(kept) if goes_on else template.encode(kept)
