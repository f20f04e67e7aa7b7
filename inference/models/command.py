"""`models ...` in the terminal: what is installed, adding, checking, removing, moving, and what fits this machine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from inference.messages import Notice, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from inference.models.job import Event, Step
    from inference.models.library import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs of ``models`` and their options; each sets ``run``."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="what is installed")
    listing.add_argument("--json", action="store_true", help="a list of objects on standard output and nothing else")
    listing.set_defaults(run=_list)


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
