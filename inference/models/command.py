"""`models ...` in the terminal: what is installed, adding, checking, removing, moving, and what fits this machine."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from inference.messages import Notice, Problem, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from inference.models.job import Event, Step
    from inference.models.library import Entry
    from inference.models.starter import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs of ``models`` and their options; each sets ``run``."""
    from inference.models import hub_command

    verbs = parser.add_subparsers(dest="verb", required=True)
    hub_command.add_arguments(verbs)
    listing = verbs.add_parser("list", help="what is installed")
    listing.add_argument("--json", action="store_true", help="a list of objects on standard output and nothing else")
    listing.set_defaults(run=_list)
    adding = verbs.add_parser("add", help="a folder where it lies, or a GGUF file, which is converted once")
    adding.add_argument("path")
    adding.set_defaults(run=_add)
    checking = verbs.add_parser("verify", help="read every file again and compare it with its hash")
    checking.add_argument("model", nargs="*", help="what list shows; without one, all of them")
    checking.set_defaults(run=_verify)
    removing = verbs.add_parser("remove", help="take a model away and say what that frees")
    removing.add_argument("model")
    removing.add_argument("--shared", action="store_true", help="also what other programs use")
    removing.set_defaults(run=_remove)
    fitting = verbs.add_parser("fit", help="what a model takes of this machine's memory, and what cards would give")
    fitting.add_argument("model", help="what list shows")
    fitting.add_argument("--context", type=int, default=8192)
    fitting.add_argument("--dtype", default="auto", help="auto, or a precision: float32, bfloat16, float16, int8, nf4")
    fitting.add_argument("--twin", default="auto", help="auto, none, or a recipe")
    fitting.add_argument("--json", action="store_true")
    fitting.set_defaults(run=_fit)
    trusting = verbs.add_parser("trust", help="look at the code a model brings, and with --yes let it run")
    trusting.add_argument("model")
    trusting.add_argument("--yes", action="store_true")
    trusting.set_defaults(run=_trust)
    moving = verbs.add_parser("move", help="put the models folder elsewhere")
    moving.add_argument("folder")
    moving.set_defaults(run=_move)


def models(options: argparse.Namespace) -> int:
    """Run a verb; returns the exit status. Raises Problem."""
    status: int = options.run(options)
    return status


def finished(steps: Generator[Step, None, Event]) -> Event:
    """Tell a job's steps on standard error, each once; returns what it made. Ctrl+C ends it. Raises Problem."""
    said = ""
    while True:
        try:
            notice, fraction = next(steps)
        except StopIteration as end:
            event: Event = end.value
            return event
        line = sentence(notice)
        if notice.id != said or (sys.stderr.isatty() and fraction is not None):
            print(line, file=sys.stderr)
        said = notice.id


def megabytes(size: int | None) -> str:
    """Bytes for people."""
    if size is None:
        return "?"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _add(options: argparse.Namespace) -> int:
    from inference.models import convert, job

    try:
        done = finished(job.finish(["convert", options.path], threading.Event()))
    finally:
        convert.sweep()  # what a killed one left
    for note in done["notes"]:
        print(note["text"], file=sys.stderr)
    _say("terminal.added", model=done["model"]["name"], folder=done["folder"])
    return 0


def _verify(options: argparse.Namespace) -> int:
    """All of them are looked at; 1 when one is not what it should be."""
    from inference.models import library, removal

    status = 0
    for entry in map(library.find, options.model) if options.model else library.installed():
        try:
            by = removal.verify(entry, _progress())
        except Problem as problem:
            print(problem, file=sys.stderr)
            status = 1
        else:
            _say(f"terminal.verified_{by}", model=entry.model)
    return status


def _remove(options: argparse.Namespace) -> int:
    from inference.models import library, removal

    entry = library.find(options.model)
    forgets = removal.planned(entry).forgets
    freed = removal.remove(entry, options.shared)
    if forgets:
        _say("terminal.forgotten", model=entry.name, folder=str(entry.folder))
    else:
        _say("terminal.removed", model=entry.name, size=megabytes(freed))
    return 0


def _fit(options: argparse.Namespace) -> int:
    """0 when it fits somewhere."""
    from inference.models import fit, fitting, forecast, library

    shape = fitting.shape_of(library.find(options.model))
    chosen = fitting.plan(shape, options.dtype, options.twin, options.context)
    found = [fit.fit(shape, chosen(memory.kind), memory) for memory in fit.memories()]
    cards = [forecast.forecast(shape, card, options.context) for card in forecast.CARDS]
    if options.json:
        told = {"memories": [fit.as_json(one) for one in found], "cards": [forecast.as_json(one) for one in cards]}
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return 0 if any(one.fits for one in found) else 1
    for one in found:
        print(f"{sentence(one.notice)} ({', '.join(f'{name} {megabytes(size)}' for name, size in one.segments)})")
        for notice, _ in one.remedies:
            print(f"    {sentence(notice)}")
    for card in cards:
        print(sentence(card.notice))
    return 0 if any(one.fits for one in found) else 1


def _trust(options: argparse.Namespace) -> int:
    from inference.models import library, safety

    given = Path(options.model).expanduser()
    code = safety.needed(given.resolve() if given.is_dir() else library.find(options.model).folder)
    if code is None:
        _say("terminal.no_code", model=options.model)
        return 0
    files = ", ".join(code.files)
    _say("terminal.code", model=options.model, repository=code.repository, revision=code.revision, files=files)
    if options.yes:
        safety.allow(code)
        _say("terminal.allowed", model=options.model)
    return 0


def _move(options: argparse.Namespace) -> int:
    from inference.models import removal

    target = Path(options.folder).expanduser().absolute()
    moved = removal.move(target, _progress())
    _say("terminal.moved", folder=str(target), size=megabytes(moved))
    return 0


def _progress() -> Progress:
    """Tells each step once on standard error."""
    said = Notice("")

    def progress(notice: Notice, _: float | None) -> None:
        nonlocal said
        if notice != said:
            print(sentence(notice), file=sys.stderr)
        said = notice

    return progress


def _say(id: str, **values: str) -> None:
    print(sentence(Notice(id, values)))


def _list(options: argparse.Namespace) -> int:
    from inference.models import library

    entries = library.installed()
    if options.json:
        print(json.dumps([library.as_json(entry) for entry in entries], ensure_ascii=False, indent=2))
        return 0
    if not entries:
        print(sentence(Notice("terminal.no_models")), file=sys.stderr)
    for entry in entries:
        print(_line(entry))
        if entry.problem is not None:
            print(f"    {sentence(entry.problem)}")
    return 0


def _line(entry: Entry) -> str:
    """One entry in one line: what to call it, then what is known of it."""
    parameters = f"{entry.parameters / 1e9:.2f}B" if entry.parameters else ""
    context = f"context {entry.context}" if entry.context else ""
    known = (entry.architecture, parameters, entry.dtype, megabytes(entry.size), context, entry.licence or "")
    return f"{entry.model}  {', '.join(filter(None, known))}"
