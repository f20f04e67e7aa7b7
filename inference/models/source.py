"""From what the user calls a model (``starter``, a folder, ``owner/name[@revision]``) to a folder that can be loaded.

What is already here is used as it lies, without any connection; what is not is fetched by a job. Loads nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inference.messages import Problem
from inference.models import contents, convert, job, starter
from inference.models.folders import hub_cache

if TYPE_CHECKING:
    import threading
    from collections.abc import Generator

STARTER = "starter"
HUB_NAME = re.compile(r"(?P<repository>[\w][\w.-]*/[\w][\w.-]*)(?:@(?P<revision>[^@\s]+))?", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Located:
    """A model that is here and whole. ``revision`` is the commit, for a model of the hub."""

    folder: Path
    name: str
    revision: str | None = None


def locate(model: str, cancel: threading.Event, fetch: bool = True) -> Generator[job.Step, None, Located]:
    """Find a model, or fetch it unless ``fetch`` is False: yields progress, returns where it is.

    Raises a Problem that says what to do; ``error.cancelled`` when ``cancel`` was set.
    """
    if model == STARTER:
        if not starter.is_ready():
            yield from job.finish([STARTER], cancel)
        return Located(starter.folder(), starter.NAME)
    if not model.strip():
        raise Problem("error.model_not_found", model="''")
    path = Path(model).expanduser()
    if path.is_dir():
        path = path.resolve()
        contents.check(path, path.name)
        return Located(path, path.name)
    if path.is_file():
        if path.suffix.lower() != ".gguf":
            raise Problem("error.not_a_model", model=path.name, detail="it is a file, not a folder")
        folder = convert.converted(path.resolve())
        if folder is None:
            try:
                imported = yield from job.finish(["convert", str(path)], cancel)
            finally:
                convert.sweep()  # what a killed one left
            folder = Path(imported["folder"])
        contents.check(folder, path.name)
        return Located(folder, folder.name)
    match = HUB_NAME.fullmatch(model)
    if not match:
        raise Problem("error.model_not_found", model=model)
    repository, revision = match["repository"], match["revision"]
    here = cached(repository, revision)
    if here is not None:
        return here
    if not fetch:
        raise Problem("error.not_installed", model=model)
    arguments = ["download", repository, *(["--revision", revision] if revision else [])]
    done = yield from job.finish(arguments, cancel)
    folder = Path(done["folder"])
    contents.check(folder, repository)
    return Located(folder, repository, done["revision"])


def cached(repository: str, revision: str | None) -> Located | None:
    """A whole copy in the shared cache, found without the hub; None when there is none, or only part of one.

    Weights are linked last (download.fetch), so a snapshot with whole weights has its other files too.
    """
    storage = hub_cache() / ("models--" + repository.replace("/", "--"))
    commit = revision or "main"
    if not COMMIT.fullmatch(commit):
        try:
            commit = (storage / "refs" / commit).read_text(encoding="utf-8").strip()
        except OSError:
            return None
    folder = storage / "snapshots" / commit
    if not (folder / contents.CONFIG).is_file():
        return None
    contents.check_config(folder, repository)
    try:
        contents.check(folder, repository)
    except Problem:
        return None
    return Located(folder, repository, commit)
