"""What a comparison was measured on, as plain JSON: model with the hash of its files, device, driver, versions."""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.models.source import locate
from inference.statistics import LIBRARIES

if TYPE_CHECKING:
    import threading

    from inference.ready import Ready

HASHED = ("*.safetensors", "config.json", "generation_config.json", "tokenizer*.json", "*.jinja")
CHUNK = 1 << 22
BLOB = re.compile(r"[0-9a-f]{64}")


def machine(ready: Ready, cancel: threading.Event) -> dict[str, Any]:
    """The record of a loaded model and this machine; reading a large model's files takes some seconds."""
    loaded = ready.loaded
    return {
        "model": {
            "choice": loaded.model,
            "name": loaded.name,
            "parameters": loaded.parameters,
            "context": loaded.context,
            "dtype": loaded.dtype,
            "sha256": model_hash(loaded.model, cancel),
            "bits": asdict(ready.bits) if ready.bits else None,
            "recipe": ready.maker.recipe if ready.maker else None,
            "draft_model": loaded.draft_model,
        },
        "drafter": loaded.drafter,
        "device": loaded.device,
        "device_name": loaded.device_name if loaded.device == "cuda" else processor(),
        "driver": driver() if loaded.device == "cuda" else None,
        "threads": loaded.threads,
        "system": platform.platform(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


def model_hash(choice: str, cancel: threading.Event) -> str | None:
    """SHA-256 over the names and hashes of the files that make a model's answers; None when they cannot be read."""
    try:
        search = locate(choice, cancel)
        while True:
            next(search)
    except StopIteration as end:
        folder: Path = end.value.folder
    except Problem:
        return None
    whole = hashlib.sha256()
    for path in sorted({path for pattern in HASHED for path in folder.glob(pattern)}):
        found = file_hash(path, cancel)
        if found is None:
            return None
        whole.update(f"{path.name} {found}\n".encode())
    return whole.hexdigest()


def file_hash(path: Path, cancel: threading.Event) -> str | None:
    """SHA-256 of a file. Large files of the hub's cache are named by theirs, so they are not read again."""
    name = path.resolve().name
    if path.is_symlink() and BLOB.fullmatch(name):
        return name
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                if cancel.is_set():
                    return None
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def driver() -> str | None:
    """The version of the NVIDIA driver."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except Exception:  # no library or no driver; the record then says so
        return None
