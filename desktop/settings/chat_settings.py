"""How the replies of one chat are asked for, as JSON and back. What makes no sense is replaced by the usual value."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from inference.events import Problem
from inference.settings import Request, Sampling

MOST_STOPS = 32


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How tokens are chosen, the longest reply in tokens, the texts that end a reply, and how far the model thinks.

    ``thinking`` is one of THINKING in the engine's settings, empty for the template's own way.
    """

    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = 1024
    stop: tuple[str, ...] = ()
    thinking: str = ""

    def __post_init__(self) -> None:
        Request(0, (), self.sampling, self.max_new_tokens, self.stop, self.thinking)  # raises Problem


def as_object(settings: ChatSettings) -> dict[str, Any]:
    """The settings as one flat object, with only what differs from the usual."""
    usual = ChatSettings()
    whole = {**asdict(settings.sampling), **_beside(settings)}
    plain = {**asdict(usual.sampling), **_beside(usual)}
    return {name: value for name, value in whole.items() if value != plain[name]}


def to_text(settings: ChatSettings) -> str:
    """The settings as a line of JSON; never empty, so that it says that a chat has settings of its own."""
    return json.dumps(as_object(settings))


def from_object(known: object) -> ChatSettings:
    """The settings in a JSON object."""
    settings = ChatSettings()
    if not isinstance(known, dict):
        return settings
    for name, value in known.items():
        with suppress(Problem, TypeError, ValueError):
            settings = _with(settings, str(name), value)
    return settings


def from_text(text: str) -> ChatSettings:
    """The settings in a line of JSON."""
    try:
        return from_object(json.loads(text))
    except ValueError:
        return ChatSettings()


def sampling_from(known: dict[str, Any]) -> Sampling:
    """How tokens were chosen, from what JSON holds of it. Raises Problem, TypeError, ValueError."""
    names = {one.name for one in fields(Sampling)}
    given = {name: value for name, value in known.items() if name in names}
    if "logit_bias" in given:
        given["logit_bias"] = tuple((str(text), float(bias)) for text, bias in given["logit_bias"])
    return Sampling(**given)


def _beside(settings: ChatSettings) -> dict[str, Any]:
    return {"max_new_tokens": settings.max_new_tokens, "stop": settings.stop, "thinking": settings.thinking}


def _with(settings: ChatSettings, name: str, value: Any) -> ChatSettings:
    if name == "stop":
        return replace(settings, stop=tuple(str(one) for one in value)[:MOST_STOPS])
    if name == "thinking":
        return replace(settings, thinking=str(value))
    if name == "max_new_tokens":
        return replace(settings, max_new_tokens=value)
    sampling = {**asdict(settings.sampling), name: value}
    return replace(settings, sampling=sampling_from(sampling))
