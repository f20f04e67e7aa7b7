"""Noise and warpers: their distribution, their order, their ties."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.native import noise, products
from inference.noise import BLOCK, Draws, keyed_draws, keyed_noise
from inference.sampling import Sampler, largest, nucleus, warp
from inference.settings import Sampling

CRITICAL_15 = 44.0
"""Chi-square with 15 degrees of freedom is above this once in 10,000 tests; seeds are fixed."""


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    keep = expected > 0
    assert counts[~keep].sum() == 0
    return float((((counts - expected) ** 2)[keep] / expected[keep]).sum())


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


LOGITS = np.random.default_rng(3).standard_normal(16).astype(np.float32) * 1.5


@pytest.mark.parametrize("over", ["seeds", "positions"])
def test_plain_keyed_sampling_has_the_softmax_distribution(over: str) -> None:
    draws = 20_000
    sampling = Sampling(temperature=0.8, top_p=1.0)
    counts = np.zeros(16)
    for i in range(draws):
        seed, position = (i, 5) if over == "seeds" else (5, i)
        counts[Sampler(sampling, seed, []).choose(LOGITS, position)] += 1
    assert chi_square(counts, softmax(LOGITS / np.float32(0.8)) * draws) < CRITICAL_15


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.7, top_k=4, top_p=1.0),
        Sampling(temperature=1.3, top_p=0.8),
        Sampling(temperature=1.3, top_p=1.0, min_p=0.1),
        Sampling(temperature=1.3, top_k=9, top_p=0.9, min_p=0.05),
    ],
)
def test_a11_sampling_draws_from_the_warped_distribution(sampling: Sampling) -> None:
    draws = 50_000
    logits, ids = warp(LOGITS, sampling)
    assert ids is not None
    assert len(ids) < 16
    expected = np.zeros(16)
    expected[ids] = softmax(logits) * draws
    counts = np.bincount([Sampler(sampling, seed, []).choose(LOGITS, 0) for seed in range(draws)], minlength=16)
    assert chi_square(counts, expected) < CRITICAL_15


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**40), st.integers(1, 3000))
def test_noise_is_finite_and_a_function_of_its_key(seed: int, position: int, size: int) -> None:
    noise = keyed_noise(seed, position, size)
    assert noise.dtype == np.float32
    assert np.isfinite(noise).all()
    assert (noise == keyed_noise(seed, position, size)).all()


@given(st.integers(0, 2**63 - 1), st.lists(st.integers(0, 3 * BLOCK), min_size=1, max_size=9), st.booleans())
def test_noise_of_some_tokens_is_theirs_in_the_whole_row(seed: int, ids: list[int], with_more: bool) -> None:
    whole = keyed_draws(seed, 7, 3 * BLOCK + 1)
    draws = Draws(seed, 7, 3 * BLOCK + 1)
    if with_more:
        assert draws.of(np.array([BLOCK])) == whole[BLOCK]
    assert (draws.of(np.array(ids)) == whole[ids]).all()
    assert (draws.all()[: whole.size] == whole).all()
    assert (whole[:BLOCK] == whole[BLOCK : 2 * BLOCK]).mean() < 0.01  # no two blocks are alike


def test_noise_survives_a_draw_of_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    class Zeros:
        def __init__(self, bits: object) -> None: ...

        def standard_exponential(self, size: int) -> np.ndarray:
            return np.zeros(size)

    monkeypatch.setattr(np.random, "Generator", Zeros)
    assert np.isfinite(keyed_noise(1, 2, 10)).all()


def test_ties_go_to_the_lower_id() -> None:
    row = np.array([1, 3, 3, 2, 3], dtype=np.float32)
    assert Sampler(Sampling(temperature=0), 0, []).choose(row, 0) == 1
    assert largest(row, 2).tolist() == [1, 2]
    assert largest(row, 4).tolist() == [1, 2, 4, 3]
    assert largest(row, 9).tolist() == [1, 2, 4, 3, 0]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=40), st.integers(1, 45))
def test_largest_is_the_head_of_a_stable_sort(values: list[int], count: int) -> None:
    row = np.array(values, dtype=np.float32)
    assert largest(row, count).tolist() == sorted(range(len(values)), key=lambda i: (-values[i], i))[:count]


@given(
    st.lists(st.floats(-8, 8, width=32), min_size=2, max_size=700),
    st.sampled_from([0, 3, 40]),
    st.sampled_from([0.3, 0.9, 0.999]),
    st.sampled_from([0.0, 0.05]),
)
def test_warp_keeps_what_the_definitions_keep(values: list[float], top_k: int, top_p: float, min_p: float) -> None:
    """Against the textbook definitions in float64, away from the borders that float32 may round over."""
    sampling = Sampling(temperature=0.7, top_k=top_k, top_p=top_p, min_p=min_p)
    row = np.array(values, dtype=np.float32)
    logits, ids = warp(row, sampling)
    kept = set(range(len(row)) if ids is None else ids.tolist())
    scaled = row.astype(np.float64) / 0.7
    order = sorted(range(len(row)), key=lambda i: (-row[i], i))
    if top_k:
        order = order[:top_k]
    weights = np.exp(scaled[order] - scaled.max())
    shares = weights / weights.sum()
    before = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
    for place, token in enumerate(order):
        margins = [top_p - before[place], scaled[token] - scaled.max() - np.log(min_p) if min_p else 1.0]
        if all(margin > 1e-4 for margin in margins):
            assert token in kept
        elif any(margin < -1e-4 for margin in margins):
            assert token not in kept
    assert kept <= set(order)
    assert order[0] in kept
    if ids is not None:
        assert (np.diff(ids) > 0).all()
        assert np.array_equal(logits, (row / np.float32(0.7))[ids])


def test_top_p_doubles_until_the_mass_is_held() -> None:
    row = np.zeros(2000, dtype=np.float32)
    _, ids = warp(row, Sampling(temperature=1.0, top_p=0.75))
    assert ids is not None
    assert abs(len(ids) - 1500) <= 1


def test_penalties_count_prompt_output_and_path_apart() -> None:
    row = np.array([2.0, 2.0, -1.0, 2.0], dtype=np.float32)
    sampler = Sampler(Sampling(temperature=0, repetition_penalty=2.0, frequency_penalty=0.25), 0, prompt=[0, 2])
    penalties = sampler._processors
    assert penalties.apply(row, []).tolist() == [1.0, 2.0, -2.0, 2.0]  # the prompt counts for repetition only
    assert penalties.apply(row, [1, 1]).tolist() == [1.0, 0.5, -2.0, 2.0]
    assert penalties.apply(row, []).tolist() == [1.0, 2.0, -2.0, 2.0]  # the path left no trace
    sampler.commit(3, 2)
    assert penalties.apply(row, []).tolist() == [1.0, 2.0, -2.0, 0.75]
    assert row.tolist() == [2.0, 2.0, -1.0, 2.0]


def test_min_new_tokens_keeps_every_end_token_back_along_the_path() -> None:
    row = np.array([1.0, 9.0, 8.0, 2.0], dtype=np.float32)
    sampler = Sampler(Sampling(temperature=0, min_new_tokens=2), 0, [], ends=[1, 2])
    assert [sampler.choose(row, 0), sampler.choose(row, 1, [3]), sampler.choose(row, 2, [3, 3])] == [3, 3, 1]
    sampler.commit(3, 0)
    assert [sampler.choose(row, 1), sampler.choose(row, 2, [3])] == [3, 1]


def test_logit_bias_is_added_to_its_token() -> None:
    row = np.array([1.0, 0.5, 0.0], dtype=np.float32)
    assert Sampler(Sampling(temperature=0), 0, [], bias={1: 0.6}).choose(row, 0) == 1
    assert Sampler(Sampling(temperature=0), 0, [], bias={0: -100.0, 7: 5.0}).choose(row, 0) == 1


@pytest.mark.parametrize("compiled", [True, False])
@given(
    st.integers(1, 6000),
    st.sampled_from([0.01, 0.5, 3.0, 10.0]),
    st.sampled_from(["plain", "ties", "equal", "cut"]),
    st.sampled_from([1e-6, 0.1, 0.5, 0.9, 0.95, 0.999]),
    st.integers(0, 2**32),
)
def test_the_nucleus_is_that_of_a_full_sort(
    compiled: bool, size: int, spread: float, kind: str, top_p: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    row = (generator.standard_normal(size) * spread).astype(np.float32)
    if kind == "ties":
        row = np.round(row, 1)
    elif kind == "equal":
        row[:] = 1
    elif kind == "cut":
        row[generator.random(size) < 0.3] = -np.inf
        row[0] = 0
    order = np.argsort(-row, kind="stable")
    share = np.cumsum(softmax(row.astype(np.float64))[order])
    with patch.object(noise, "available", lambda: compiled and products.available()):
        found = nucleus(row, top_p)
    assert found.tolist() == sorted(order[: found.size].tolist())
    # Sums of another order may round the border to the neighbour.
    assert share[found.size - 1] >= top_p - 1e-6
    assert found.size == 1 or share[found.size - 2] < top_p + 1e-6


@given(
    st.integers(1, 60), st.integers(1, 5), st.integers(0, 99),
    st.sampled_from([
        Sampling(temperature=0), Sampling(temperature=0.8, top_p=1.0), Sampling(temperature=0.8, top_p=0.7),
        Sampling(temperature=1.2, top_k=3, repetition_penalty=1.3),
    ]),
)  # fmt: skip
def test_the_first_of_the_leading_tokens_is_the_chosen_one_and_no_two_are_the_same(
    size: int, count: int, position: int, sampling: Sampling
) -> None:
    row = np.random.default_rng(position).standard_normal(size).astype(np.float32)
    found = Sampler(sampling, 7, [1, 2]).leading(row, position, [3], count)
    assert found[0] == Sampler(sampling, 7, [1, 2]).choose(row, position, [3])
    assert len(set(found)) == len(found) <= min(count, size)
    without = row.copy()
    without[found[0]] = -np.inf
    if len(found) > 1 and sampling.top_p == 1 and not sampling.top_k:  # the next best is chosen where the best is not
        assert found[1] == Sampler(sampling, 7, [1, 2]).choose(without, position, [3])
