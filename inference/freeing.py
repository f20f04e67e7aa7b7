"""Giving memory back to the system, and telling a lack of it with figures.

Python and the C library keep what is freed for themselves; another model or another program may need it. Knows nothing
of models; torch is asked only where it was loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from inference.messages import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def release() -> None:
    """Give back all that nothing holds any more: objects in cycles, torch's reserve on cards, the C library's."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    trim()


def trim() -> None:
    """Give back what the C library keeps of freed blocks, those below its growing threshold: tens of megabytes."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library has no such call, and no such reserve
            ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for objects in cycles meanwhile. Imports make a million that all stay: searches take half a second."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, by any of the names it goes by."""
    text = str(error)
    return (
        isinstance(error, MemoryError)
        or (type(error).__name__ in ("OutOfMemoryError", "AcceleratorError") and "out of memory" in text)
        or "can't allocate memory" in text
        or "not enough memory" in text
    )


def told(error: BaseException) -> Notice:
    """That memory ran out: what was asked for, where the error tells it, and what is free now."""
    text = str(error)
    values: dict[str, Any] = _free("CUDA" in text or "cuda" in type(error).__module__)
    asked = re.search(r"allocate ([\d.]+) ?([KMGT]?)i?B|allocate (\d+) bytes", text)
    if asked is None:
        return Notice("error.memory_used_up", values)
    size = float(asked[1]) * UNITS[asked[2]] if asked[1] else float(asked[3])
    return Notice("error.memory_asked", {"asked_gb": size / 1e9, **values})


def anew(notice: Notice) -> Notice:
    """The same with what is free by now, after what was taken has been released."""
    if notice.id not in ("error.memory_used_up", "error.memory_asked", "error.memory_weights"):
        return notice
    return Notice(notice.id, {**notice.values, **_free(bool(notice.values["card"]))})


def _free(card: bool) -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if card and torch is not None and torch.cuda.is_available():
        free, whole = torch.cuda.mem_get_info()
        return {"card": 1, "free_gb": free / 1e9, "total_gb": whole / 1e9}
    import psutil

    machine = psutil.virtual_memory()
    return {"card": 0, "free_gb": machine.available / 1e9, "total_gb": machine.total / 1e9}
