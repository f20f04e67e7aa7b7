"""Messages to text through the tokenizer's own template renderer, bounded in time; errors become problems.

Also what a template can do: whether it knows a system role, and what it writes behind an answer. Knows nothing of ids.
"""

from __future__ import annotations

import copy
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.settings import Message
from inference.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from transformers import PreTrainedTokenizerBase

LONGEST_SECONDS = 5.0
"""A template that renders longer than this is taken to loop for ever."""

PLAIN_STOP = "\nUser:"
"""What a model without a template writes when it goes on with the next question by itself."""

_PLAIN = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content | trim }}"
    "{% else %}{{ message.role | capitalize }}: {{ message.content | trim }}{% endif %}{{ '\n\n' }}"
    "{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
_BLANK_LINE = "\n\n"
_WAYS_TO_THINK: dict[str, dict[str, Any]] = {
    "enable_thinking": {"off": False, "on": True},
    "thinking": {"off": False, "on": True},
    "reasoning_effort": {"low": "low", "medium": "medium", "high": "high"},
}
"""Variables by which templates take how to think, and what they are given for each word of ours."""
_SYSTEM, _QUESTION, _ANSWER, _NEXT, _TOOL = "Sabana", "Pregunta", "Borrador", "Siguiente", "Martillo"


class Renderer:
    """The chat template of one tokenizer, or a plain one where it has none (``missing``)."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, model_name: str) -> None:
        self._tokenizer = tokenizer
        self._model_name = model_name
        self.missing = not tokenizer.chat_template
        self._template: str | None = None
        if self.missing:
            self._template = ("{{ bos_token }}" if _adds_bos(tokenizer) else "") + _PLAIN
        self._endless = False  # one probe that takes its whole time is enough
        self.arguments: dict[str, Any] = {}
        self.has_system_role = self._knows_system()
        self.has_tool_role = self._knows_tool()
        self._ways = self._ways_to_think()

    @property
    def thinking(self) -> tuple[str, ...]:
        """How this template can be asked to think; empty where it knows no such thing."""
        return tuple(self._ways)

    def asking(self, thinking: str) -> Renderer:
        """A renderer that asks for one of ``thinking``."""
        other = copy.copy(self)
        other.arguments = self._ways[thinking]
        return other

    def render(self, messages: Sequence[Message], prompt: bool = True) -> str:
        """The chat as text, with the header of the next answer (``prompt``). Raises Problem."""
        chat = [{"role": message.role, "content": message.content} for message in messages]
        try:
            with _deadline(LONGEST_SECONDS):
                text = self._tokenizer.apply_chat_template(
                    chat,
                    chat_template=self._template,
                    tokenize=False,
                    add_generation_prompt=prompt,
                    **self.arguments,
                )
        except _Endless:
            problem = Problem("error.template_endless", model=self._model_name, seconds=LONGEST_SECONDS)
        except Exception as error:
            detail = (str(error).splitlines() or [type(error).__name__])[0][:200]
            problem = Problem("error.template", model=self._model_name, detail=detail)
        else:
            assert isinstance(text, str)
            return text
        raise problem

    def written(self) -> str:
        """Text that holds what the template writes by itself: its source, and a small chat."""
        source = self._template
        if source is None:
            try:
                source = self._tokenizer.get_chat_template()
            except ValueError:
                source = ""
        return source + (self._probe(Message("user", _QUESTION), Message("assistant", _ANSWER)) or "")

    def behind_answer(self) -> str:
        """What the template writes behind an answer, up to the next question."""
        question, answer = Message("user", _QUESTION), Message("assistant", _ANSWER)
        for chat in ((question, answer, Message("user", _NEXT)), (question, answer)):
            _, found, behind = (self._probe(*chat, prompt=False) or "").rpartition(_ANSWER)
            if found:
                return behind
        return ""

    def answer_lead(self) -> str | None:
        """What the template writes between the prompt for an answer and the answer, once that lies in the past.

        None if the past does not go on from the prompt, as where the prompt opens the thinking.
        """
        question = Message("user", _QUESTION)
        prompt = self._probe(question)
        chat = self._probe(question, Message("assistant", _ANSWER), Message("user", _NEXT), prompt=False) or ""
        before, found, _ = chat.partition(_ANSWER)
        return before[len(prompt) :] if prompt and found and before.startswith(prompt) else None

    def _knows_system(self) -> bool:
        question = Message("user", _QUESTION)
        with_system = self._probe(Message("system", _SYSTEM), question)
        if with_system is not None:
            return _SYSTEM in with_system
        return self._probe(question) is None

    def _knows_tool(self) -> bool:
        chat = (Message("user", _QUESTION), Message("assistant", _ANSWER), Message("tool", _TOOL))
        return not self.missing and _TOOL in (self._probe(*chat) or "")

    def _ways_to_think(self) -> dict[str, dict[str, Any]]:
        """The arguments for each word, of the first variable that changes what the template writes."""
        source = self.written()
        question = Message("user", _QUESTION)
        for name, values in _WAYS_TO_THINK.items():
            if name not in source or self.missing:
                continue
            ways: dict[str, dict[str, Any]] = {word: {name: value} for word, value in values.items()}
            written = set()
            for arguments in ways.values():
                self.arguments = arguments
                written.add(self._probe(question))
            self.arguments = {}
            if len(written) > 1 and None not in written:
                return ways
        return {}

    def _probe(self, *chat: Message, prompt: bool = True) -> str | None:
        if self._endless:
            return None
        try:
            return self.render(chat, prompt)
        except Problem as problem:
            self._endless = problem.notice.id == "error.template_endless"
            return None


def arrange(
    messages: Sequence[Message], has_system_role: bool, has_tool_role: bool = True
) -> tuple[list[Message], bool]:
    """The messages as any template takes them, and whether a system prompt had to move into the first question.

    One system message in front or none, then roles in turn: empty messages go, neighbours of one role become one, with
    a blank line between them. What a tool said becomes the user's words where there is no such role. A merged or
    changed message keeps no token ids.
    """
    system = _BLANK_LINE.join(m.content for m in map(_cleaned, messages) if m.role == "system" and m.content.strip())
    arranged: list[Message] = []
    for message in map(_cleaned, messages):
        if message.role == "system" or (message.role == "assistant" and not message.content.strip()):
            continue
        if message.role == "tool" and not has_tool_role:
            message = replace(message, role="user")
        if arranged and arranged[-1].role == message.role:
            message = Message(message.role, arranged.pop().content + _BLANK_LINE + message.content)
        arranged.append(message)
    if not arranged:
        raise Problem("error.empty_prompt")
    if not system:
        return arranged, False
    if has_system_role:
        return [Message("system", system), *arranged], False
    first = next((index for index, message in enumerate(arranged) if message.role == "user"), None)
    if first is None:
        return arranged, False
    arranged[first] = Message("user", system + _BLANK_LINE + arranged[first].content)
    return arranged, True


def _cleaned(message: Message) -> Message:
    content = clean(message.content)
    return message if content == message.content else replace(message, content=content, token_ids=None)


def _adds_bos(tokenizer: PreTrainedTokenizerBase) -> bool:
    ids: list[int] = tokenizer("x")["input_ids"]
    return bool(ids) and tokenizer.bos_token_id is not None and ids[0] == tokenizer.bos_token_id


class _Endless(Exception):
    """The template did not come to an end in time."""


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Ends the template's code, and only that, at its first line after the time is up."""
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        if time.monotonic() > end:
            raise _Endless
        return watch

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        return watch if frame.f_code.co_filename == "<template>" else None

    outer = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(outer)
