"""`twin build|info|remove` in the terminal: make the low-bit copy of a model, show those that are kept, delete them."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from inference import terminal
from inference.events import DraftersChanged, TwinProgress
from inference.messages import Notice, Problem, sentence

if TYPE_CHECKING:
    import argparse

    from inference.quantize.kept import Record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs of ``twin`` and their options; each sets ``run``."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    building = verbs.add_parser("build", help="make the twin of a model and keep it")
    terminal.add_model_arguments(building)
    building.add_argument("--quick", action="store_true", help="nearest levels, in seconds; else with error feedback")
    building.add_argument("--json", action="store_true")
    building.set_defaults(run=_build)
    showing = verbs.add_parser("info", help="the twins that are kept")
    showing.add_argument("--json", action="store_true", help="a list of objects on standard output and nothing else")
    showing.set_defaults(run=_info)
    removing = verbs.add_parser("remove", help="delete kept twins; they can be made again")
    removing.add_argument("--model", help="of this model only, as info names it")
    removing.add_argument("--recipe", help="of this recipe only")
    removing.set_defaults(run=_remove)


def twin(options: argparse.Namespace) -> int:
    """Run a verb; returns the exit status. Raises Problem."""
    status: int = options.run(options)
    return status


def _build(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from inference.models.folders import require_space
    from inference.quantize import kept
    from inference.session import Session

    session = Session()
    choice = replace(terminal.model_choice(options), drafter="twin", twin_later=True)
    terminal.load(session, choice)
    assert session.ready is not None
    maker = session.ready.maker
    if maker is None:
        reason = "drafter.recurrent"
        raise Problem("error.drafter_unavailable", drafter="twin", model=session.ready.loaded.name, reason=reason)
    require_space(kept.folder(), maker.needed_bytes())
    said = (Notice(""), 0)
    cancel = threading.Event()
    try:
        for event in session.make_twin(cancel, quick=options.quick):
            if isinstance(event, TwinProgress):
                if event.notice.id.startswith("error."):
                    raise Problem(event.notice.id, **event.notice.values)
                now = (event.notice, int(10 * event.fraction))
                if now[0].id != said[0].id or now[1] != said[1]:
                    print(sentence(event.notice), file=sys.stderr)
                said = now
            elif isinstance(event, DraftersChanged) and "twin" not in event.drafters:
                raise Problem(
                    "error.drafter_unavailable",
                    drafter="twin",
                    model=session.ready.loaded.name,
                    reason=event.refused["twin"].id,
                )
    except KeyboardInterrupt:
        raise Problem("error.interrupted") from None
    assert maker.record is not None
    resident = session.ready.bits.resident if session.ready.bits else None
    if options.json:
        chosen = None if maker.choice is None else asdict(maker.choice)
        terminal.output({**asdict(maker.record), "resident_bits": resident, "choice": chosen}, None)
    else:
        print("\n".join(_lines(maker.record)))
        if maker.choice is not None:
            print("\n".join(["", *_candidates(maker.record.model, asdict(maker.choice))]))
    return 0


def _info(options: argparse.Namespace) -> int:
    from inference.models import fitting
    from inference.quantize import kept

    found, chosen = kept.records(), fitting.choices()
    if options.json:
        by_source = {one["source"]: one for one in reversed(chosen)}
        listed = [
            {**asdict(record), "file": str(place), "choice": by_source.get(record.source)} for place, record in found
        ]
        print(json.dumps(listed, indent=2))
        return 0
    parts = [_lines(record) for _, record in found] or [[terminal.sentence_of("terminal.twin_none")]]
    parts += [_candidates(one["model"], one) for one in chosen]
    print("\n\n".join("\n".join(lines) for lines in parts))
    return 0


def _remove(options: argparse.Namespace) -> int:
    from inference.quantize import kept

    places = [
        place
        for place, record in kept.records()
        if options.model in (None, record.model) and options.recipe in (None, record.recipe)
    ]
    freed = kept.remove(places)
    print(sentence(Notice("terminal.twin_removed", {"count": len(places), "mb": freed / 1e6})))
    return 0


def _lines(record: Record) -> list[str]:
    values: dict[str, Any] = {
        "model": record.model,
        "recipe": record.recipe,
        "levels": record.level_bits,
        "packed": record.packed_bits,
        "mb": record.bytes / 1e6,
        "seconds": record.build_seconds,
    }
    lines = [sentence(Notice("terminal.twin_info" if record.calibrated else "terminal.twin_info_quick", values))]
    if record.acceptance is not None:
        measured = {"percent": 100 * record.acceptance, "tokens": record.tokens}
        lines.append(sentence(Notice("terminal.twin_acceptance", measured)))
    return lines


def _candidates(model: str, choice: dict[str, Any]) -> list[str]:
    """What a recipe was chosen from, as a table."""
    from inference.bench.tables import table

    rows = [["recipe", "packed", "c", "accepted", "K", "speed", ""]]
    for one in choice["candidates"]:
        says = [word for word, is_so in (
            ("nearest levels", not one["calibrated"]), ("kept", one["is_kept"]), ("too large", not one["fits"]),
        ) if is_so]  # fmt: skip
        rows.append([
            ("* " if one["recipe"] == choice["recipe"] else "  ") + one["recipe"],
            f"{one['packed_bits']:.2f}", f"{one['cost']:.2f}",
            f"{one['acceptance']:.2f} {'measured' if one['is_measured'] else 'expected'}",
            str(one["k"]), f"{one['speed']:.2f}", ", ".join(says),
        ])  # fmt: skip
    id = "terminal.twin_choice_kept" if choice["keeps"] else "terminal.twin_choice"
    return [sentence(Notice(id, {"model": model, "recipe": choice["recipe"]})), *table(rows)]
