"""`models search` and `models pull` in the terminal; both run the job that the window would run."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.models.command import finished, megabytes
from inference.models.source import HUB_NAME

if TYPE_CHECKING:
    import argparse


def add_arguments(verbs: Any) -> None:
    """The two verbs and their options; each sets ``run``."""
    search = verbs.add_parser("search", help="look for models on the hub; without words, the list that was chosen here")
    search.add_argument("words", nargs="*")
    search.add_argument("--licence", default="any", help="any, free (every use is allowed), or a name such as mit")
    search.add_argument("--largest", type=float, metavar="GB", help="weights of at most so many GB")
    search.add_argument("--json", action="store_true", help="a list of objects on standard output and nothing else")
    search.set_defaults(run=_search)
    pull = verbs.add_parser("pull", help="fetch a model of the hub; what an earlier try left is taken up")
    pull.add_argument("model", help="owner/name[@revision]")
    pull.add_argument("--file", help="of a repository of GGUF files, the one to fetch and convert")
    pull.add_argument("--json", action="store_true", help="one object on standard output and nothing else")
    pull.set_defaults(run=_pull)


def _search(options: argparse.Namespace) -> int:
    from inference.models import job

    words = " ".join(options.words)
    if words:
        largest = ["--largest", str(round(options.largest * 1e9))] if options.largest else []
        arguments = ["search", words, "--licence", options.licence, *largest]
    else:
        arguments = ["tested"]
    models = finished(job.finish(arguments, threading.Event()))["models"]
    if options.json:
        print(json.dumps(models, ensure_ascii=False, indent=2))
        return 0
    for one in models:
        print(_line(one))
    return 0 if models else 1


def _pull(options: argparse.Namespace) -> int:
    from inference.models import job

    match = HUB_NAME.fullmatch(options.model)
    if match is None:
        raise Problem("error.model_not_found", model=options.model)
    revision = ["--revision", match["revision"]] if match["revision"] else []
    file = ["--file", options.file] if options.file else []
    done = finished(job.finish(["download", match["repository"], *revision, *file], threading.Event()))
    if "file" in done:
        done |= finished(job.finish(["convert", done["file"]], threading.Event()))
    if options.json:
        print(json.dumps({name: value for name, value in done.items() if name != "event"}, ensure_ascii=False))
    else:
        print(Path(done["folder"]))
    return 0


def _line(one: dict[str, Any]) -> str:
    parameters = f"{one['parameters'] / 1e9:.2f}B" if one["parameters"] else ""
    size = megabytes(one["size"]) if one["size"] else ""
    form = "GGUF" if one.get("form") == "gguf" else ""
    known = (parameters, size, one["licence"], form, "gated" if one["gated"] else "", "tested" if one["tested"] else "")
    return f"{one['repository']}  {', '.join(filter(None, known))}"
