"""The winner of a row from the compiled side, against numpy's argmax over the nucleus with the same noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.native import choice, noise
from inference.settings import Sampling

pytestmark = pytest.mark.skipif(not noise.available(), reason="nothing is compiled on this machine")

ROWS = st.tuples(
    st.integers(1, 9000), st.sampled_from([0.01, 1.0, 8.0, 300.0]), st.sampled_from(["free", "ties", "equal", "cut"]),
    st.integers(0, 2**32),
)  # fmt: skip


def made(size: int, spread: float, kind: str, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    row = (generator.standard_normal(size) * spread).astype(np.float32)
    if kind == "ties":
        row = np.round(row, 1)
        row[row == 0] *= -1  # both zeros: neither is better
    elif kind == "equal":
        row[:] = 1
    elif kind == "cut":
        row[generator.random(size) < 0.3] = -np.inf
        row[0] = 0
    return row


def by_numpy(row: np.ndarray, sampling: Sampling, seed: int, position: int) -> int:
    warmed = row / np.float32(sampling.temperature)
    ids = np.arange(row.size) if sampling.top_p == 1 else choice.nucleus(warmed, sampling.top_p)
    assert ids is not None
    if sampling.min_p:
        ids = ids[warmed[ids] >= warmed.max() + np.float32(math.log(sampling.min_p))]
    return int(ids[(warmed[ids] + noise.gumbel(seed, position, row.size)[ids]).argmax()])


@given(
    ROWS, st.sampled_from([0.1, 0.7, 1.0, 2.0]), st.sampled_from([1e-6, 0.1, 0.5, 0.95, 0.9999999, 1.0]),
    st.sampled_from([0.0, 0.01, 0.5, 1.0]), st.integers(0, 2**63),
)  # fmt: skip
@settings(max_examples=300)
def test_the_winner_is_the_best_of_the_nucleus_with_its_noise(
    row_of: tuple[int, float, str, int], temperature: float, top_p: float, min_p: float, position: int
) -> None:
    row, seed = made(*row_of), row_of[3]
    sampling = Sampling(temperature=temperature, top_p=top_p, top_k=0, min_p=min_p)
    assert choice.choose(row, sampling, seed, position) == by_numpy(row, sampling, seed, position)


def test_a_token_beyond_the_border_never_wins_however_large_its_noise() -> None:
    row = np.zeros(5000, dtype=np.float32)
    row[[7, 4000]] = 9
    assert float(np.exp(row - 9)[row == 0].sum()) > 0.5  # together the others would win every fifth time
    for top_p, inside in ((0.3, {7}), (0.6, {7, 4000})):  # each of the two has a share of .38
        sampling = Sampling(temperature=1, top_p=top_p, top_k=0)
        assert {choice.choose(row, sampling, 3, position) for position in range(500)} == inside


@pytest.mark.parametrize("top_p", [0.2, 0.95, 1.0])
def test_the_winner_is_the_same_on_any_threads(top_p: float) -> None:
    row = np.random.default_rng(4).standard_normal(50_000).astype(np.float32)
    sampling = Sampling(temperature=1.5, top_p=top_p, top_k=0)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append([choice.choose(row, sampling, 11, position) for position in range(40)])
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) > 20


@pytest.mark.parametrize("odd", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 12, 36])
def test_rows_without_a_largest_number_are_declined(odd: float, place: int) -> None:
    row = np.zeros(37, dtype=np.float32)
    row[place] = odd
    assert choice.choose(row, Sampling(temperature=1, top_p=0.9, top_k=0), 1, 1) is None
    assert choice.choose(row, Sampling(temperature=1, top_p=1, top_k=0), 1, 1) is None
    assert choice.nucleus(row, 0.9) is None
    assert choice.nucleus(np.full(37, -np.inf, dtype=np.float32), 0.9) is None


def test_rows_are_read_whatever_their_steps_in_memory() -> None:
    row = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    twice = np.repeat(row, 2)[::2]
    assert not twice.flags.c_contiguous
    sampling = Sampling(temperature=1, top_p=0.8, top_k=0)
    assert choice.choose(twice, sampling, 5, 6) == choice.choose(row, sampling, 5, 6)
    assert np.array_equal(choice.nucleus(twice, 0.8), choice.nucleus(row, 0.8))
