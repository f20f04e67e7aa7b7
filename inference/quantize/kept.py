"""Twins on disk: one safetensors file each in the user's data, found by their target's weights, recipe and format.

Written to a temporary name, synced and renamed, so a file is whole or not there; one that is damaged or not ours is set
aside. Knows nothing of how a twin is made or run.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import psutil
import torch

from inference import weights
from inference.messages import Problem
from inference.models import headers
from inference.models.folders import data_folder, require_space, writable
from inference.quantize.pack import Packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FORMAT = 1
"""Raised when packing, levels or calibration change, so that older twins are made anew."""

HEADER_BYTES = 1_000_000
"""More than the names of a twin's tensors take."""

PART, DAMAGED = ".part", ".damaged"


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a kept twin. ``source`` is the hash of the target's weights.

    ``acceptance`` is the share of ``tokens`` of the target's own texts that the twin proposes too; None unmeasured.
    """

    model: str
    source: str
    recipe: str
    calibrated: bool
    level_bits: float
    packed_bits: float
    bytes: int
    build_seconds: float
    acceptance: float | None = None
    tokens: int = 0
    sha256: str = ""


def folder() -> Path:
    """Where twins are kept; not created here."""
    return data_folder() / "twins"


def file_of(source: str, recipe: str, *, calibrated: bool) -> Path:
    """The file of a twin, be it there or not."""
    return folder() / f"{source[:16]}-{recipe}-{'calibrated' if calibrated else 'quick'}-{FORMAT}.safetensors"


def source_of(model: Path) -> str:
    """The SHA-256 of a model's safetensors files; kept, as long as their sizes and times are the same."""
    files = sorted(model.glob("*.safetensors"))
    state = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    notes = folder() / "sources.json"
    try:
        known = json.loads(notes.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if not isinstance(known, dict):
        known = {}
    key = str(model.absolute())
    entry = known.get(key)
    if isinstance(entry, dict) and entry.get("state") == state and isinstance(entry.get("hash"), str):
        return str(entry["hash"])
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(1 << 22):
                digest.update(block)
    found = digest.hexdigest()
    try:
        folder().mkdir(parents=True, exist_ok=True)
        part = notes.with_name(f"{notes.name}.{os.getpid()}{PART}")
        part.write_text(json.dumps({**known, key: {"state": state, "hash": found}}), encoding="utf-8")
        part.replace(notes)
    except OSError:
        return found  # it is counted again next time
    return found


def save(matrices: Mapping[str, Packed], record: Record) -> Path:
    """Keep a twin. Raises Problem when the disk has no room or may not be written; nothing is left behind then."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    place = file_of(record.source, record.recipe, calibrated=record.calibrated)
    writable(folder())
    _clear_parts()
    require_space(folder(), record.bytes + HEADER_BYTES)
    tensors: dict[str, torch.Tensor] = {}
    shapes: dict[str, Any] = {}
    for path, matrix in matrices.items():
        tensors[f"{path}.words"] = matrix.words.cpu().contiguous()
        tensors[f"{path}.scales"] = matrix.scales.cpu().contiguous()
        if matrix.offsets is not None:
            tensors[f"{path}.offsets"] = matrix.offsets.cpu().contiguous()
        shapes[path] = [matrix.bits, matrix.columns, matrix.divisor, matrix.table.tolist()]
    record = replace(record, sha256=_hash(tensors, shapes))
    metadata = {"format": str(FORMAT), "record": json.dumps(asdict(record)), "matrices": json.dumps(shapes)}
    part = place.with_name(f"{place.name}.{os.getpid()}{PART}")
    try:
        save_file(tensors, part, metadata)
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.replace(place)
        _sync_folder()
    except (OSError, SafetensorError) as error:
        part.unlink(missing_ok=True)
        if os.strerror(errno.ENOSPC) in str(error):  # others took the room meanwhile
            require_space(folder(), record.bytes + HEADER_BYTES)
        raise Problem("error.write", file=str(place), detail=str(error).split("\n")[0].rstrip(".")) from error
    return place


def load(source: str, recipe: str, *, calibrated: bool) -> tuple[dict[str, Packed], Record] | None:
    """A kept twin of these weights, None when there is none. What is damaged or not ours is set aside."""
    place = file_of(source, recipe, calibrated=calibrated)
    if not place.exists():
        return None
    found = _read(place)
    if found is None or (found[1].source, found[1].recipe) != (source, recipe):
        _set_aside(place)
        return None
    return found


def records() -> list[tuple[Path, Record]]:
    """All kept twins that can be read, without reading their weights."""
    found = []
    for place in sorted(folder().glob("*.safetensors")):
        record = _record(place)
        if record is not None:
            found.append((place, record))
    return found


def remove(places: Iterable[Path]) -> int:
    """Delete kept twins; returns the bytes that became free."""
    freed = 0
    for place in places:
        freed += place.stat().st_size
        place.unlink()
    return freed


def _record(place: Path) -> Record | None:
    metadata = _metadata(place)
    try:
        if metadata["format"] != str(FORMAT):
            return None
        return Record(**json.loads(metadata["record"]))
    except (KeyError, TypeError, ValueError):
        return None


def _metadata(place: Path) -> dict[str, Any]:
    """What the file says of itself; empty when it is none of ours."""
    try:
        with place.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            found = json.loads(stream.read(length))["__metadata__"] if length <= headers.LARGEST else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read(place: Path) -> tuple[dict[str, Packed], Record] | None:
    record, held = _record(place), headers.read(place)
    if record is None or held is None:
        return None
    try:
        shapes = json.loads(_metadata(place)["matrices"])
        # Not mapped: a file that shrinks meanwhile would kill the process.
        tensors = {name: weights.read(place, tensor) for name, tensor in held.items()}
        if _hash(tensors, shapes) != record.sha256:
            return None
        return {path: _matrix(tensors, path, *shape) for path, shape in shapes.items()}, record
    except (OSError, KeyError, TypeError, ValueError):
        return None


def _matrix(
    tensors: Mapping[str, torch.Tensor], path: str, bits: int, columns: int, divisor: int, table: list[int]
) -> Packed:
    return Packed(
        tensors[f"{path}.words"],
        tensors[f"{path}.scales"],
        tensors.get(f"{path}.offsets"),
        torch.tensor(table, dtype=torch.int8),
        divisor,
        bits,
        columns,
    )


def _hash(tensors: Mapping[str, torch.Tensor], shapes: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(shapes, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _set_aside(place: Path) -> None:
    place.replace(place.with_name(place.name + DAMAGED))


def _clear_parts() -> None:
    """Remove what builds left behind that were killed."""
    for part in folder().glob(f"*{PART}"):
        process = part.name.removesuffix(PART).rpartition(".")[2]
        if not (process.isdecimal() and psutil.pid_exists(int(process))) or int(process) == os.getpid():
            part.unlink(missing_ok=True)


def _sync_folder() -> None:
    """Make the rename last; only where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder(), os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
