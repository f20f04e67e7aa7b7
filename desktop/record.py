"""How one reply was asked for and what was noted of it, as rows of words. Knows no widgets."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from desktop.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.reply import Manner, Reply

translate = QCoreApplication.translate
LONGEST = 160


def seed_of(reply: Reply) -> int | None:
    """The seed the reply was written with, if it is known."""
    if reply.seed is not None:
        return reply.seed
    return reply.finished.statistics.seed if reply.finished is not None else None


def noted(reply: Reply) -> Iterator[tuple[str, str]]:
    """When it was begun, what went wrong, how often it went on, and what the engine said of it."""
    when = datetime.fromtimestamp(reply.created)
    yield translate("record", "Begun"), when.strftime("%Y-%m-%d %H:%M:%S")
    if reply.failure is not None:
        yield translate("record", "Ended"), sentence(reply.failure)
    elif reply.finished is None and reply.is_interrupted:
        yield translate("record", "Ended"), translate("record", "interrupted")
    if reply.earlier:
        yield translate("record", "Parts written one after the other"), str(len(reply.earlier) + 1)
    for note in reply.notes:
        yield translate("record", "Note"), sentence(note)
    if reply.model and reply.finished is None:
        yield translate("record", "Model"), reply.model


def asked_for(of: Manner, seed: int | None) -> Iterator[tuple[str, str]]:
    """The settings of a reply; of those that are off, none."""
    how = of.sampling
    if seed is not None:
        fixed = translate("record", "{seed}, fixed") if how.seed is not None else translate("record", "{seed}, drawn")
        yield translate("record", "Seed"), fixed.format(seed=seed)
    yield translate("record", "Temperature"), _number(how.temperature)
    for name, value, off in (
        ("Top-k", how.top_k, 0),
        ("Top-p", how.top_p, 1),
        ("Min-p", how.min_p, 0),
        (translate("record", "Repetition penalty"), how.repetition_penalty, 1),
        (translate("record", "Presence penalty"), how.presence_penalty, 0),
        (translate("record", "Frequency penalty"), how.frequency_penalty, 0),
        (translate("record", "Shortest reply, in tokens"), how.min_new_tokens, 0),
    ):
        if value != off:
            yield name, _number(value)
    yield translate("record", "Longest reply, in tokens"), QLocale().toString(of.max_new_tokens)
    if of.stop:
        yield translate("record", "End at"), " · ".join(repr(text) for text in of.stop)
    if how.logit_bias:
        yield (
            translate("record", "Changed odds"),
            " · ".join(f"{text!r}: {_number(bias, '+g')}" for text, bias in how.logit_bias),
        )
    if of.thinking:
        yield translate("record", "Thinking"), of.thinking
    if of.system:
        words = " ".join(of.system.split())
        yield translate("record", "System prompt"), words if len(words) <= LONGEST else words[:LONGEST] + "…"


def _number(value: float, form: str = "g") -> str:
    """A figure as short as it can be, as the language writes it."""
    return f"{value:{form}}".replace(".", QLocale().decimalPoint())
