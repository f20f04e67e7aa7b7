"""Figures of a comparison: medians with spread, acceptance by depth, speed-ups with bootstrap intervals, equal texts.

Pure functions of a Comparison, the same for a stored one. numpy is imported when first needed.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from inference.bench.comparison import Comparison, Run

RESAMPLES = 2000
LEVEL = 0.95
LARGEST_STEP = 200_000
"""Draws that are made at once; each takes some dozens of bytes."""

Parts = tuple[int, float]
"""Tokens and decode seconds of one repeat of one prompt, all its turns together."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the middle half of the values around it; of fewer than four values, all of them."""

    median: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """How many times as fast as ``baseline``, with a bootstrap interval; no interval of a single pair of runs."""

    baseline: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Sameness:
    """Of ``prompts`` so many ``identical`` to ``reference`` in every repeat; -1 and nothing for a reference itself."""

    reference: int
    prompts: int
    identical: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one setting. Speeds in tokens a second of decoding, times in seconds or, where named so, milliseconds.

    ``draft_ms`` and ``verify_ms`` are a round's; ``energy`` is joules a token; ``memory`` bytes at the most.
    """

    setting: int
    runs: int
    tokens: int
    rate: Spread | None
    ttft: Spread | None
    seconds: Spread | None
    tokens_per_round: float | None
    acceptance: float | None
    accepted_by_depth: tuple[float, ...]
    draft_ms: float | None
    verify_ms: float | None
    memory: int | None
    energy: float | None
    speed_ups: tuple[SpeedUp, ...]
    sameness: Sameness
    identities: tuple[str, ...]


def figures_of(comparison: Comparison) -> tuple[Figures, ...]:
    """The figures of every setting, in the order of the plan."""
    plan = comparison.plan
    by_setting = [[run for run in comparison.runs if run.setting == at] for at in range(len(plan.settings))]
    return tuple(_of_setting(comparison, at, by_setting) for at in range(len(plan.settings)))


def _of_setting(comparison: Comparison, at: int, by_setting: Sequence[Sequence[Run]]) -> Figures:
    runs = by_setting[at]
    rounds = sum(len(run.rounds) for run in runs)
    tested, accepted = (
        _by_depth(run.tested_by_depth for run in runs),
        _by_depth(run.accepted_by_depth for run in runs),
    )
    tokens = sum(len(run.token_ids) for run in runs)
    energy = [run.energy for run in runs if run.energy is not None]
    ups = (speed_up(runs, by_setting[base], base) for base in comparison.plan.baselines if base != at)
    return Figures(
        setting=at,
        runs=len(runs),
        tokens=tokens,
        rate=spread(run.rate for run in runs if run.rate),
        ttft=spread(run.ttft for run in runs),
        seconds=spread(run.seconds for run in runs),
        tokens_per_round=tokens / rounds if rounds else None,
        acceptance=sum(accepted) / sum(tested) if sum(tested) else None,
        accepted_by_depth=tuple(hits / tests for hits, tests in zip(accepted, tested, strict=False) if tests),
        draft_ms=sum(run.draft_ms for run in runs) / rounds if rounds else None,
        verify_ms=sum(run.verify_ms for run in runs) / rounds if rounds else None,
        memory=max((run.memory for run in runs if run.memory is not None), default=None),
        energy=sum(energy) / tokens if energy and tokens else None,
        speed_ups=tuple(one for one in ups if one is not None),
        sameness=sameness(comparison, at),
        identities=tuple(sorted({run.identity for run in runs})),
    )


def _by_depth(counts: Iterable[Sequence[int]]) -> list[int]:
    found: list[int] = []
    for of_run in counts:
        found.extend([0] * (len(of_run) - len(found)))
        for depth, count in enumerate(of_run):
            found[depth] += count
    return found


def spread(values: Iterable[float]) -> Spread | None:
    """Median and middle half; None of nothing."""
    kept = sorted(values)
    if not kept:
        return None
    if len(kept) < 4:
        return Spread(statistics.median(kept), kept[0], kept[-1], len(kept))
    low, middle, high = statistics.quantiles(kept, n=4, method="inclusive")
    return Spread(middle, low, high, len(kept))


def parts(runs: Iterable[Run]) -> dict[int, dict[int, Parts]]:
    """Tokens and seconds by prompt and repeat; what has no timed token is left out."""
    found: dict[int, dict[int, Parts]] = defaultdict(dict)
    for run in runs:
        tokens, seconds = found[run.prompt].get(run.repeat, (0, 0.0))
        found[run.prompt][run.repeat] = (tokens + len(run.token_ids), seconds + run.decode_seconds)
    return {
        prompt: kept
        for prompt, repeats in found.items()
        if (kept := {repeat: part for repeat, part in repeats.items() if part[0] and part[1] > 0})
    }


def speed_up(mine: Iterable[Run], base: Iterable[Run], baseline: int) -> SpeedUp | None:
    """The geometric mean over prompts of how many times as fast; None when no prompt was run by both.

    The interval resamples prompts, and within each the repeats, which belong together in pairs because they ran side
    by side (Efron 1979, percentile interval of a two-stage bootstrap).
    """
    ours, theirs = parts(mine), parts(base)
    pairs: list[list[tuple[Parts, Parts]]] = []
    for prompt in sorted(ours.keys() & theirs.keys()):
        both = sorted(ours[prompt].keys() & theirs[prompt].keys())
        if both:
            pairs.append([(ours[prompt][repeat], theirs[prompt][repeat]) for repeat in both])
    if not pairs:
        return None
    value = _mean_ratio(pairs)
    if sum(len(of_prompt) for of_prompt in pairs) < 2:
        return SpeedUp(baseline, value, None, None)
    found = _resampled(pairs)
    edge = int((1 - LEVEL) / 2 * RESAMPLES)
    return SpeedUp(baseline, value, found[edge], found[RESAMPLES - 1 - edge])


def _resampled(pairs: Sequence[Sequence[tuple[Parts, Parts]]]) -> list[float]:
    """The ratios of all resamples, in order: at once for many of them, for the window waits for it."""
    import numpy as np

    counts = np.array([len(of_prompt) for of_prompt in pairs])
    table = np.zeros((len(pairs), int(counts.max()), 4))
    for at, of_prompt in enumerate(pairs):
        table[at, : len(of_prompt)] = [(*mine, *theirs) for mine, theirs in of_prompt]
    draw = np.random.default_rng(20260101)
    step = max(1, LARGEST_STEP // table[..., 0].size)
    found: list[float] = []
    while len(found) < RESAMPLES:
        prompts = draw.integers(len(pairs), size=(min(step, RESAMPLES - len(found)), len(pairs), 1))
        repeats = (draw.random((*prompts.shape[:2], table.shape[1])) * counts[prompts]).astype(int)
        drawn = table[prompts, repeats] * (np.arange(table.shape[1]) < counts[prompts])[..., None]
        mine, my_seconds, theirs, their_seconds = np.moveaxis(drawn.sum(axis=2), -1, 0)
        found += np.exp(np.log(mine * their_seconds / (my_seconds * theirs)).mean(axis=1)).tolist()
    return sorted(found)


def _mean_ratio(pairs: Sequence[Sequence[tuple[Parts, Parts]]]) -> float:
    logs = [
        math.log(_speed(mine for mine, _ in of_prompt) / _speed(theirs for _, theirs in of_prompt))
        for of_prompt in pairs
    ]
    return math.exp(statistics.fmean(logs))


def _speed(of_prompt: Iterable[Parts]) -> float:
    kept = list(of_prompt)
    return sum(tokens for tokens, _ in kept) / sum(seconds for _, seconds in kept)


def sameness(comparison: Comparison, at: int) -> Sameness:
    """How many prompts a setting wrote as its reference did first, every turn and every repeat of them.

    A setting that is a reference is held to its own first repeat.
    """
    reference = comparison.plan.reference(at)
    wanted = firsts(comparison.runs, at if reference is None else reference)
    prompts: set[int] = set()
    other: set[int] = set()
    for run in comparison.runs:
        if run.setting == at and (run.prompt, run.step) in wanted:
            prompts.add(run.prompt)
            if run.token_ids != wanted[run.prompt, run.step].token_ids:
                other.add(run.prompt)
    return Sameness(-1 if reference is None else reference, len(prompts), len(prompts) - len(other))


def firsts(runs: Iterable[Run], setting: int) -> Mapping[tuple[int, int], Run]:
    """By prompt and turn, what a setting wrote in its first repeat."""
    found: dict[tuple[int, int], Run] = {}
    for run in runs:
        if run.setting == setting:
            found.setdefault((run.prompt, run.step), run)
    return found


def exact_identities(comparison: Comparison) -> tuple[str, ...]:
    """The identities of all exact runs; more than one means that they may differ without a fault."""
    exact = {at for at, setting in enumerate(comparison.plan.settings) if setting.mode == "exact"}
    return tuple(sorted({run.identity for run in comparison.runs if run.setting in exact}))
