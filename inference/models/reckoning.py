"""What the tested models would take of this machine's memory, from their shapes alone; before anything is fetched.

In bfloat16 with the 3-bit twin. Reads how much memory there is and how much of it others have. Free of torch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inference.models import fit as reckoner

if TYPE_CHECKING:
    from inference.models.tested import Tested

CONTEXT = 8192
PACKED_BITS = 3.5
WORK = 0.6e9
"""Bytes for the libraries' own needs and one pass."""
TWIN_SHARE = PACKED_BITS / 16
"""A twin's bytes against its target's."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory models are loaded into: a GPU's, by ``name``, or the machine's. Bytes."""

    kind: str
    name: str
    whole: int
    used: int


def memory() -> Memory:
    """The first GPU's, where there is one, else the machine's."""
    import psutil
    import pynvml

    try:
        pynvml.nvmlInit()
        card = pynvml.nvmlDeviceGetHandleByIndex(0)
        told = pynvml.nvmlDeviceGetMemoryInfo(card)
        return Memory("gpu", str(pynvml.nvmlDeviceGetName(card)), int(told.total), int(told.used))
    except pynvml.NVMLError:  # no driver or no card
        machine = psutil.virtual_memory()
        return Memory("ram", "", machine.total, machine.total - machine.available)


def fit(one: Tested, there: Memory) -> dict[str, Any]:
    """Segments in bytes, whether they fit, and a notice that says so."""
    shape = reckoner.shape(one.config, one.size, "bfloat16")
    plan = replace(reckoner.usual(shape, there.kind, CONTEXT), dtype="bfloat16")
    parts = dict(reckoner.segments(shape, plan, there.kind))
    if there.kind == "ram":
        parts["work"] += round(WORK)  # the libraries, which no model has brought yet
    needed = sum(parts.values())
    free = there.whole - there.used - needed
    segments = [*parts.items(), ("others", float(there.used)), *([("free", free)] if free > 0 else [])]
    figures = {"needed_gb": needed / 1e9, "free_gb": (there.whole - there.used) / 1e9}
    return {
        "segments": [{"name": name, "bytes": round(size)} for name, size in segments],
        "whole": there.whole,
        "fits": free > 0,
        "notice": {"id": f"fit.{there.kind}" + ("" if free > 0 else "_lacks"), "values": figures},
    }


def room(there: Memory) -> float:
    """Bytes of weights that fit beside their twin and a usual context, for models whose shapes are not known."""
    return max(0.0, (there.whole - there.used - WORK - 1.2e9) / (1 + TWIN_SHARE))
