"""How every installed model fits the memory it would be loaded into, from configurations and headers alone.

What is loaded now is let go first, so what it takes counts as free. Free of torch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.models import fit, fitting, library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.models.fit import Memory, Shape
    from inference.models.library import Entry


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model would be loaded: as settings.ModelChoice; ``dtype`` also int8 or nf4, ``twin`` none or a recipe."""

    device: str = "auto"
    context: int = 8192
    dtype: str = "auto"
    twin: str = "auto"


@dataclass(frozen=True, slots=True)
class Held:
    """What is loaded now: ``model`` as it is chosen (settings.ModelChoice.model), empty for nothing."""

    model: str = ""
    device: str = "cpu"
    has_twin: bool = False


def memory_of(device: str, memories: Sequence[Memory]) -> Memory:
    """The memory that a device computes in; auto is the first card where there is one."""
    if device == "cpu":
        return memories[-1]
    kind, _, number = device.partition(":")
    cards = [memory for memory in memories if memory.kind == "gpu"]
    found = [memory for memory in cards if kind == "auto" or memory.index == int(number or 0)]
    return found[0] if found else memories[-1]


def fits(loading: Loading, held: Held, entries: Sequence[Entry] | None = None) -> dict[str, Any]:
    """What each installed model would take, by what it is chosen by; models whose shape is not known are left out.

    Raises Problem for a precision or recipe that is none.
    """
    memories = fit.memories()
    memory = memory_of(loading.device, memories)
    listed = {entry.model: entry for entry in (library.installed() if entries is None else entries)}
    shapes = {model: shape for model, entry in listed.items() if (shape := _shape(entry)) is not None}
    releases = 0
    if held.model in shapes and memory_of(held.device, memories) == memory:
        twin = loading.twin if held.has_twin else "none"
        shape = shapes[held.model]
        releases = fit.fit(shape, _plan(shape, replace(loading, twin=twin), memory), memory).needed
    return {
        model: fit.as_json(fit.fit(shape, _plan(shape, loading, memory), memory, releases))
        for model, shape in shapes.items()
    }


def _plan(shape: Shape, loading: Loading, memory: Memory) -> fit.Plan:
    plan = fitting.plan(shape, loading.dtype, loading.twin, loading.context)(memory.kind)
    return replace(plan, twin=None) if shape.quantized else plan


def _shape(entry: Entry) -> Shape | None:
    if entry.kind == "draft" or (entry.problem is not None and entry.problem.id != "error.remote_code"):
        return None
    try:
        shape = fitting.shape_of(entry)
    except Problem:
        return None
    return shape if shape.layers and shape.hidden else None
