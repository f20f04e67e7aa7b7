"""A chat to token ids, as the model's own template writes it, with the ids of earlier answers kept as they were.

Text of messages never becomes a control token. Knows nothing of limits (``context``) or of the engine.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from inference.messages import Notice
from inference.text.control import ControlTokens
from inference.text.detokenize import continuation, decode
from inference.text.rendering import PLAIN_STOP, Renderer, arrange
from inference.text.thinking import CLOSING, OPENING, opens_thinking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transformers import PreTrainedTokenizerBase

    from inference.settings import Message
    from inference.text.control import After


_PASTS = 4
"""Renderings remembered: of the chat in use whole and without its oldest turns, and of the one before."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt: its ids, what a person should know about it, and whether the answer begins as thinking."""

    ids: list[int]
    notes: tuple[Notice, ...] = ()
    opens_thinking: bool = False


@dataclass(frozen=True, slots=True)
class _Past:
    """A chat rendered before; ``prompts`` says how much of the text was the prompt for each answer."""

    messages: Sequence[Message]
    text: str
    prompts: Mapping[int, int]


class ChatTemplate:
    """The template of one model; ``model_name`` is for error messages.

    ``stops`` are texts that end a turn where no token does: a model without a template needs one.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, model_name: str) -> None:
        self._tokenizer = tokenizer
        self._renderer = Renderer(tokenizer, model_name)
        self._control = ControlTokens(tokenizer, self._renderer.written())
        self._pasts: deque[_Past] = deque(maxlen=_PASTS)
        self.stops = (PLAIN_STOP,) if self._renderer.missing else ()

    def encode(self, messages: Sequence[Message]) -> Encoded:
        """The ids of the chat and of the header of the next answer.

        They are those of tokenizing the rendered text directly, without adding BOS, except for control strings inside
        messages and for answers that keep their own ids. Raises Problem.
        """
        arranged, merged = arrange(messages, self._renderer.has_system_role)
        placeholders = self._control.placeholders(message.content for message in arranged)
        marked = [self._mark(message, placeholders) for message in arranged]
        text = self._renderer.render(marked)
        ids, position, after = self._spliced(text, marked, placeholders)
        ids += self._control.encode(text[position:], placeholders, after)
        notes = [Notice("template.missing")] if self._renderer.missing else []
        if merged:
            notes.append(Notice("template.system_merged"))
        return Encoded(ids, tuple(notes), opens_thinking(text))

    def end_of_turn(self) -> int | None:
        """The control token that the template writes directly behind an answer."""
        string = self._control.at(self._renderer.behind_answer().lstrip(), 0)
        return None if string is None else self._control.ids[string]

    def _mark(self, message: Message, placeholders: Mapping[str, str]) -> Message:
        if not placeholders:
            return message
        content = self._control.mark(message.content, placeholders, keep_thinking=message.role == "assistant")
        return type(message)(message.role, content, message.token_ids)

    def _spliced(
        self, text: str, messages: Sequence[Message], placeholders: Mapping[str, str]
    ) -> tuple[list[int], int, After]:
        """Ids up to the end of the last answer that keeps its own, where the text goes on, and behind what."""
        ids: list[int] = []
        position = 0
        after: After = "start"
        for index, start in self._prompts(text, messages).items():
            front = ids + self._control.encode(text[position:start], placeholders, after)
            body, ends = self._parts(messages[index].token_ids or ())
            length = self._length(text, start, front, body, placeholders)
            if length is None:
                continue
            ids, position, after = front + body, start + length, "text"
            for token_id in ends:
                string = self._control.strings[token_id]
                if not text.startswith(string, position):
                    break
                ids, position, after = [*ids, token_id], self._control.past(string, text, position), "control"
        return ids, position, after

    def _prompts(self, text: str, messages: Sequence[Message]) -> dict[int, int]:
        """How much of the text was the prompt for each answer that brings ids, by the answer's index.

        Ends at the first whose prompt the template writes differently now: nothing cached goes on from there. What is
        known from an earlier turn is not rendered again, or a long chat would take the square of its length.
        """
        past = max(self._pasts, key=lambda past: _common(past.messages, messages), default=_Past((), "", {}))
        same = _common(past.messages, messages)
        prompts: dict[int, int] = {}
        for index, message in enumerate(messages):
            if message.role != "assistant" or not message.token_ids:
                continue
            length = past.prompts.get(index, 0) if index <= same else 0
            prompt = past.text[:length] or self._renderer.render(messages[:index])
            if not text.startswith(prompt) and length:
                prompt = self._renderer.render(messages[:index])
            if not text.startswith(prompt):
                break
            prompts[index] = len(prompt)
        self._pasts.append(_Past(messages, text, {**prompts, len(messages): len(text)}))
        return prompts

    def _parts(self, token_ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """An answer's ids without the control tokens at its end, and these."""
        end = len(token_ids)
        while end and token_ids[end - 1] in self._control.strings:
            end -= 1
        return list(token_ids[:end]), list(token_ids[end:])

    def _length(
        self, text: str, start: int, front: list[int], body: list[int], placeholders: Mapping[str, str]
    ) -> int | None:
        """How many characters of the text at ``start`` the ids stand for; None if the text says something else."""
        tags = {self._control.ids.get(tag) for tag in (OPENING, CLOSING)}
        if not body or any(token_id in self._control.strings and token_id not in tags for token_id in body):
            return None
        for answer in (continuation(self._tokenizer, front, body), decode(self._tokenizer, body)):
            marked = self._control.mark(answer, placeholders, keep_thinking=True)
            if marked and text.startswith(marked, start):
                return len(marked)
        return None


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages two chats share from the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def end_token_ids(
    tokenizer: PreTrainedTokenizerBase, config: object, generation_config: object, template: ChatTemplate
) -> frozenset[int]:
    """Every token that ends a reply: of the tokenizer, of both configs (one id, a list or none), of the template."""
    sources = [tokenizer.eos_token_id, template.end_of_turn()]
    sources += [getattr(source, "eos_token_id", None) for source in (config, generation_config)]
    sources.append(getattr(getattr(config, "text_config", None), "eos_token_id", None))
    ends: set[int] = set()
    for source in sources:
        ends.update(source if isinstance(source, list | tuple) else [] if source is None else [source])
    return frozenset(ends)
