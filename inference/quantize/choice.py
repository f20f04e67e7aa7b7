"""Which recipe's twin is fastest end to end: measured costs, and acceptance as far as it is known.

A twin of the model that was made and measured says its own; for the others stands what was measured on another model.
Arithmetic only: nothing is measured, loaded or made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.models.fit import TWIN_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from inference.quantize.costs import Costs
    from inference.quantize.kept import Record

WORTH = 1.05
"""A kept twin stays unless another recipe's is predicted to be so many times as fast."""


@dataclass(frozen=True, slots=True)
class Prior:
    """``by_depth``: drafted tokens accepted / tested; ``agreement``: of all tokens alone, as a kept twin's record."""

    agreement: float
    by_depth: tuple[float, ...]


CALIBRATED: Mapping[str, Prior] = {
    "nf3": Prior(0.70, (0.717, 0.727, 0.753, 0.770)),
    "affine3": Prior(0.75, (0.777, 0.820, 0.799, 0.839)),
    "mixed3": Prior(0.73, (0.731, 0.764, 0.785, 0.845)),
    "nf4": Prior(0.82, (0.855, 0.855, 0.855, 0.855)),
    "affine4": Prior(0.87, (0.906, 0.879, 0.881, 0.905)),
}
"""Of the starter with noise on its grid (bench/degrid.py): 20 prompts, greedy, drafts of four; `nf4` with its grid."""

QUICK: Mapping[str, Prior] = {
    "nf3": Prior(0.53, (0.598, 0.680, 0.695, 0.702)),
    "affine3": Prior(0.67, (0.733, 0.767, 0.749, 0.771)),
    "mixed3": Prior(0.58, (0.65, 0.70, 0.72, 0.72)),
    "nf4": Prior(0.75, (0.81, 0.81, 0.81, 0.81)),
    "affine4": Prior(0.79, (0.858, 0.892, 0.874, 0.884)),
}
"""The same of nearest levels; `mixed3` and `nf4` are not measured but set between the others."""

CANDIDATES = tuple(CALIBRATED)
"""All recipes but nf2, whose drafts are accepted too rarely to pay at any cost that was seen."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe's prospects. ``cost`` is c, ``speed`` what drafting ``k`` tokens gives against plain decoding.

    ``acceptance`` is that of the first drafted token, ``is_measured`` on this model; ``is_kept`` tells of a kept twin
    that it is one of.
    """

    recipe: str
    calibrated: bool
    packed_bits: float
    cost: float
    acceptance: float
    is_measured: bool
    k: int
    speed: float
    fits: bool
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The recipe to make, and what it was chosen from, the fastest first. ``keeps`` where a slower one is kept."""

    recipe: str
    candidates: tuple[Candidate, ...]
    keeps: bool


def choose(
    costs: Costs, records: Mapping[tuple[str, bool], Record], too_large: Collection[str], *, calibrated: bool
) -> Choice:
    """The fastest recipe that is not ``too_large``, unless one that is kept is hardly slower.

    ``records`` are those of this model's kept twins, by recipe and whether they are ``calibrated``, as a new one would
    be: a quick one is no reason to stay where a calibrated one is made. Where none fits, the one of the fewest bits.
    """
    found = []
    for recipe in costs.draft:
        ways = [True] if calibrated else [True, False] if (recipe, True) in records else [False]
        found += [_candidate(recipe, way, costs, records, recipe not in too_large) for way in ways]
    found.sort(key=lambda one: -one.speed)
    fitting = [one for one in found if one.fits]
    if not fitting:
        smallest = min(found, key=lambda one: one.packed_bits)
        return Choice(smallest.recipe, tuple(found), keeps=False)
    best, held = fitting[0], next((one for one in fitting if one.is_kept), None)
    if held is not None and best.speed < WORTH * held.speed:
        return Choice(held.recipe, tuple(found), keeps=held.recipe != best.recipe)
    return Choice(best.recipe, tuple(found), keeps=False)


def _candidate(
    recipe: str, calibrated: bool, costs: Costs, records: Mapping[tuple[str, bool], Record], fits: bool
) -> Candidate:
    prior = (CALIBRATED if calibrated else QUICK)[recipe]
    record = records.get((recipe, calibrated))
    by_depth: Sequence[float] = prior.by_depth
    is_measured = record is not None and record.acceptance is not None
    if record is not None and record.acceptance is not None:
        by_depth = [min(1.0, one * record.acceptance / prior.agreement) for one in by_depth]
    speeds = predicted(by_depth, costs.draft[recipe], costs.verify)
    k = max(speeds, key=lambda k: (speeds[k], -k))
    bits = float(TWIN_BITS[recipe] if record is None else record.packed_bits)
    kept = record is not None
    return Candidate(
        recipe, calibrated, bits, costs.draft[recipe], by_depth[0], is_measured, k, speeds[k], fits, kept
    )


def predicted(by_depth: Sequence[float], draft: float, verify: Sequence[float]) -> dict[int, float]:
    """E(K) / (K c + v(K + 1)) by K from 1 on; the deepest acceptance known goes on beyond its depth."""
    speeds, tokens, survives = {}, 1.0, 1.0
    for k in range(1, len(verify)):
        survives *= by_depth[min(k, len(by_depth)) - 1]
        tokens += survives
        speeds[k] = tokens / (k * draft + verify[k])
    return speeds
