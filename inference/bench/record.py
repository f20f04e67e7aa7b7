"""A comparison as JSON and back, and its runs as CSV. The JSON is the complete record: it can be run again.

Standard library only. What is read is checked; a foreign or damaged file is a Problem.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

from inference.bench.comparison import Comparison, Difference, Plan, RoundRecord, Run, Setting, Side
from inference.bench.figures import figures_of
from inference.bench.prompts import Prompt
from inference.messages import Problem
from inference.settings import Message, Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "comparison"
VERSION = 1
T = TypeVar("T")


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The record: plan, machine, every run with every round, differences, and the figures for those who read it."""
    plan = comparison.plan
    return {
        "kind": KIND,
        "version": VERSION,
        "created": comparison.created,
        "is_whole": comparison.is_whole,
        "machine": comparison.machine,
        "settings": [{"name": setting.name, **asdict(setting)} for setting in plan.settings],
        "prompts": [asdict(prompt) for prompt in plan.prompts],
        "sampling": asdict(plan.sampling),
        "max_new_tokens": plan.max_new_tokens,
        "repeats": plan.repeats,
        "before": [asdict(message) for message in plan.before],
        "figures": [asdict(figures) for figures in figures_of(comparison)],
        "differences": [asdict(one) | {"gap": one.gap, "own_gap": one.own_gap} for one in comparison.differences],
        "runs": [asdict(run) for run in comparison.runs],
    }


def written(comparison: Comparison) -> str:
    """The record as the text of a file."""
    return json.dumps(as_json(comparison), ensure_ascii=False, indent=1) + "\n"


def from_json(record: Mapping[str, Any]) -> Comparison:
    """The comparison of a record. Raises Problem for one that does not hold what it should."""
    if record.get("kind") != KIND:
        raise Problem("compare.foreign", detail=f"kind {record.get('kind')!r}")
    if record.get("version") != VERSION:
        raise Problem("compare.foreign", detail=f"version {record.get('version')!r}")
    try:
        plan = Plan(
            settings=tuple(_made(Setting, one) for one in record["settings"]),
            prompts=tuple(Prompt(one["group"], tuple(one["turns"])) for one in record["prompts"]),
            sampling=_made(Sampling, {**record["sampling"], "logit_bias": _pairs(record["sampling"])}),
            max_new_tokens=record["max_new_tokens"],
            repeats=record["repeats"],
            before=tuple(_made(Message, one) for one in record["before"]),
        )
        runs = tuple(
            _made(Run, {**one, "rounds": tuple(_made(RoundRecord, each) for each in one["rounds"])})
            for one in record["runs"]
        )
        differences = tuple(
            _made(Difference, {**one, "mine": _made(Side, one["mine"]), "theirs": _made(Side, one["theirs"])})
            for one in record["differences"]
        )
        for run in runs:
            plan.settings[run.setting], plan.prompts[run.prompt].turns[run.step]
        machine = dict(record["machine"])
        whole, created = bool(record["is_whole"]), float(record["created"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Problem("compare.foreign", detail=f"{type(error).__name__}: {error}") from None
    return Comparison(plan, machine, runs, differences, whole, created)


def read(text: str) -> Comparison:
    """The comparison in the text of a file. Raises Problem."""
    try:
        record = json.loads(text)
    except ValueError:
        raise Problem("compare.foreign", detail="it is not JSON") from None
    if not isinstance(record, dict):
        raise Problem("compare.foreign", detail="it is no object")
    return from_json(record)


def as_csv(comparison: Comparison) -> str:
    """One line a run: what a spreadsheet can use. Texts are left to the JSON."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([
        "setting", "prompt", "kind", "repeat", "turn", "seed", "prompt_tokens", "tokens", "seconds", "first_token_s",
        "decode_seconds", "tokens_per_second", "rounds", "drafted", "tested", "accepted", "draft_ms", "verify_ms",
        "memory_bytes", "energy_j", "finish", "identity",
    ])  # fmt: skip
    for run in comparison.runs:
        lines.writerow([
            comparison.plan.settings[run.setting].name, run.prompt + 1, comparison.plan.prompts[run.prompt].group,
            run.repeat + 1, run.step + 1, run.seed, run.prompt_tokens, len(run.token_ids), f"{run.seconds:.4f}",
            f"{run.ttft:.4f}", f"{run.decode_seconds:.4f}", f"{run.rate:.2f}", len(run.rounds),
            sum(one.drafted for one in run.rounds), sum(run.tested_by_depth), sum(run.accepted_by_depth),
            f"{run.draft_ms:.2f}", f"{run.verify_ms:.2f}", run.memory, run.energy, run.finish, run.identity,
        ])  # fmt: skip
    return out.getvalue()


def _pairs(sampling: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple((str(text), float(bias)) for text, bias in sampling.get("logit_bias", ()))


def _made(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass of plain values; lists become tuples, names it does not know are left out."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    known = {name: value for name, value in values.items() if name in names}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})
