"""The kinds of jobs: what each takes on its command line and what it does; job.py runs them in a process of their own.

A kind prints progress and returns what its ``done`` event carries. Imports are inside, since a job uses one of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.messages import sentence

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
    from inference.models import hub_token

    hub_token.lend()
    from inference.models import download

    fetched = download.fetch(arguments.repository, arguments.revision, progress, arguments.file)
    file = {"file": str(fetched.file)} if fetched.file else {}
    return {"folder": str(fetched.folder), "revision": fetched.revision, **file}


def _search(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from inference.models import hub_token

    hub_token.lend()
    from inference.models import search

    found = search.search(arguments.words, progress, licence=arguments.licence, largest=arguments.largest)
    return {"models": [search.as_json(one) for one in found]}


def _tested(_: argparse.Namespace, __: Progress) -> dict[str, Any]:
    """The own list with how each model fits this machine, and the one that is recommended for it."""
    from inference.models import reckoning, tested

    there = reckoning.memory()
    gigabytes = there.whole / 2**30
    best = tested.recommended(gigabytes if there.kind == "gpu" else None, gigabytes)
    return {
        "models": [{**tested.as_json(one), "fit": reckoning.fit(one, there)} for one in tested.models()],
        "recommended": best.repository,
        "room": reckoning.room(there),
    }


def _discard(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    from inference.models import download

    return {"freed": download.discard(arguments.repository)}


def _token(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    """Keep, forget or look for the token; a new one comes by standard input, where no process list shows it."""
    from inference.models import hub_token

    if arguments.what == "keep":
        hub_token.write(sys.stdin.readline())
    elif arguments.what == "forget":
        hub_token.remove()
    return {"place": hub_token.place()}


def _library(_: argparse.Namespace, __: Progress) -> dict[str, Any]:
    """What is installed, where it is looked for, and where the program puts what it makes."""
    from inference.models import convert, library, places
    from inference.models.folders import hub_cache, models_folder

    convert.sweep()
    return {
        "models": [library.as_json(entry) for entry in library.installed()],
        "folders": [str(folder) for folder in places.read().folders],
        "models_folder": str(models_folder()),
        "hub_cache": str(hub_cache()),
    }


def _convert(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Import a folder or a GGUF file: remembered where it lies, or converted into the models folder."""
    from pathlib import Path

    from inference.models import convert, library

    source = Path(arguments.path).expanduser()
    folder = convert.bring(source, progress)
    notes = [{"id": note.id, "values": dict(note.values), "text": sentence(note)} for note in convert.notes(source)]
    return {"folder": str(folder), "model": library.as_json(library.find(str(folder))), "notes": notes}


def _remove(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    """Remove an installed model; what others share only with ``--shared``, else ``error.shared`` names it."""
    from inference.models import library, removal

    return {"freed": removal.remove(library.find(arguments.model), arguments.shared)}


def _verify(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    from inference.models import library, removal

    return {"by": removal.verify(library.find(arguments.model), progress)}


def _move(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Put the models folder elsewhere."""
    from pathlib import Path

    from inference.models import removal

    target = Path(arguments.folder).expanduser()
    return {"moved": removal.move(target, progress), "folder": str(target)}


def _trust(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    """What code a model would run; with ``--yes`` it may from now on."""
    from pathlib import Path

    from inference.models import library, safety

    given = Path(arguments.model).expanduser()
    code = safety.needed(given if given.is_dir() else library.find(arguments.model).folder)
    if code is None:
        return {"repository": None}
    if arguments.yes:
        safety.allow(code)
    return {"repository": code.repository, "revision": code.revision, "files": list(code.files)}


def _fit(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    """What an installed model would take of each memory of this machine, and what a card of each size would give."""
    from inference.models import fit, fitting, forecast, library

    shape = fitting.shape_of(library.find(arguments.model))
    plan = fitting.plan(shape, arguments.dtype, arguments.twin, arguments.context)
    return {
        "memories": [
            fit.as_json(fit.fit(shape, plan(memory.kind), memory, arguments.releases)) for memory in fit.memories()
        ],
        "cards": [forecast.as_json(forecast.forecast(shape, card, arguments.context)) for card in forecast.CARDS],
    }


def _fits(arguments: argparse.Namespace, _: Progress) -> dict[str, Any]:
    """What every installed model would take of the memory it would be loaded into."""
    from inference.models import fits

    loading = fits.Loading(arguments.device, arguments.context, arguments.dtype, arguments.twin)
    held = fits.Held(arguments.held, arguments.held_device, arguments.held_twin)
    return {"fits": fits.fits(loading, held)}


KINDS: dict[str, Kind] = {
    "fits": Kind(_fits, (
        option("--device", default="auto"), option("--context", type=int, default=8192),
        option("--dtype", default="auto"), option("--twin", default="auto"), option("--held", default=""),
        option("--held-device", default="cpu"), option("--held-twin", action="store_true"),
    )),
    "fit": Kind(_fit, (
        option("model"), option("--context", type=int, default=8192), option("--dtype", default="auto"),
        option("--twin", default="auto"), option("--releases", type=int, default=0),
    )),
    "convert": Kind(_convert, (option("path"),)),
    "remove": Kind(_remove, (option("model"), option("--shared", action="store_true"))),
    "verify": Kind(_verify, (option("model"),)),
    "move": Kind(_move, (option("folder"),)),
    "trust": Kind(_trust, (option("model"), option("--yes", action="store_true"))),
    "library": Kind(_library),
    "starter": Kind(_starter),
    "download": Kind(_download, (option("repository"), option("--revision"), option("--file"))),
    "search": Kind(
        _search, (option("words"), option("--licence", default="any"), option("--largest", type=int, default=None))
    ),
    "tested": Kind(_tested),
    "discard": Kind(_discard, (option("repository"),)),
    "token": Kind(_token, (option("what", choices=("keep", "forget", "place")),)),
}
