"""Import: what the user gives (a folder, a GGUF file, pickled weights) becomes something that is installed.

A folder in transformers' format is remembered where it lies. The rest is converted once into the models folder, by a
child process that may be killed at any moment: it works in a folder of its own, which the next one clears away.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inference.messages import Notice, Problem
from inference.models import contents, gguf_header, gguf_set, places
from inference.models.folders import models_folder, require_models_folder, require_space, writable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.models.starter import Progress

MARKER = "borrador.json"
FORMAT = 1
"""Raised when the conversion changes, so that older copies are made anew."""
WORK = ".import"
JOINED = 0.2
"""How far the whole is when the parts of a set are one file."""
OVERHEAD = 1.3
"""Memory of a conversion: the converted weights and some tensors at full precision."""


def bring(path: Path, progress: Progress) -> Path:
    """Make ``path`` installed; returns the folder (or remembers it). Raises Problem with the way out."""
    try:
        # A file keeps its name: in the shared cache it is a link to one that is called by its hash.
        path = path.parent.resolve(strict=True) / path.name if path.is_file() else path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise Problem("error.model_not_found", model=str(path)) from error
    if path.is_file():
        if path.suffix.lower() != ".gguf" and not _is_gguf(path):
            raise Problem("error.not_a_model", model=path.name, detail="it is neither a folder nor a GGUF file")
        return from_gguf(path, progress)
    if not (path / contents.CONFIG).is_file():
        files = sorted(entry for entry in path.iterdir() if entry.suffix.lower() == ".gguf")
        firsts = list(dict.fromkeys(gguf_header.parts(file)[0][0] for file in files))
        if len(firsts) == 1:
            return from_gguf(firsts[0], progress)
        if firsts:
            raise Problem("error.choose_file", model=path.name, files=", ".join(file.name for file in firsts[:3]))
    try:
        contents.check(path, path.name)
    except Problem as problem:
        if problem.notice.id != "error.model_unsafe":
            raise
        return from_pickles(path, progress)
    places.add(path)
    return path


def from_gguf(path: Path, progress: Progress) -> Path:
    """The converted folder of a GGUF file, or of the set that it is a part of, made if it is not there yet."""
    files, missing = gguf_header.parts(path)
    if missing:
        raise Problem("error.gguf_parts", model=path.name, files=gguf_header.listed(missing))
    if gguf_header.OTHER_PART.fullmatch(path.name):
        raise Problem("error.gguf_parts", model=path.name, files="the file they were cut from")
    path, name = files[0], gguf_set.name(files[0])
    header = gguf_set.read(files)
    if (done := converted(path)) is not None:
        return done
    progress(Notice("convert.reading", {"model": path.name}), None)
    from inference.models import conversion

    conversion.check(path, header)
    needed = conversion.bytes_needed(header)
    require_memory(path.name, int(needed * OVERHEAD))
    joined = sum(file.stat().st_size for file in files) if len(files) > 1 else 0
    with _work(path, needed + joined, progress) as work:
        one, made, converting = path, work / "made", progress
        made.mkdir()
        if joined:
            (work / "joined").mkdir()
            one = work / "joined" / f"{name}.gguf"
            gguf_set.join(files, one, _between(progress, 0, JOINED))
            converting = _between(progress, JOINED, 1)
        conversion.convert(one, made, converting)
        licence = header.values.get("general.license")
        return _finish(path, made, _free_name(name), converting, str(licence) if licence else None)


def from_pickles(folder: Path, progress: Progress) -> Path:
    """The converted folder of a folder with pickled weights, made if it is not there yet."""
    if (done := converted(folder)) is not None:
        return done
    from inference.models import conversion

    contents.check_config(folder, folder.name)
    with _work(folder, sum(file.stat().st_size for file in folder.glob("*.bin")), progress) as work:
        conversion.unpickle(folder, work, progress)
        return _finish(folder, work, _free_name(folder.name), progress, None)


def converted(source: Path) -> Path | None:
    """The whole folder that was made of this very file or folder before, None when there is none."""
    identity = _identity(source)
    for marker in models_folder().glob(f"*/{MARKER}"):
        kept = marker_of(marker.parent)
        if kept.get("identity") == identity and kept.get("format") == FORMAT and is_whole(marker.parent):
            return marker.parent
    return None


def notes(source: Path) -> tuple[Notice, ...]:
    """What the user should know of an import that worked."""
    from inference.models import gguf_tokenizer

    if not source.is_file():
        return ()
    header = gguf_header.read(gguf_header.parts(source)[0][0])
    if gguf_tokenizer.is_sure(header):
        return ()
    rule = str(header.values.get("tokenizer.ggml.pre", "none"))
    return (Notice("convert.tokenizer_unsure", {"rule": rule}),)


def is_whole(folder: Path) -> bool:
    """Whether a converted folder has all its files, by their sizes."""
    files = marker_of(folder).get("files")
    try:
        return isinstance(files, dict) and all((folder / name).stat().st_size == size for name, size in files.items())
    except OSError:
        return False


def marker_of(folder: Path) -> dict[str, object]:
    """What was written down when the folder was made; empty for a folder that was not made here."""
    try:
        kept = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def sweep() -> int:
    """Clear away what killed conversions left; returns the bytes freed. A conversion that is running keeps its own."""
    from filelock import FileLock, Timeout

    from inference.models.library import size_of

    freed = 0
    for work in (models_folder() / WORK).glob("*/"):
        lock = FileLock(work.with_suffix(".lock"))
        try:
            with lock.acquire(timeout=0):
                freed += size_of(work)
                shutil.rmtree(work, ignore_errors=True)
        except Timeout:
            continue
        except OSError:  # not ours to write
            continue
    return freed


def require_memory(name: str, needed: int) -> None:
    """Refuse with figures what this machine's memory cannot hold."""
    import psutil

    free = psutil.virtual_memory().available
    if needed > free:
        raise Problem("error.convert_memory", model=name, needed_gb=needed / 1e9, free_gb=free / 1e9)


@contextmanager
def _work(source: Path, needed: int, progress: Progress) -> Iterator[Path]:
    """An empty folder to work in, held by a lock that the system frees with the process."""
    from filelock import FileLock, Timeout

    root = writable(require_models_folder() / WORK)
    key = hashlib.sha256(str(source).encode()).hexdigest()[:16]
    lock = FileLock(root / f"{key}.lock")
    while True:
        try:
            lock.acquire(timeout=1)
            break
        except Timeout:
            progress(Notice("convert.elsewhere", {"model": source.name}), None)
    work = root / key
    try:
        shutil.rmtree(work, ignore_errors=True)
        sweep()
        require_space(root, needed)
        work.mkdir()
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        lock.release()


def _finish(source: Path, work: Path, name: str, progress: Progress, licence: str | None) -> Path:
    """Check what was made, mark it as whole and put it in its place."""
    from inference.models import conversion

    contents.check(work, source.name)
    conversion.require_numbers(work, source.name, progress)
    files = {path.name: path.stat().st_size for path in sorted(work.iterdir())}
    hashes = {name: _hash(work / name) for name in files}
    marker = {
        "format": FORMAT, "identity": _identity(source), "source": str(source), "licence": licence, "files": files,
        "sha256": hashes,
    }
    (work / MARKER).write_text(json.dumps(marker, indent=1), encoding="utf-8")
    place = models_folder() / name
    work.rename(place)
    return place


def _identity(source: Path) -> str:
    """A source by its place and state; reading gigabytes to hash them would take longer than is worth it."""
    paths = gguf_header.parts(source)[0] if source.is_file() else sorted(source.glob("*.bin"))
    states = [f"{path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
    return hashlib.sha256("\n".join(states).encode()).hexdigest()


def _between(progress: Progress, begin: float, end: float) -> Progress:
    """Progress of a part of the work, as progress of the whole."""
    return lambda notice, done: progress(notice, None if done is None else begin + (end - begin) * done)


def _free_name(name: str) -> str:
    name = re.sub(r"[^\w.+ -]", "-", name).strip(". ") or "model"
    taken = {path.name.lower() for path in models_folder().iterdir()} if models_folder().is_dir() else set()
    candidates = [name, *(f"{name}-{number}" for number in range(2, 1000))]
    return next(candidate for candidate in candidates if candidate.lower() not in taken)


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"
