"""About how many tokens a message and the chat before it take. The window has no tokenizer: it says "about"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.conversation import Conversation

BYTES_A_TOKEN = 3.8
LEAST_KNOWN = 200
"""Of a chat of fewer bytes nothing is learned: the template's own tokens weigh too much."""
A_TURN = 8
"""Tokens that a template puts around a message."""


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of the chat so far and of the message; of ``context`` so many are kept free for the reply."""

    chat: int
    message: int
    context: int
    reserve: int

    @property
    def whole(self) -> int:
        """Both together."""
        return self.chat + self.message

    @property
    def is_too_long(self) -> bool:
        """Whether the message alone is more than the model can read."""
        return self.message >= self.context

    @property
    def leaves_out(self) -> bool:
        """Whether older turns will not be read."""
        return self.chat > 0 and self.whole + self.reserve > self.context


def counted_text(conversation: Conversation, message: str) -> str:
    """What the engine has to count: of a chat with replies the message alone, else the system prompt, too."""
    return message if conversation.turns else conversation.system + message


def count(
    conversation: Conversation, message: str, context: int, max_new_tokens: int, known: int | None = None
) -> Count:
    """Learns from the newest reply how many bytes a token has, and what the chat before it takes.

    ``known`` is what the engine counted for `counted_text`.
    """
    rate = BYTES_A_TOKEN
    so_far = len(conversation.system.encode()) / rate + A_TURN if conversation.system.strip() else 0.0
    turns = conversation.turns
    texts = [text for turn in turns for text in (turn.question, turn.reply.text)]
    finished = turns[-1].reply.finished if turns else None
    if finished is not None and finished.statistics.prompt_tokens:
        taken = finished.statistics.prompt_tokens + finished.statistics.tokens
        size = sum(len(text.encode("utf-8", "replace")) for text in (*texts, conversation.system))
        if size > LEAST_KNOWN and not any(note.id.startswith("context.") for note in turns[-1].reply.notes):
            rate = size / taken
        so_far = taken
    elif texts:
        so_far += sum(len(text.encode("utf-8", "replace")) for text in texts) / rate + A_TURN * len(texts)
    if known is not None and message:
        so_far = so_far if turns else 0.0
        return Count(round(so_far), known + A_TURN, context, min(max_new_tokens, context // 4))
    own = len(message.encode("utf-8", "replace")) / rate + A_TURN if message else 0.0
    return Count(round(so_far), round(own), context, min(max_new_tokens, context // 4))
