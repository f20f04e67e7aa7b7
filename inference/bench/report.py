"""Figures of a benchmark: speeds by group, speed-ups, acceptance with standard errors, and whether texts are identical.

Pure functions of runs. A group's speed is all its tokens over all its decode seconds; overall stands the geometric
mean of the groups. Speed-ups are given against plain decoding in fast mode and in exact mode alike.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from inference.bench.theory import speed_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from inference.bench.suite import Reply, Run

Totals = dict[int, tuple[str, int, float]]
"""By prompt: its group, tokens and decode seconds, all turns and repeats together."""


def summarise(runs: Sequence[Run], baselines: Mapping[str, str], plain_of: Mapping[str, str]) -> dict[str, Any]:
    """The figures of every contender, by its name.

    ``baselines`` names the plain contender of each mode (fast, exact); ``plain_of`` the contender whose text each one
    is held to.
    """
    by_name: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_name[run.contender].append(run)
    plain = {mode: totals(by_name[name]) for mode, name in baselines.items() if name in by_name}
    return {
        name: {
            **speed(totals(mine)),
            "against": {mode: compared(totals(mine), base) for mode, base in plain.items()},
            **drafting(mine),
            "ttft_ms": 1e3 * statistics.median(run.reply.ttft for run in mine),
            "text": identity_of_text(mine, by_name.get(plain_of.get(name, name), [])),
            "identities": sorted({run.reply.identity for run in mine if run.reply.identity}),
        }
        for name, mine in by_name.items()
    }


def predicted(figures: Mapping[str, Any], plain: Mapping[str, Any], k: int) -> float:
    """E(K) / (K c + v) with acceptance, c and v as these contenders' own rounds had them (design D7)."""
    step = plain["verify_ms"]
    draft = figures["draft_ms"] * figures["rounds"] / figures["drafted"]
    return speed_up(figures["acceptance"]["value"], k, draft / step, figures["verify_ms"] / step)


def totals(runs: Iterable[Run]) -> Totals:
    """Tokens and decode seconds of each prompt; prompts without a timed token are left out."""
    found: Totals = {}
    for run in runs:
        _, tokens, seconds = found.get(run.prompt, ("", 0, 0.0))
        found[run.prompt] = (run.group, tokens + run.reply.timed_tokens, seconds + run.reply.decode_seconds)
    return {prompt: total for prompt, total in found.items() if total[1] and total[2]}


def group_speeds(found: Totals) -> dict[str, float]:
    """Tokens per second of each group."""
    tokens: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for group, count, spent in found.values():
        tokens[group] += count
        seconds[group] += spent
    return {group: tokens[group] / seconds[group] for group in tokens}


def geometric_mean(values: Iterable[float]) -> float | None:
    """None of nothing."""
    kept = list(values)
    return statistics.geometric_mean(kept) if kept else None


def speed(found: Totals) -> dict[str, Any]:
    """Speed overall and by group, in tokens per second of decoding."""
    groups = group_speeds(found)
    return {
        "tokens": sum(tokens for _, tokens, _ in found.values()),
        "decode_seconds": sum(seconds for _, _, seconds in found.values()),
        "tokens_per_second": geometric_mean(groups.values()),
        "groups": groups,
    }


def compared(mine: Totals, base: Totals) -> dict[str, Any]:
    """Speed-up over ``base``, overall and by group; its standard error is a jackknife over prompts."""
    both = sorted(mine.keys() & base.keys())

    def ratios(prompts: Iterable[int]) -> dict[str, float]:
        kept = list(prompts)
        ours, theirs = (group_speeds({prompt: side[prompt] for prompt in kept}) for side in (mine, base))
        return {group: ours[group] / theirs[group] for group in ours}

    groups = ratios(both)
    without = [geometric_mean(ratios(p for p in both if p != left_out).values()) for left_out in both]
    kept = [value for value in without if value is not None]
    error = None
    if len(kept) > 1:
        centre = statistics.fmean(kept)
        error = math.sqrt((len(kept) - 1) / len(kept) * sum((value - centre) ** 2 for value in kept))
    return {"speed_up": geometric_mean(groups.values()), "standard_error": error, "groups": groups}


def share(pairs: Mapping[int, tuple[int, int]]) -> dict[str, Any] | None:
    """Hits over tests, pooled over clusters (prompts), with the standard error of a ratio of cluster totals.

    None when nothing was tested; the error is None for a single cluster.
    """
    hits, tests = (sum(pair[side] for pair in pairs.values()) for side in (0, 1))
    if not tests:
        return None
    value, count = hits / tests, len(pairs)
    error = None
    if count > 1:
        spread = sum((mine - value * of) ** 2 for mine, of in pairs.values())
        error = math.sqrt(count / (count - 1) * spread) / tests
    return {"value": value, "standard_error": error, "accepted": hits, "tested": tests}


def drafting(runs: Sequence[Run]) -> dict[str, Any]:
    """Acceptance, pooled and by depth, tokens a round, the histogram of K, and milliseconds a round."""
    rounds = sum(run.reply.rounds for run in runs)
    depth = max((len(run.reply.tested_by_depth) for run in runs), default=0)
    histogram = [0] * max((len(run.reply.k_histogram) for run in runs), default=0)
    for run in runs:
        for k, count in enumerate(run.reply.k_histogram):
            histogram[k] += count

    def pairs(depths: range) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for run in runs:
            hits, tests = found[run.prompt]
            found[run.prompt] = (
                hits + _at(run.reply.accepted_by_depth, depths),
                tests + _at(run.reply.tested_by_depth, depths),
            )
        return {prompt: pair for prompt, pair in found.items() if pair[1]}

    return {
        "acceptance": share(pairs(range(depth))),
        "acceptance_by_depth": [share(pairs(range(at, at + 1))) for at in range(depth)],
        "drafted": sum(run.reply.drafted for run in runs),
        "rounds": rounds,
        "tokens_per_round": sum(len(run.reply.token_ids) for run in runs) / rounds if rounds else None,
        "k_histogram": histogram,
        "draft_ms": sum(run.reply.draft_ms for run in runs) / rounds if rounds else None,
        "verify_ms": sum(run.reply.verify_ms for run in runs) / rounds if rounds else None,
    }


def _at(counts: Sequence[int], depths: range) -> int:
    return sum(counts[depth] for depth in depths if depth < len(counts))


def identity_of_text(mine: Iterable[Run], plain: Iterable[Run]) -> dict[str, Any]:
    """How many prompts read as plain decoding wrote them first, and where the others differ first."""
    wanted: dict[tuple[int, int], Reply] = {}
    for run in plain:
        wanted.setdefault((run.prompt, run.turn), run.reply)
    prompts: set[int] = set()
    differing: dict[int, dict[str, int]] = {}
    for run in sorted(mine, key=lambda run: (run.prompt, run.turn)):
        reference = wanted.get((run.prompt, run.turn))
        if reference is None:
            continue
        prompts.add(run.prompt)
        position = first_difference(run.reply.token_ids, reference.token_ids)
        if position is not None and run.prompt not in differing:
            differing[run.prompt] = {"prompt": run.prompt, "turn": run.turn, "position": position}
    return {
        "prompts": len(prompts),
        "identical": len(prompts) - len(differing),
        "different": [differing[prompt] for prompt in sorted(differing)],
    }


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first position at which two replies part; None when they are the same."""
    for position, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return position
    return None if len(one) == len(other) else min(len(one), len(other))
