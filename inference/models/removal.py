"""Taking installed models away again, telling what that frees; moving the models folder; checking files by their hash.

What other programs use too goes only after that was named. Nothing is moved or removed half: a move copies, checks,
switches over and only then removes.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from inference.messages import Notice, Problem
from inference.models import contents, convert, gguf_header, places
from inference.models.folders import data_folder, hub_cache, models_folder, nearest_existing, require_space, writable
from inference.models.library import size_of

if TYPE_CHECKING:
    from inference.models.library import Entry
    from inference.models.starter import Progress

BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing an entry does: ``frees`` bytes; ``forgets`` a folder without touching its files.

    ``shared`` names who else would miss the files: the cache of all programs, or the user's own folder.
    """

    frees: int
    shared: str | None = None
    forgets: bool = False


def planned(entry: Entry) -> Removal:
    """What removing this entry would do."""
    if entry.source == "hub":
        return Removal(_hub_frees(entry), str(hub_cache()))
    if entry.source == "folder":
        if entry.folder in places.read().folders and entry.kind == "model":
            return Removal(0, forgets=True)
        return Removal(entry.size, str(entry.folder))
    return Removal(entry.size)


def remove(entry: Entry, shared: bool) -> int:
    """Remove an entry's files, or forget its folder; returns the bytes freed.

    Raises Problem ``error.shared`` for files that others use, unless ``shared`` says that this was agreed to.
    """
    plan = planned(entry)
    if plan.forgets:
        places.forget(entry.folder)
        return 0
    if plan.shared is not None and not shared:
        raise Problem("error.shared", model=entry.name, folder=plan.shared, size_mb=plan.frees / 1e6)
    try:
        if entry.source == "hub":
            _remove_from_hub(entry)
            return plan.frees
        if entry.kind == "gguf":
            _remove_gguf(entry)
            return plan.frees
        # Out of the list first: what is killed half-way must not look like a model that is broken.
        gone = entry.folder.with_name(f".removed-{entry.folder.name}")
        entry.folder.rename(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise Problem(
            "error.permission", folder=str(entry.folder), detail=error.strerror or str(error)
        ) from error
    return plan.frees


def verify(entry: Entry, progress: Progress) -> str:
    """Read every file of an entry and compare it with what is known of it; raises Problem at the first that differs.

    Returns ``hash`` when all large files had a known hash, else ``header``: then only their inner agreement is known,
    and that every weight is a number.
    """
    if entry.problem is not None:
        raise Problem(entry.problem.id, **entry.problem.values)
    known = _known_hashes(entry)
    files = [path for path in sorted(entry.folder.iterdir()) if path.is_file() and path.name != convert.MARKER]
    if entry.kind == "gguf":
        return "header"
    total, done = max(1, sum(path.stat().st_size for path in files)), 0
    for path in files:
        expected = known.get(path.name)
        if expected is None:
            continue
        digest = hashlib.sha256()
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
                done += len(block)
                progress(Notice("download.checking", {"file": path.name}), min(1.0, done / total))
        if digest.hexdigest() != expected:
            raise Problem("error.model_incomplete", model=entry.name, files=path.name)
    weights = contents.weights(entry.folder, entry.name)
    if all(path.name in known for path in weights):
        return "hash"
    from inference.models import conversion

    conversion.require_numbers(entry.folder, entry.name, progress)
    return "header"


def move(target: Path, progress: Progress) -> int:
    """Put the models folder elsewhere, with all that lies in it; returns the bytes moved. Raises Problem."""
    source, target = models_folder(), target.absolute()
    if target == source or source in target.parents:
        raise Problem("error.setting", field="folder", value=str(target), allowed="outside the models folder")
    writable(target)
    if any(target.iterdir()):
        raise Problem("error.setting", field="folder", value=str(target), allowed="empty")
    size = size_of(source) if source.is_dir() else 0
    if size and target.stat().st_dev != nearest_existing(source).stat().st_dev:
        require_space(target, size)
    done = 0
    for path in sorted(source.rglob("*")) if source.is_dir() else []:
        if not path.is_file() or path.suffix == ".lock":
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        progress(Notice("convert.moving", {"file": path.name}), done / max(size, 1))
        try:
            shutil.copy2(path, copy)
        except OSError as error:
            shutil.rmtree(target, ignore_errors=True)
            raise Problem("error.permission", folder=str(target), detail=error.strerror or str(error)) from error
        done += copy.stat().st_size
    if size_of(target) < size - _locks(source):
        raise Problem("error.permission", folder=str(target), detail="the copy is smaller than the original")
    home = data_folder() / "models"
    places.write(replace(places.read(), models=None if target == home else target))
    shutil.rmtree(source, ignore_errors=True)
    return done


def _locks(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.lock")) if folder.is_dir() else 0


def _known_hashes(entry: Entry) -> dict[str, str]:
    """sha256 of files, from the conversion's marker or from the names of the hub's blobs."""
    marked = convert.marker_of(entry.folder).get("sha256")
    if isinstance(marked, dict):
        return {str(name): str(value) for name, value in marked.items()}
    known = {}
    for path in entry.folder.iterdir():
        if path.is_symlink() and len(path.resolve().name) == 64:
            known[path.name] = path.resolve().name
    return known


def _hub_frees(entry: Entry) -> int:
    others = {
        path.resolve() for snapshot in entry.folder.parent.iterdir() if snapshot != entry.folder
        for path in snapshot.rglob("*")
    }
    own = {path.resolve() for path in entry.folder.rglob("*") if path.is_file()}
    return sum(path.stat().st_size for path in own - others)


def _remove_from_hub(entry: Entry) -> None:
    """By the hub's own client: blobs that no other revision uses, the snapshot, and its refs."""
    from huggingface_hub import scan_cache_dir

    assert entry.revision is not None
    scan_cache_dir(hub_cache()).delete_revisions(entry.revision).execute()


def _remove_gguf(entry: Entry) -> None:
    files, _ = gguf_header.parts(Path(entry.model))
    for path in files:
        path.unlink()
