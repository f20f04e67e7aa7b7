"""How many bytes each part of a loaded model takes: target, twin, a smaller model that drafts, cache and graphs.

Counted from the tensors themselves, each in the first part that holds it, so that what target and twin share is not
counted twice. Knows nothing of how parts are made.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inference.card import Card
    from inference.drafters.offered import Offered
    from inference.kv_cache import KVCache
    from inference.model import Forward

OURS = ("inference.", "tests.", "bitsandbytes.", "transformers.cache_utils")
"""Where the classes come from whose objects are looked into; others hold settings and words."""


def taken(model: Any, forward: Forward, cache: KVCache, offered: Offered, card: Card | None) -> dict[str, int]:
    """Bytes by part, as models.fit names them: target, twin, heads (a smaller model), cache, graphs; without zeros.

    The cache counts whole: on a CPU it takes memory only where it has been written.
    """
    seen: set[int] = set()
    twin, small = offered.find("twin"), offered.find("small-model")
    parts = {
        "cache": _bytes(cache, seen),
        "graphs": 0 if card is None else card.graph_bytes + sum(_bytes(one, seen) for one in card.statics),
        "target": _bytes(model, seen) + _bytes(forward, seen),
        "twin": 0 if twin is None else _bytes(twin.drafter, seen),
        "heads": 0 if small is None else _bytes(small.drafter, seen),
    }
    return {name: parts[name] for name in ("target", "twin", "heads", "cache", "graphs") if parts[name]}


def _bytes(root: Any, seen: set[int]) -> int:
    """Memory of all tensors that hang on an object and were not seen before; marks them as seen."""
    found = 0
    for tensor in _tensors(root, seen):
        place, size = _place(tensor)
        if place not in seen:
            seen.add(place)
            found += size
    return found


def _place(tensor: torch.Tensor) -> tuple[int, int]:
    """Where a tensor's memory lies, and how much it is; views lie in the memory that they are views of."""
    if tensor.device.type == "meta":
        return 0, 0
    if not tensor.is_mkldnn:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    try:
        return torch.ops.mkldnn.data_ptr(tensor), torch.ops.mkldnn._nbytes(tensor)  # noqa: SLF001 - packed: no strides
    except AttributeError:
        return id(tensor), tensor.numel() * tensor.element_size()


def _tensors(root: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    """Those reached through modules, our own objects, bound methods and containers; each object once."""
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or one is None or isinstance(one, str | int | float):
            continue
        seen.add(id(one))
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, list | tuple | set | frozenset):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif hasattr(one, "__self__"):
            waiting.append(one.__self__)
        elif isinstance(one, nn.Module) or type(one).__module__.startswith(OURS):
            waiting.extend(vars(one).values() if hasattr(one, "__dict__") else ())
            slots = chain.from_iterable(getattr(kind, "__slots__", ()) for kind in type(one).__mro__)
            waiting.extend(getattr(one, name, None) for name in slots if name != "__weakref__")
