"""What a drafted token costs with each recipe on this device, before any twin is made: measured on the target's shapes.

Layers over placeholders of the recipe's format run in turns with the target's own, so what counts is their ratio. Of a
large model a few layers and the head stand for all. Kept for a week; knows nothing of acceptance.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from inference import kept_steps
from inference.exact import fast_width, noisy_cache
from inference.measure import LENGTHS, never_falling, typical_ms
from inference.models import fitting, notes
from inference.quantize.build import assemble, placeholders
from inference.quantize.recipes import RECIPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from inference.model import Forward
    from inference.quantize.choice import Choice

DRAFTS = (0, 1, 4, 8)
"""Draft lengths whose verification is timed; those between are interpolated."""

ENOUGH = 200_000_000
"""Weights in so many layers come from memory, not from a cache; a model with more is measured on a part."""

BUDGET_S = 0.05
"""Time that a figure may take, if three repeats take less: there are many, and only ratios count."""


@dataclass(frozen=True, slots=True)
class Costs:
    """In plain steps of fast mode: ``draft`` a drafted token by recipe, ``verify[k]`` a pass over the root and k more.

    ``plain_ms`` is such a step.
    """

    plain_ms: float
    draft: Mapping[str, float]
    verify: tuple[float, ...]


@torch.inference_mode()
def measure(
    target: Any,
    forward: Forward,
    forward_of: Callable[[Any], Forward],
    joined: Mapping[str, tuple[str, ...]],
    recipes: Iterable[str],
    device: torch.device,
) -> Costs:
    """Measure these recipes. ``forward`` is the target's, ``device`` where it takes its rows from."""
    layers = _layers(target)
    counts = [0]  # all of it
    if layers is not None:
        each = sum(parameter.numel() for parameter in target.parameters()) // max(1, len(layers))
        enough = max(2, ENOUGH // max(1, each))
        counts = [len(layers)] if enough >= len(layers) else [1, enough]
    found = [_of_first(target, count, forward, forward_of, joined, recipes, device) for count in counts]
    whole = found[0]
    if layers is not None and len(found) == 2:
        more = (len(layers) - 1) / (counts[1] - 1)
        whole = {name: first + max(0.0, found[1][name] - first) * more for name, first in found[0].items()}
    plain = whole["plain"]
    passes = never_falling([whole[f"verify {k}"] for k in DRAFTS])
    verify = np.interp(range(DRAFTS[-1] + 1), DRAFTS, passes) / passes[0]
    return Costs(plain, {name: whole[name] / plain for name in recipes}, tuple(map(float, verify)))


def key(folder: Path, kernels: str, device: str, dtype: str) -> str:
    """A name for all that costs depend on: the model's files, what computes it, and where."""
    return kept_steps.key(folder, f"{kernels}, {device}, {dtype}, torch {torch.__version__}", False)


def load(name: str, recipes: Iterable[str]) -> Costs | None:
    """What is kept under this name, unless it is old, damaged or lacks a recipe."""
    kept = notes.read(fitting.recipes_file()).get(name)
    try:
        if not isinstance(kept, dict) or not 0 <= time.time() - kept["at"] < kept_steps.DAYS * 86400:
            return None
        draft = {recipe: float(kept["draft"][recipe]) for recipe in recipes}
        found = Costs(float(kept["plain_ms"]), draft, tuple(map(float, kept["verify"])))
    except (KeyError, TypeError, ValueError):
        return None
    numbers = (found.plain_ms, *draft.values(), *found.verify)
    return found if len(found.verify) == DRAFTS[-1] + 1 and all(0 < one < float("inf") for one in numbers) else None


def save(name: str, costs: Costs) -> None:
    """Keep them, unless the machine is busy with something else. A folder that cannot be written stops nothing."""
    if kept_steps.is_busy():
        return
    kept = notes.read(fitting.recipes_file())
    kept.pop(name, None)
    kept[name] = {"at": time.time(), **asdict(costs)}
    notes.write(fitting.recipes_file(), dict(list(kept.items())[-kept_steps.MODELS:]))


def tell(name: str, model: str, device: str, source: str, choice: Choice) -> None:
    """Write beside the costs that are kept what was chosen by them, to be shown and reckoned with."""
    kept = notes.read(fitting.recipes_file())
    told = {"model": model, "device": device, "source": source, **asdict(choice)}
    told["candidates"] = list(told["candidates"])
    if isinstance(kept.get(name), dict) and kept[name].get(fitting.CHOICE) != told:
        kept[name][fitting.CHOICE] = told
        notes.write(fitting.recipes_file(), kept)


def _of_first(
    target: Any,
    count: int,
    forward: Forward,
    forward_of: Callable[[Any], Forward],
    joined: Mapping[str, tuple[str, ...]],
    recipes: Iterable[str],
    device: torch.device,
) -> dict[str, float]:
    """Milliseconds with the first ``count`` layers: plain, each verification, and a drafted token of each recipe."""
    width = fast_width(DRAFTS[-1])
    with _first(target, count) as is_whole:
        mine = forward if is_whole else forward_of(target)
        cache = noisy_cache(mine, LENGTHS[0], width.largest, device)

        def run(model: Forward, rows: int) -> Callable[[], object]:
            return lambda: model(width.rows([0] * rows, None, cache, device), cache)[0].to("cpu")

        found = typical_ms({f"verify {k}": run(mine, k + 1) for k in DRAFTS}, BUDGET_S)
        found["plain"] = found["verify 0"]
        for recipe in recipes:
            twin = assemble(target, placeholders(target, joined, RECIPES[recipe]), joined, keeps=False)
            both = typical_ms({"plain": run(mine, 1), "draft": run(forward_of(twin.model), 1)}, BUDGET_S)
            found[recipe] = both["draft"] / both["plain"] * found["plain"]
    return found


@contextmanager
def _first(target: Any, count: int) -> Iterator[bool]:
    """The model with its first layers only, which are put back behind it; tells whether these are all."""
    layers = _layers(target)
    if layers is None or count >= len(layers):
        yield True
        return
    body = target.get_decoder()
    body.layers = nn.ModuleList(list(layers)[:count])
    try:
        yield False
    finally:
        body.layers = layers


def _layers(target: Any) -> nn.ModuleList | None:
    """The decoder's layers where they are one list."""
    body = target.get_decoder() if hasattr(target, "get_decoder") else None
    layers = getattr(body, "layers", None)
    return layers if isinstance(layers, nn.ModuleList) and layers else None

