"""The recipe is the one whose predicted speed is greatest, and a kept twin is not given up for a marginal gain."""

from __future__ import annotations

import pytest

from inference.quantize import choice
from inference.quantize.choice import CALIBRATED, CANDIDATES, QUICK, Prior, choose, predicted
from inference.quantize.costs import Costs
from inference.quantize.kept import Record

FLAT = (1.0,) * 9


def costs(**draft: float) -> Costs:
    return Costs(10.0, {recipe: draft.get(recipe, 0.9) for recipe in CANDIDATES}, FLAT)


def record(recipe: str, acceptance: float | None, *, calibrated: bool = True) -> tuple[tuple[str, bool], Record]:
    found = Record("tiny", "0" * 64, recipe, calibrated, 3.0, 3.3, 1000, 1.0, acceptance, 700)
    return (recipe, calibrated), found


def test_the_speed_predicted_is_that_of_the_design() -> None:
    speeds = predicted((0.8, 0.5), 0.25, (1.0, 1.1, 1.2, 1.5))
    assert speeds[1] == pytest.approx(1.8 / 1.35)
    assert speeds[2] == pytest.approx(2.2 / 1.7)
    assert speeds[3] == pytest.approx(2.4 / 2.25), "beyond the depth that is known the last acceptance goes on"


@pytest.mark.parametrize("cheap", CANDIDATES)
def test_what_costs_least_by_far_is_chosen(cheap: str) -> None:
    found = choose(costs(**{cheap: 0.1}), {}, (), calibrated=True)
    assert found.recipe == cheap
    assert found.candidates[0].recipe == cheap
    assert sorted(one.recipe for one in found.candidates) == sorted(CANDIDATES)
    assert [one.speed for one in found.candidates] == sorted((one.speed for one in found.candidates), reverse=True)


def test_at_equal_costs_what_is_accepted_most_is_chosen() -> None:
    found = choose(costs(), {}, (), calibrated=True)
    assert found.recipe == max(CALIBRATED, key=lambda name: CALIBRATED[name].by_depth[0])


def test_the_figures_are_those_of_the_recipe() -> None:
    found = {one.recipe: one for one in choose(costs(nf3=0.2), {}, (), calibrated=True).candidates}
    assert found["nf3"].cost == 0.2
    assert found["nf3"].packed_bits == 3.25
    assert found["nf3"].acceptance == CALIBRATED["nf3"].by_depth[0]
    assert not found["nf3"].is_measured
    assert found["nf3"].speed == max(predicted(CALIBRATED["nf3"].by_depth, 0.2, FLAT).values())


def test_what_does_not_fit_is_not_chosen() -> None:
    assert choose(costs(affine4=0.1, nf3=0.2), {}, {"affine4"}, calibrated=True).recipe == "nf3"
    found = choose(costs(affine4=0.1), {}, set(CANDIDATES), calibrated=True)
    assert found.recipe == "nf3", "the fewest bits, which may come to fit"
    assert not any(one.fits for one in found.candidates)


def test_this_model_s_own_acceptance_counts_where_a_twin_says_it() -> None:
    same = costs(nf3=0.3, affine4=0.3)
    assert choose(same, {}, (), calibrated=True).recipe == "affine4"
    poor = dict([record("affine4", 0.3 * CALIBRATED["affine4"].agreement)])
    found = choose(same, poor, (), calibrated=True)
    assert found.recipe == "nf3"
    affine4 = next(one for one in found.candidates if one.recipe == "affine4")
    assert affine4.is_measured
    assert affine4.is_kept
    assert affine4.acceptance == pytest.approx(0.3 * CALIBRATED["affine4"].by_depth[0])
    unmeasured = choose(same, dict([record("affine4", None)]), (), calibrated=True)
    assert not any(one.is_measured for one in unmeasured.candidates)
    assert sum(one.is_kept for one in unmeasured.candidates) == 1


@pytest.mark.parametrize(("gain", "chosen"), [(1.04, "nf3"), (1.06, "affine4")])
def test_a_kept_twin_goes_only_for_a_gain_that_is_worth_it(
    gain: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prior = Prior(0.5, (0.5, 0.0))
    monkeypatch.setattr(choice, "CALIBRATED", dict.fromkeys(CANDIDATES, prior))
    faster = 1.5 / (1.5 / 1.4 * gain) - 1  # of one token drafted, in plain steps
    found = choose(costs(nf3=0.4, affine4=faster), dict([record("nf3", None)]), (), calibrated=True)
    assert found.recipe == chosen
    assert found.keeps == (chosen == "nf3")
    assert found.candidates[0].recipe == "affine4"
    assert found.candidates[0].speed / found.candidates[1].speed == pytest.approx(gain)
    assert choose(costs(nf3=0.4, affine4=faster), {}, (), calibrated=True).recipe == "affine4"


def test_a_quick_twin_is_no_reason_to_stay_where_a_calibrated_one_is_made() -> None:
    near = costs(affine4=0.1, nf3=0.11)
    kept = dict([record("nf3", QUICK["nf3"].agreement, calibrated=False)])
    found = choose(near, kept, (), calibrated=True)
    assert found.recipe == "affine4"
    assert not any(one.is_kept for one in found.candidates)
    assert all(one.calibrated for one in found.candidates)


def test_a_calibrated_twin_is_taken_rather_than_a_quick_one_made() -> None:
    even = costs(affine3=0.4, affine4=0.4)
    assert choose(even, {}, (), calibrated=False).recipe == "affine4"
    kept = dict([record("affine3", 1.1 * CALIBRATED["affine3"].agreement)])
    found = choose(even, kept, (), calibrated=False)
    assert found.recipe == "affine3"
    assert {(one.recipe, one.calibrated) for one in found.candidates} == {
        *((recipe, False) for recipe in CANDIDATES), ("affine3", True)
    }


def test_acceptance_never_passes_one() -> None:
    found = choose(costs(), dict([record("nf3", 1.0)]), (), calibrated=True)
    assert all(one.acceptance <= 1 for one in found.candidates)
