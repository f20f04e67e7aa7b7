"""What a step costs on this machine, measured once at load: the figures that speculation is judged by.

The plain step is measured in fast mode at two context lengths; passes and draft steps in the mode in force. Knows
nothing of acceptance or of what is done with the figures.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import torch

from inference.exact import fast_width, noisy_cache
from inference.rows import tree_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.exact import Width
    from inference.model import Forward

LENGTHS = (200, 2000)
"""Context lengths of the plain step's measurement; between and beyond them time is a straight line."""

DRAFTS = (0, 1, 2, 4, 8)
"""Draft lengths whose verification is timed; those between are interpolated."""

MANY = 15
"""Size of a draft whose pass is timed far into a context too."""

TREES = (*DRAFTS, MANY, 16, 31, 63)
"""Sizes of drafts in fast mode, where they may branch. Above 16 rows attention takes another path."""

DOUBTED = 0.03
"""A cost of exact mode above which it is measured again: on a busy machine two figures part by more than that."""

OPINIONS = 3

BUDGET_S = 0.1
"""Time a figure may take: fewer repeats of slow steps, never less than three."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Milliseconds, and the share that exact mode adds to a plain step (``exact_cost``).

    ``plain_at`` are plain steps in fast mode at LENGTHS; ``verify[k]`` is a pass over k drafted tokens and the root in
    the mode in force, as far as drafts may go in it. ``growth[k]`` is the share by which that pass takes longer at the
    farther of LENGTHS; empty for as much as a plain step.
    """

    plain_at: tuple[float, ...]
    verify: tuple[float, ...]
    exact_cost: float
    growth: tuple[float, ...] = ()

    def plain(self, length: int) -> float:
        """One plain step in fast mode at this context length."""
        (near, far), (low, high) = self.plain_at, LENGTHS
        return near + max(0.0, far - near) * max(0, length - low) / (high - low)

    def passes(self, length: int) -> list[float]:
        """Passes over 0, 1, 2, ... drafted tokens and the root at this context length."""
        (near, far), (low, high) = self.plain_at, LENGTHS
        growth = self.growth or (max(0.0, far / near - 1),) * len(self.verify)
        beyond = max(0, length - low) / (high - low)
        return [ms * (1 + more * beyond) for ms, more in zip(self.verify, growth, strict=True)]


def typical_ms(steps: dict[str, Callable[[], object]], budget_s: float = BUDGET_S) -> dict[str, float]:
    """Times of several steps, run in turns: of the first the median, of the others what is to it as their least to its.

    What a busy machine adds is in no two medians alike; the least times compare what the steps themselves take.
    """
    times: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()  # the first call prepares kernels
    started = time.perf_counter()
    while len(next(iter(times.values()))) < 3 or (
        time.perf_counter() - started < budget_s * len(steps) and len(next(iter(times.values()))) < 15
    ):
        for name, step in steps.items():
            begun = time.perf_counter()
            step()
            times[name].append((time.perf_counter() - begun) * 1e3)
    first = next(iter(times.values()))
    busy = statistics.median(first) / min(first)
    return {name: min(found) * busy for name, found in times.items()}


def never_falling(times: Sequence[float]) -> list[float]:
    """Times of passes of more and more rows, none above that of a wider one: what is above was a busy moment."""
    return list(accumulate(reversed(times), min))[::-1]


@torch.inference_mode()
def draft_step_ms(forward: Forward, device: torch.device) -> float:
    """One step of a drafter that is a model on the target's cache."""
    near = noisy_cache(forward, LENGTHS[0], 1, device)
    rows = tree_rows([0], None, near.length, near.slots, device=device)
    return typical_ms({"draft": lambda: forward(rows, near)[0].to("cpu")})["draft"]


@torch.inference_mode()
def step_times(
    forward: Forward, exact: Width | None, largest_k: int, device: torch.device
) -> tuple[StepTimes, StepTimes]:
    """Times for fast mode, and for exact mode (the same again where there is none)."""
    near, far = (noisy_cache(forward, length, TREES[-1], device) for length in LENGTHS)
    fast = fast_width(TREES[-1])

    def run(width: Width, count: int, cache: object = near) -> Callable[[], object]:
        return lambda: forward(width.rows([0] * count, None, cache, device), cache)[0].to("cpu")  # type: ignore[arg-type]

    drafts = [k for k in DRAFTS if k <= largest_k]
    steps: dict[str, Callable[[], object]] = {
        "fast 0": run(fast, 1), "far": run(fast, 1, far), f"far {MANY}": run(fast, MANY + 1, far),
    }  # fmt: skip
    for k in TREES:
        steps[f"fast {k}"] = run(fast, k + 1)
        if exact is not None and k in drafts:
            steps[f"exact {k}"] = run(exact, k + 1)
    found = typical_ms(steps)
    cost = 0.0
    if exact is not None:
        cost = found["exact 0"] / found["fast 0"] - 1
        pair = {name: steps[name] for name in ("fast 0", "exact 0")}
        for _ in range(OPINIONS - 1):
            if cost < DOUBTED:
                break
            again = typical_ms(pair)
            cost = min(cost, again["exact 0"] / again["fast 0"] - 1)

    def times(mode: str, sizes: Sequence[int]) -> StepTimes:
        verify = np.interp(range(sizes[-1] + 1), sizes, never_falling([found[f"{mode} {k}"] for k in sizes]))
        more = [found["far"] / found["fast 0"] - 1, found[f"far {MANY}"] / found[f"fast {MANY}"] - 1]
        growth = np.interp(range(len(verify)), (0, MANY), np.maximum(more, 0))
        plain = (found["fast 0"], found["far"])
        return StepTimes(plain, tuple(map(float, verify)), cost, tuple(map(float, growth)))

    quick = times("fast", TREES)
    return quick, times("exact", drafts) if exact is not None else quick
