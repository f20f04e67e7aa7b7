"""Which model was being loaded when the program was killed: a model larger than memory takes the program with it.

A small file stands while a load is under way that takes most of the memory. The next start says it once instead of
loading the same again by itself.
"""

from __future__ import annotations

import json
import os

from inference.messages import Notice
from inference.models import folders

MUCH = 0.7
"""Share of the free memory from which a load can be what killed the program."""


def begin(model: str, needed: int, free: int) -> None:
    """A load begins."""
    if needed < MUCH * free:
        return
    file = folders.data_folder() / "loading.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"model": model, "needed": needed, "free": free, "pid": os.getpid()}))
    except OSError:
        return  # the warning is lost, nothing else


def end() -> None:
    """It ended, however it ended."""
    (folders.data_folder() / "loading.json").unlink(missing_ok=True)


def died(model: str) -> Notice | None:
    """That the program died while it loaded this model; told once."""
    import psutil

    file = folders.data_folder() / "loading.json"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        values = {"model": str(kept["model"]), "needed_gb": kept["needed"] / 1e9, "free_gb": kept["free"] / 1e9}
        if kept["pid"] != os.getpid() and psutil.pid_exists(kept["pid"]):
            return None  # another Borrador is at it
        file.unlink()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Notice("error.died_loading", values) if values["model"] == model and kept["pid"] != os.getpid() else None
