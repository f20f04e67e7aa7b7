"""Compiled noise: Philox as its authors define it, finite, a function of its key, and distributed as it should be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from inference.native import noise, products
from inference.native.noise import gumbel

pytestmark = pytest.mark.skipif(not products.available(), reason=f"no compiled products: {products.trouble()}")

MASK = 2**32 - 1


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 in plain numbers."""
    a, b, c, d = counter
    first, second = key
    for _ in range(10):
        one, two = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (two >> 32) ^ b ^ first, two & MASK, (one >> 32) ^ d ^ second, one & MASK
        first, second = first + 0x9E3779B9 & MASK, second + 0xBB67AE85 & MASK
    return [a, b, c, d]


def test_the_plain_reference_is_the_published_one() -> None:
    """Known answers of the authors' Random123."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([MASK] * 4, [MASK] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**48), st.integers(1, 70), st.integers(0, 2**17))
def test_it_is_the_logarithm_of_philoxs_words(seed: int, position: int, size: int, token: int) -> None:
    whole = gumbel(seed, position, size)
    assert whole.dtype == np.float32
    ids = np.array([*range(size), token])
    some = gumbel(seed, position, 0, ids)
    assert (some[:-1] == whole).all()
    for id, found in zip(ids.tolist(), some.tolist(), strict=True):
        key = [seed & MASK, seed >> 32]
        share = (philox([id // 4, 0, position & MASK, position >> 32], key)[id % 4] + 0.5) / 2**32
        drawn = -np.log1p(-share)
        # Near 1 a share keeps 24 bits: half of the last one, seen through both logarithms.
        assert found == pytest.approx(-np.log(drawn), abs=3e-5 + 2**-24 / (max(1 - share, 2**-24) * drawn))


def test_threads_draw_the_same() -> None:
    threads = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            found.append(gumbel(7, 3, 50_001))
            assert (gumbel(7, 3, 0, np.arange(50_001)) == found[0]).all()
    finally:
        torch.set_num_threads(threads)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_it_has_the_distribution_of_gumbels_largest_value() -> None:
    """Mean, variance and both tails of two million; all finite."""
    found = np.concatenate([gumbel(5, position, 200_000) for position in range(10)]).astype(np.float64)
    assert np.isfinite(found).all()
    assert found.mean() == pytest.approx(np.euler_gamma, abs=0.004)
    assert found.var() == pytest.approx(np.pi**2 / 6, abs=0.015)
    for above in (-1.0, 0.0, 3.0, 8.0):
        share = 1 - np.exp(-np.exp(-above))
        assert (found > above).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / found.size))


def test_the_ends_of_the_words_are_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest noise of a word is -log(2**-33), the least that of a share a little below one."""
    found = np.concatenate([gumbel(seed, 0, 150_000) for seed in range(40)])
    assert -np.log(25) < found.min() < -2.5
    assert 12 < found.max() < 33 * np.log(2) + 0.01
    assert noise.version() == products.version()
