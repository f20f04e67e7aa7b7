"""Runs a saved comparison again and lays old and new side by side: the same text or not, and figures then and now."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from inference.bench.comparison import Compared, Comparison, RunBegan
from inference.bench.figures import figures_of
from inference.bench.record import as_json
from inference.bench.report import first_difference
from inference.bench.running import compare
from inference.bench.tables import number, say, table
from inference.messages import Problem
from inference.settings import ModelChoice

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference.bench.figures import Figures
    from inference.session import Session

KIND = "comparison-replay"


def choice_of(comparison: Comparison) -> ModelChoice:
    """What to load to run a comparison again. Raises Problem when its record does not say."""
    try:
        model = comparison.machine["model"]
        drafters = [setting.drafter for setting in comparison.plan.settings if setting.on]
        dtype, _, weights = model["dtype"].partition(", ")  # few-bit weights stand behind the precision
        return ModelChoice(
            model=model["choice"],
            drafter="twin" if {"twin", "hybrid", "auto"} & set(drafters) else next(iter(drafters), "none"),
            dtype=dtype,
            device=comparison.machine["device"],
            context=model["context"],
            weights=weights or "full",
            recipe=model.get("recipe") or "auto",  # records of earlier versions name none
            draft_model=str(model.get("draft_model") or ""),
        )
    except KeyError as error:
        raise Problem("compare.foreign", detail=f"machine.{error.args[0]} = –") from None
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise Problem("compare.foreign", detail=f"machine: {error}") from None


def replayed(
    session: Session, then: Comparison, load: Callable[[ModelChoice], object], heard: Callable[[int, int], None]
) -> dict[str, Any]:
    """Load what the comparison ran on, run its plan again, and compare. ``heard(done, total)`` counts runs.

    Raises Problem.
    """
    if not then.runs:
        raise Problem("compare.foreign", detail="runs = []")
    load(choice_of(then))
    now = _run(session, then, heard)
    different, identities = [], {}
    for run in now.runs:
        old = next((one for one in then.runs if _place(one) == _place(run)), None)
        name = then.plan.settings[run.setting].name
        if old is None:
            continue
        identities[name] = {"contender": name, "before": old.identity, "now": run.identity}
        position = first_difference(old.token_ids, run.token_ids)
        if position is not None:
            place = {"prompt": run.prompt, "turn": run.step, "repeat": run.repeat, "position": position}
            different.append({"contender": name, **place})
    known = {_place(run) for run in then.runs}
    replies = sum(_place(run) in known for run in now.runs)
    names = [setting.name for setting in then.plan.settings]
    return {
        "kind": KIND,
        "machine": now.machine,
        "model_hash": {side: one.machine["model"].get("sha256") for side, one in (("before", then), ("now", now))},
        "replies": replies,
        "identical": replies - len(different),
        "identities": list(identities.values()),
        "different": different,
        "figures": [
            {"contender": name, "before": _short(old), "now": _short(new)}
            for name, old, new in zip(names, figures_of(then), figures_of(now), strict=True)
        ],
        "comparison": as_json(now),
    }


def lines(record: dict[str, Any]) -> list[str]:
    """What a replay found, for people."""
    found = [say("bench.replay", identical=record["identical"], replies=record["replies"])]
    hashes = record["model_hash"]
    if hashes["before"] and hashes["before"] != hashes["now"]:
        found.append(say("bench.other_model"))
    found += [say("bench.other_identity", **one) for one in record["identities"] if one["before"] != one["now"]]
    for at in record["different"]:
        place = {"prompt": at["prompt"] + 1, "turn": at["turn"] + 1, "position": at["position"] + 1}
        found.append(say("bench.different_then", contender=at["contender"], **place))
    rows = [["then / now", "tokens/s", "first token s", "tokens/round", "accepted", "same text"]]
    for one in record["figures"]:
        before, now = one["before"], one["now"]
        rows.append(
            [
                one["contender"],
                *(
                    f"{number(before[name], digits)} / {number(now[name], digits)}"
                    for name, digits in (("rate", 1), ("ttft", 2), ("tokens_per_round", 2), ("acceptance", 3))
                ),
                f"{before['identical']} / {now['identical']} of {now['prompts']}",
            ]
        )
    return [*found, "", *table(rows)]


def _run(session: Session, then: Comparison, heard: Callable[[int, int], None]) -> Comparison:
    for event in compare(session, then.plan, threading.Event()):
        if isinstance(event, RunBegan):
            heard(event.number - 1, event.total)
        elif isinstance(event, Compared):
            if event.failure is not None:
                raise Problem(event.failure.id, **event.failure.values)
            return event.comparison
    raise Problem("error.unexpected", detail="the comparison ended without an end")


def _place(run: Any) -> tuple[int, int, int, int]:
    return run.setting, run.prompt, run.repeat, run.step


def _short(figures: Figures) -> dict[str, Any]:
    """Those figures of a setting that a replay lays side by side."""
    return {
        "rate": figures.rate.median if figures.rate else None,
        "ttft": figures.ttft.median if figures.ttft else None,
        "tokens_per_round": figures.tokens_per_round,
        "acceptance": figures.acceptance,
        "identical": figures.sameness.identical,
        "prompts": figures.sameness.prompts,
    }
