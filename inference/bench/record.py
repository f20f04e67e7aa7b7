"""A comparison as JSON and back, and its runs as CSV. The JSON is the complete record: it can be run again.

Standard library only. What is read is checked; a foreign or damaged file is a Problem.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from inference.bench.comparison import Comparison, Difference, Plan, RoundRecord, Run, Setting
from inference.bench.figures import figures_of
from inference.bench.prompts import Prompt
from inference.messages import Problem
from inference.settings import Message, Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inference.bench.figures import Figures

KIND = "comparison"
VERSION = 1
LARGEST = 1e15
LARGEST_WHOLE = 2**63
"""No number of a record is so large; one that is, is damage."""
ROUND = tuple(one.name for one in fields(RoundRecord))
_of_round = attrgetter(*ROUND)
SHOWN = 60
"""Characters of a damaged value that are told."""


def as_json(comparison: Comparison, figures: Sequence[Figures] | None = None) -> dict[str, Any]:
    """The record: plan, machine, every run with every round, differences, and the figures for those who read it.

    ``figures`` are its own where they are known already: to find them takes a moment.
    """
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
        "figures": [asdict(one) for one in (figures_of(comparison) if figures is None else figures)],
        "differences": [asdict(one) | {"gap": one.gap, "own_gap": one.own_gap} for one in comparison.differences],
        "runs": [_run(run) for run in comparison.runs],
    }


def written(comparison: Comparison, figures: Sequence[Figures] | None = None) -> str:
    """The record as the text of a file: a line for each run, setting and prompt."""
    parts = []
    for name, value in as_json(comparison, figures).items():
        lines = ",\n  ".join(map(_line, value)) if isinstance(value, list) else ""
        parts.append(f"{_line(name)}: [\n  {lines}\n ]" if lines else f"{_line(name)}: {_line(value)}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def from_json(record: Mapping[str, Any]) -> Comparison:
    """The comparison of a record. Raises Problem for one that does not hold what it should."""
    try:
        for name, value in (("kind", KIND), ("version", VERSION)):
            if record[name] != value:
                raise ValueError(_words(name, record[name]))
        plan = Plan(
            settings=_made(tuple[Setting, ...], record["settings"], "settings"),
            prompts=_made(tuple[Prompt, ...], record["prompts"], "prompts"),
            sampling=_made(Sampling, record["sampling"], "sampling"),
            max_new_tokens=_made(int, record["max_new_tokens"], "max_new_tokens"),
            repeats=_made(int, record["repeats"], "repeats"),
            before=_made(tuple[Message, ...], record["before"], "before"),
        )
        found = Comparison(
            plan=plan,
            machine=_made(dict[str, Any], record["machine"], "machine"),
            runs=_made(tuple[Run, ...], record["runs"], "runs"),
            differences=_made(tuple[Difference, ...], record["differences"], "differences"),
            is_whole=_made(bool, record["is_whole"], "is_whole"),
            created=_made(float, record["created"], "created"),
        )
        _go_over(found)
    except KeyError as error:
        raise Problem("compare.foreign", detail=f"{error.args[0]} = –") from None
    except ValueError as error:
        raise Problem("compare.foreign", detail=str(error)) from None
    return found


def read(text: str) -> Comparison:
    """The comparison in the text of a file. Raises Problem."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem("compare.foreign", detail="no JSON") from None
    if not isinstance(record, dict):
        raise Problem("compare.foreign", detail=_short(record))
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


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _run(run: Run) -> dict[str, Any]:
    """As ``asdict`` would, in a small part of its time: there may be some hundred thousand rounds."""
    found = {one.name: getattr(run, one.name) for one in fields(Run)}
    return found | {"rounds": [dict(zip(ROUND, _of_round(one), strict=True)) for one in run.rounds]}


def _go_over(found: Comparison) -> None:
    """Raises ValueError where something names what the plan does not have, or no reply can be asked for so."""
    plan = found.plan
    for setting in plan.settings:
        try:
            _ = setting.speculation
        except Problem as problem:
            raise ValueError(_words("settings", str(problem))) from None
    for prompt in plan.prompts:
        _within("turns", len(prompt.turns) - 1, len(prompt.turns))
    placed: list[Run | Difference] = [*found.runs, *found.differences]
    for one in placed:
        _within("setting", one.setting, len(plan.settings))
        _within("prompt", one.prompt, len(plan.prompts))
        _within("repeat", one.repeat, plan.repeats)
        _within("step", one.step, len(plan.prompts[one.prompt].turns))
    for difference in found.differences:
        _within("reference", difference.reference, len(plan.settings))
        _within("position", difference.position, LARGEST)


def _within(name: str, value: int, end: float) -> None:
    if not 0 <= value < end:
        raise ValueError(_words(name, value))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _made(hint: Any, value: Any, name: str) -> Any:
    """A plain value as what ``hint`` says: dataclasses of objects, tuples of lists. ``name`` is where it stands.

    Names that a dataclass does not know are left out; those that it can do without may be missing. Raises KeyError
    or ValueError.
    """
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, dict):
        return _dataclass(hint, value, name)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return None if value is None else _made(parts[0], value, name)
    if origin is Literal and value in parts:
        return value
    if origin is tuple and isinstance(value, list):
        each = [parts[0]] * len(value) if parts[-1] is Ellipsis else parts
        if len(each) == len(value):
            return tuple(_made(part, one, name) for part, one in zip(each, value, strict=True))
    if origin is dict and isinstance(value, dict):
        return value
    if hint is str and isinstance(value, str):
        return value.encode(errors="replace").decode()  # half of a surrogate pair can be written nowhere
    if hint is bool and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int and is_number and isinstance(value, int) and abs(value) < LARGEST_WHOLE:
        return value
    if hint is float and is_number and abs(value) < LARGEST:  # neither infinite nor no number
        return float(value)
    raise ValueError(_words(name, value))


def _dataclass(kind: type, value: Mapping[str, Any], name: str) -> Any:
    hints = _hints(kind)
    found = {}
    for one in fields(kind):
        if one.name in value:
            found[one.name] = _made(hints[one.name], value[one.name], f"{name}.{one.name}")
        elif one.default is MISSING and one.default_factory is MISSING:
            raise KeyError(f"{name}.{one.name}")
    return kind(**found)


def _words(name: str, value: object) -> str:
    return f"{name} = {_short(value)}"


def _short(value: object) -> str:
    words = repr(value)
    return words if len(words) <= SHOWN else words[:SHOWN] + "…"
