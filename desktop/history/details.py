"""What is known of a reply, as JSON and back. What cannot be read is left out; a reply never fails for its figures."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

from desktop.reply import Manner
from desktop.settings.chat_settings import sampling_from
from inference.events import Bits, Finished, Notice, Problem, Statistics
from inference.settings import Speculation

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.reply import Reply

T = TypeVar("T")
STATISTICS = frozenset(field.name for field in fields(Statistics))
SPECULATION = frozenset(field.name for field in fields(Speculation))


def details_of(reply: Reply) -> str:
    """Settings, seed, figures and notes of a reply."""
    known: dict[str, Any] = {
        "manner": asdict(reply.manner) if reply.manner else None,
        "seed": reply.seed,
        "finished": _finished(reply.finished),
        "earlier": [_finished(one) for one in reply.earlier],
        "failure": _notice(reply.failure),
        "notes": [_notice(one) for one in reply.notes],
        "model": reply.model,
        "opens_thinking": reply.opens_thinking,
        "thinking_seconds": reply.thinking_seconds,
    }
    return json.dumps({name: value for name, value in known.items() if value not in (None, [], "")})


def fill(reply: Reply, details: str) -> None:
    """Put what is known back into a reply; its text must be there."""
    known = parsed(details)
    if not known:
        return
    reply.manner = _tried(_to_manner, known.get("manner"))
    reply.seed = known["seed"] if isinstance(known.get("seed"), int) else None
    reply.model = known["model"] if isinstance(known.get("model"), str) else ""
    opens, seconds = known.get("opens_thinking"), known.get("thinking_seconds")
    reply.opens_thinking = opens if isinstance(opens, bool) else None
    reply.thinking_seconds = float(seconds) if isinstance(seconds, int | float) else None
    reply.failure = _tried(_to_notice, known.get("failure"))
    notes = (_tried(_to_notice, one) for one in _list(known.get("notes")))
    reply.notes = tuple(one for one in notes if one is not None)
    read = (_tried(_to_finished, {"text": "", **one}) for one in _list(known.get("earlier")) if isinstance(one, dict))
    reply.earlier = tuple(one for one in read if one is not None)
    if isinstance(known.get("finished"), dict):
        reply.finished = _tried(_to_finished, {"text": reply.text, **known["finished"]})


def parsed(details: str) -> dict[str, Any]:
    """The JSON object, or an empty one for anything else."""
    try:
        known = json.loads(details)
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _finished(finished: Finished | None) -> dict[str, Any] | None:
    if finished is None:
        return None
    return {
        "reason": _notice(finished.reason),
        "statistics": asdict(finished.statistics),
        "token_ids": list(finished.token_ids),
    }


def _to_finished(known: dict[str, Any]) -> Finished:
    given: dict[str, Any] = {
        name: tuple(value) if type(value) is list else value
        for name, value in dict(known["statistics"]).items()
        if name in STATISTICS
    }
    if given.get("bits") is not None:
        given["bits"] = Bits(**given["bits"])
    ids = tuple(map(int, known.get("token_ids", ())))
    return Finished(0, known["text"], ids, (), _to_notice(known["reason"]), Statistics(**given))


def _notice(notice: Notice | None) -> dict[str, Any] | None:
    return None if notice is None else {"id": notice.id, "values": dict(notice.values)}


def _to_notice(known: dict[str, Any]) -> Notice:
    return Notice(str(known["id"]), dict(known.get("values", {})))


def _to_manner(known: dict[str, Any]) -> Manner:
    return Manner(
        sampling_from(known["sampling"]),
        int(known["max_new_tokens"]),
        _tried(_to_speculation, known.get("speculation")),
        tuple(str(one) for one in _list(known.get("stop"))),
        str(known.get("thinking", "")),
        str(known.get("system", "")),
    )


def _to_speculation(known: dict[str, Any]) -> Speculation:
    return Speculation(**{name: value for name, value in known.items() if name in SPECULATION})


def _tried(make: Callable[[dict[str, Any]], T], known: Any) -> T | None:
    if not isinstance(known, dict):
        return None
    try:
        return make(known)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, Problem):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
