"""A chat to token ids, as the model's own template writes it, with the ids of earlier answers kept as they were.

Text of messages never becomes a control token. Knows nothing of limits (``context``) or of the engine.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inference.messages import Notice
from inference.text.control import ControlTokens, unused
from inference.text.detokenize import continuation, decode, hidden_ids
from inference.text.rendering import PLAIN_STOP, Renderer, arrange
from inference.text.thinking import CLOSING, OPENING, opens_thinking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transformers import PreTrainedTokenizerBase

    from inference.settings import Message
    from inference.text.control import After


_BEFORE = 32
"""Ids that tell how an answer's first token reads behind them."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt: its ids, what a person should know about it, and whether the answer begins as thinking.

    The last ``begun`` ids are those of an answer that goes on.
    """

    ids: list[int]
    begun: int = 0
    notes: tuple[Notice, ...] = ()
    opens_thinking: bool = False


class ChatTemplate:
    """The template of one model; ``model_name`` is for error messages.

    ``stops`` are texts that end a turn where no token does: a model without a template needs one. ``thinking`` are the
    ways in which the template can be asked to think.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, model_name: str) -> None:
        self._tokenizer = tokenizer
        self.renderer = Renderer(tokenizer, model_name)
        self._control = ControlTokens(tokenizer, self.renderer.written())
        self._hidden = hidden_ids(tokenizer)
        self.lead = self.renderer.answer_lead()
        self._asking: dict[str, ChatTemplate] = {}
        self.stops = (PLAIN_STOP,) if self.renderer.missing else ()
        self.thinking = self.renderer.thinking

    def asking(self, thinking: str) -> ChatTemplate:
        """The template asked to think in one of its ways (``thinking``); as it is for any other word."""
        if thinking not in self.thinking:
            return self
        if thinking not in self._asking:
            other = copy.copy(self)
            other.renderer = self.renderer.asking(thinking)
            other.lead = other.renderer.answer_lead()
            self._asking[thinking] = other
        return self._asking[thinking]

    def encode(self, messages: Sequence[Message]) -> Encoded:
        """The ids of the chat and of the header of the next answer.

        They are those of tokenizing the rendered text directly, without adding BOS, except for control strings inside
        messages and for answers that keep their own ids. Raises Problem.
        """
        arranged, merged = arrange(messages, self.renderer.has_system_role, self.renderer.has_tool_role)
        placeholders = self._control.placeholders(message.content for message in arranged)
        marked = [self._mark(message, placeholders) for message in arranged]
        text = self.renderer.render(marked)
        ids, position, after = self._spliced(text, marked, placeholders)
        ids += self._control.encode(text[position:], placeholders, after)
        notes = [Notice("template.missing")] if self.renderer.missing else []
        if merged:
            notes.append(Notice("template.system_merged"))
        return Encoded(ids, 0, tuple(notes), opens_thinking(text))

    def encode_to_go_on(self, messages: Sequence[Message]) -> Encoded:
        """The ids of a chat whose last message is an answer that goes on: up to it, and its own without any end."""
        *before, begun = messages
        prompt = self.encode(before)
        own, _ = self._parts(begun.token_ids or ())
        if decode(self._tokenizer, own) != begun.content:
            own = self._control.encode(begun.content, {}, "text")
            own = [token_id for token_id in own if token_id not in self._hidden]
        return Encoded(prompt.ids + own, len(own), prompt.notes, prompt.opens_thinking)

    def end_of_turn(self) -> int | None:
        """The control token that the template writes directly behind an answer."""
        string = self._control.at(self.renderer.behind_answer().lstrip(), 0)
        return None if string is None else self._control.ids[string]

    def _mark(self, message: Message, placeholders: Mapping[str, str]) -> Message:
        if not placeholders:
            return message
        content = self._control.mark(message.content, placeholders, keep_thinking=message.role == "assistant")
        return replace(message, content=content)

    def _spliced(
        self, text: str, messages: Sequence[Message], placeholders: Mapping[str, str]
    ) -> tuple[list[int], int, After]:
        """Ids up to the end of the last answer that keeps its own, where the text goes on, and behind what."""
        ids: list[int] = []
        position = 0
        after: After = "start"
        for index, start, end in self._places(text, messages):
            if start < position:
                continue
            front = self._control.encode(text[position:start], placeholders, after)
            body, ends = self._parts(messages[index].token_ids or ())
            length = self._length(text[start:end], ids[-_BEFORE:] + front, body, placeholders)
            if length is None:
                continue
            ids += front + body
            position, after = start + length, "text"
            for token_id in ends:
                string = self._control.strings[token_id]
                if not text.startswith(string, position):
                    break
                ids.append(token_id)
                position, after = self._control.past(string, text, position), "control"
        return ids, position, after

    def _places(self, text: str, messages: Sequence[Message]) -> list[tuple[int, int, int]]:
        """The index of each answer that brings ids, where its prompt ends in the text, and where it ends itself.

        The answers' places show when the chat is rendered once more with a slot for each of them.
        """
        answers = [index for index, message in enumerate(messages) if message.role == "assistant" and message.token_ids]
        if not answers or self.lead is None:
            return []
        slot = next(character for character in unused(text))
        holed = list(messages)
        for index in answers:
            holed[index] = replace(messages[index], content=slot)
        first, *others = self.renderer.render(holed).split(slot)
        places: list[tuple[int, int, int]] = []
        position = len(first)
        if len(others) != len(answers) or not text.startswith(first):
            return []
        for index, behind in zip(answers, others, strict=True):
            content = messages[index].content
            end = position + len(content)
            if not text.startswith(content + behind, position):
                end = text.find(behind, position) if behind else -1
            if end < 0:
                break
            if text.endswith(self.lead, 0, position):
                places.append((index, position - len(self.lead), end))
            position = end + len(behind)
        return places

    def _parts(self, token_ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """An answer's ids without the control tokens at its end, and these."""
        end = len(token_ids)
        while end and token_ids[end - 1] in self._control.strings:
            end -= 1
        return list(token_ids[:end]), list(token_ids[end:])

    def _length(self, text: str, before: list[int], body: list[int], placeholders: Mapping[str, str]) -> int | None:
        """How many characters of the answer's text the ids stand for; None if it says something else."""
        tags = {self._control.ids.get(tag) for tag in (OPENING, CLOSING)}
        if not body or any(token_id in self._control.strings and token_id not in tags for token_id in body):
            return None
        for answer in (continuation(self._tokenizer, self._hidden, before, body), decode(self._tokenizer, body)):
            if not self._control.within(answer) <= {OPENING, CLOSING, *placeholders}:
                continue
            marked = self._control.mark(answer, placeholders, keep_thinking=True)
            if marked and text.startswith(marked):
                return len(marked)
        return None


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
