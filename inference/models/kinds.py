"""The kinds of jobs: what each takes on its command line and what it does; job.py runs them in a process of their own.

A kind prints progress and returns what its ``done`` event carries. Imports are inside, since a job uses one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from inference.models.starter import Progress

    Run = Callable[[argparse.Namespace, Progress], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """``options`` are argparse's: names, then keywords."""

    run: Run
    options: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = ()


def option(*names: str, **keywords: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """One argument of a kind, as argparse takes it."""
    return names, keywords


def _starter(_: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from inference.models import starter

    return {"folder": str(starter.prepare(progress))}


def _download(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from inference.models import download

    fetched = download.fetch(arguments.repository, arguments.revision, progress)
    return {"folder": str(fetched.folder), "revision": fetched.revision}


KINDS: dict[str, Kind] = {
    "starter": Kind(_starter),
    "download": Kind(_download, (option("repository"), option("--revision"))),
}
