"""What goes into the program: frozen settings that check themselves.

Settings of a loaded model (ModelChoice) and of one reply (Request) are apart. Knows nothing of torch or Qt.
"""

from __future__ import annotations

import math
import re
import threading
from dataclasses import dataclass, field
from typing import Literal

from inference.messages import Problem

DRAFTERS = ("none", "twin", "ngram", "small-model", "hybrid", "auto")
RULES = ("coupled", "textbook")
WEIGHTS = ("full", "int8", "nf4", "llm-int8")
"""Of a target: as they are, in 8 bits of ours, or in those of bitsandbytes, for which exact mode is off."""
RECIPES = ("auto", "nf3", "affine3", "mixed3", "nf4", "affine4", "nf2")
"""Of the twin; auto is the one that is quickest end to end on the device."""
LARGEST_K = 8
"""Longest draft offered on screen and on the command line."""

THINKING = ("", "off", "on", "low", "medium", "high")
"""How a model is asked to think before it answers: empty as its template does by itself, switched, or with how much
effort."""

Role = Literal["system", "user", "assistant", "tool"]


def _check(name: str, value: float, low: float, high: float, allowed: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Problem("error.setting", field=name, value=repr(value), allowed=allowed)
    if not low <= value <= high:
        raise Problem("error.setting", field=name, value=value, allowed=allowed)


def _check_whole(name: str, value: int, low: int, high: int, allowed: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Problem("error.setting", field=name, value=repr(value), allowed=allowed)
    _check(name, value, low, high, allowed)


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise Problem("error.setting", field=name, value=repr(value), allowed="one of " + ", ".join(allowed))


def _check_drafter(name: str) -> None:
    if name not in DRAFTERS:
        raise Problem("error.drafter", drafter=name, allowed=", ".join(DRAFTERS))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is chosen from the logits (design D2). Temperature 0 is greedy; seed None is drawn per reply.

    ``logit_bias`` pairs a text, which must be one token of the model, with what is added to its logit;
    ``min_new_tokens`` keeps end tokens back that long.
    """

    temperature: float = 0.7
    top_k: int = 0
    top_p: float = 0.95
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    min_new_tokens: int = 0
    logit_bias: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        _check_whole("min_new_tokens", self.min_new_tokens, 0, 2**24, "a whole number of 0 or more")
        for text, bias in self.logit_bias:
            if not text:
                raise Problem("error.setting", field="logit_bias", value="''", allowed="given for a text")
            _check("logit_bias", bias, -1000, 1000, "between -1000 and 1000")
        _check("temperature", self.temperature, 0, 10, "between 0 and 10")
        _check_whole("top_k", self.top_k, 0, 10**9, "a whole number, 0 for all tokens")
        _check("top_p", self.top_p, 1e-6, 1, "above 0 and at most 1")
        _check("min_p", self.min_p, 0, 1, "between 0 and 1")
        _check("repetition_penalty", self.repetition_penalty, 0.01, 100, "between 0.01 and 100 (1 is none)")
        _check("presence_penalty", self.presence_penalty, -10, 10, "between -10 and 10 (0 is none)")
        _check("frequency_penalty", self.frequency_penalty, -10, 10, "between -10 and 10 (0 is none)")
        if self.seed is not None:
            _check_whole("seed", self.seed, 0, 2**63 - 1, "a whole number of 0 or more")


@dataclass(frozen=True, slots=True)
class Speculation:
    """Whether, by whom and how far drafts go. ``k`` None is automatic; a number drafts exactly that many (0 = plain).

    ``drafter`` None is the one the model was loaded with. ``rule`` coupled promises the text of plain decoding;
    textbook its distribution (design D3). ``other_chats`` lets the n-gram drafter find drafts in the chats before this
    one, as long as the program runs. The rule of a reply is that of its beginning; all else counts from the next
    round on.
    """

    on: bool = True
    k: int | None = None
    rule: str = "coupled"
    drafter: str | None = None
    other_chats: bool = False

    def __post_init__(self) -> None:
        if self.drafter is not None:
            _check_drafter(self.drafter)
        if self.k is not None:
            _check_whole("k", self.k, 0, 64, "auto or a whole number from 0 to 64")
        _check_choice("rule", self.rule, RULES)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What to load and how. ``exact`` None means: where it costs under 5 % (design D8).

    ``drafter`` drafts unless a reply's Speculation names another.

    ``model`` is ``starter``, a folder, or ``owner/name[@revision]``; ``dtype`` is auto, bfloat16, float16 or float32;
    ``device`` is auto, cpu, cuda or cuda:N for card N in PCI order; ``context`` counts tokens. ``draft_model``, named
    like the model, is a smaller one of the same tokenizer for the small-model drafter. ``recipe`` is the twin's; where
    none is kept, it is made in a quick way while loading, or, if ``twin_later``, by ``Session.make_twin``. ``weights``
    are those of WEIGHTS. Without ``fetch``, a model of the hub that is not here is refused instead of fetched.
    """

    model: str = "starter"
    drafter: str = "auto"
    dtype: str = "auto"
    device: str = "auto"
    context: int = 8192
    exact: bool | None = None
    draft_model: str = ""
    recipe: str = "auto"
    twin_later: bool = False
    weights: str = "full"
    fetch: bool = True

    def __post_init__(self) -> None:
        _check_drafter(self.drafter)
        _check_choice("dtype", self.dtype, ("auto", "bfloat16", "float16", "float32"))
        if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,3})?", self.device):
            allowed = "auto, cpu, cuda, or cuda:N for card N"
            raise Problem("error.setting", field="device", value=repr(self.device), allowed=allowed)
        _check_choice("recipe", self.recipe, RECIPES)
        _check_choice("weights", self.weights, WEIGHTS)
        _check_whole("context", self.context, 64, 2**24, "a whole number of at least 64 tokens")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat. ``token_ids`` are those the model wrote, for an answer that was not edited.

    ``tool`` is what a tool answered; where a template knows no such role, it is read as the user's words.
    """

    role: Role
    content: str
    token_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One reply to be written. ``turn`` is the caller's number; every event of this reply carries it.

    ``thinking`` is one of THINKING; a template that does not offer it writes as it does by itself.
    """

    turn: int
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = 1024
    stop: tuple[str, ...] = ()
    thinking: str = ""

    def __post_init__(self) -> None:
        _check_choice("thinking", self.thinking, THINKING)
        _check_whole("max_new_tokens", self.max_new_tokens, 1, 2**24, "a whole number of at least 1")
        if any(not text for text in self.stop):
            raise Problem("error.setting", field="stop", value="''", allowed="a text that is not empty")


class Control:
    """What may change while a reply is written: the caller's thread sets it, the engine reads it at every round.

    ``cancel`` belongs to this request alone. Replacing ``speculation`` is one assignment, so no lock is needed.
    """

    __slots__ = ("cancel", "speculation")

    def __init__(self, speculation: Speculation | None = None) -> None:
        self.cancel = threading.Event()
        self.speculation = speculation or Speculation()
