"""Packing loses nothing, takes the bytes that are claimed, and lies in memory as the kernel reads it."""

from __future__ import annotations

import pytest
import torch

from inference.quantize.pack import (
    Packed,
    looked_up,
    pack,
    pack_indices,
    packed_beside,
    round_activations,
    round_levels,
    rounded,
    unpack_indices,
)

NORMAL = {
    2: torch.tensor([-1.0, -0.3, 0.25, 1.0]),
    3: torch.tensor([-1.0, -0.6, -0.33, -0.1, 0.1, 0.33, 0.6, 1.0]),
    4: torch.linspace(-1, 1, 16),
}


def matrix(bits: int, rows: int, width: int, block: int, *, offsets: bool = False, seed: int = 0) -> Packed:
    generator = torch.Generator().manual_seed(seed)
    indices = torch.randint(0, 2**bits, (rows, width), generator=generator).to(torch.uint8)
    scales = torch.rand(rows, width // block, generator=generator)
    shift = torch.randn(rows, width // block, generator=generator) if offsets else None
    return pack(indices, scales, NORMAL[bits], offsets=shift)


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("shape", [(1, 32), (5, 96), (7, 4096)])
def test_indices_come_back(bits: int, shape: tuple[int, int]) -> None:
    indices = torch.randint(0, 2**bits, shape, generator=torch.Generator().manual_seed(bits)).to(torch.uint8)
    words = pack_indices(indices, bits)
    assert words.dtype == torch.int32
    assert words.shape == (shape[0], bits, shape[1] // 32)
    assert torch.equal(unpack_indices(words, bits), indices)
    ones = torch.full(shape, 2**bits - 1, dtype=torch.uint8)
    assert bool((pack_indices(ones, bits) == -1).all()), "no bit is left unused"


def test_matrices_larger_than_a_piece_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.quantize.pack.PIECE", 200)
    indices = torch.randint(0, 8, (11, 64), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    assert torch.equal(unpack_indices(pack_indices(indices, 3), 3), indices)


def test_three_bits_lie_in_nibbles_with_the_last_eight_in_their_top_bits() -> None:
    indices = torch.zeros(1, 32, dtype=torch.uint8)
    indices[0, 9] = 0b101  # nibble 1 of word 1
    indices[0, 24 + 3] = 0b110  # the top bits of nibble 3, bit b in word b
    assert pack_indices(indices, 3)[0, :, 0].tolist() == [0, 5 << 4 | 8 << 12, 8 << 12]


@pytest.mark.parametrize(
    ("bits", "block", "offsets", "claimed"),
    [(3, 64, False, 3.25), (3, 32, False, 3.5), (3, 32, True, 4.0), (2, 64, False, 2.25), (4, 64, False, 4.25)],
)
def test_bytes_are_what_is_claimed(bits: int, block: int, offsets: bool, claimed: float) -> None:
    packed = matrix(bits, 48, 256, block, offsets=offsets)
    assert packed.block == block
    storages = [packed.words, packed.scales] + ([packed.offsets] if packed.offsets is not None else [])
    assert sum(part.untyped_storage().nbytes() for part in storages) == packed.bytes == 48 * 256 * claimed / 8
    assert packed.bits_per_weight == claimed


def test_the_value_is_level_times_scale_plus_offset() -> None:
    indices = torch.tensor([[i % 8 for i in range(64)]], dtype=torch.uint8)
    packed = pack(indices, torch.tensor([[0.5, 2.0]]), NORMAL[3], 50, torch.tensor([[0.25, -1.0]]))
    levels = torch.round(NORMAL[3] * packed.divisor) / packed.divisor
    expected = torch.cat([levels[indices[0, :32].long()] * 0.5 + 0.25, levels[indices[0, 32:].long()] * 2.0 - 1.0])
    assert torch.equal(packed.dequantize()[0], expected[:50])
    x = torch.randn(3, 50, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(packed.multiply(x), x @ expected[:50, None], atol=1e-5)


@pytest.mark.parametrize("count", [4, 8, 16])
def test_even_levels_are_exact_in_eight_bits(count: int) -> None:
    levels = torch.linspace(-1, 1, count)
    assert torch.allclose(rounded(levels), levels, atol=1e-7)


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_rounding_levels_twice_changes_nothing(bits: int) -> None:
    once = rounded(NORMAL[bits])
    assert torch.equal(rounded(once), once)
    assert (once - NORMAL[bits]).abs().max() < 0.5 / 100
    table, divisor = round_levels(once)
    assert torch.equal(table.float() / divisor, once)
    assert torch.equal(table, table.sort().values)


def test_parts_lie_below_each_other() -> None:
    first, second = matrix(3, 5, 64, 32, offsets=True), matrix(3, 3, 64, 32, offsets=True, seed=1)
    both = packed_beside([first, second])
    assert torch.equal(both.dequantize(), torch.cat([first.dequantize(), second.dequantize()]))
    assert both.bytes == first.bytes + second.bytes


def test_rounded_activations_are_within_half_a_step() -> None:
    x = torch.randn(4, 100, generator=torch.Generator().manual_seed(0))
    x[1, 32:64] = 0
    values, scales = round_activations(x)
    assert values.shape == (4, 4, 32)
    back = (values.float() * scales[..., None]).flatten(1)
    assert not back[:, 100:].any()
    assert not values[1, 1].any()
    error = (back[:, :100] - x).abs()
    assert bool((error <= scales.repeat_interleave(32, 1)[:, :100] * 0.501).all())
    product = matrix(3, 6, 128, 64).multiply_rounded(torch.nn.functional.pad(x, (0, 28)))
    exact = matrix(3, 6, 128, 64).multiply(torch.nn.functional.pad(x, (0, 28)))
    assert (product - exact).norm() < 0.01 * exact.norm()


def test_what_is_not_finite_stays_so() -> None:
    x = torch.zeros(2, 64)
    x[0, 3] = torch.inf
    x[1, 40] = torch.nan
    product = matrix(3, 4, 64, 32).multiply_rounded(x)
    assert not product.isfinite().any()


@pytest.mark.parametrize(("levels", "blocks"), [(5, 2), (32, 2), (8, 4), (8, 3)])
def test_other_sizes_are_refused(levels: int, blocks: int) -> None:
    with pytest.raises(ValueError, match=r"levels|groups"):
        pack(torch.zeros(2, 64, dtype=torch.uint8), torch.ones(2, blocks), torch.linspace(-1, 1, levels))


@pytest.mark.parametrize("offsets", [False, True], ids=["", "offsets"])
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_spread_weights_are_the_dequantized_ones(bits: int, offsets: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.quantize.pack.SPREAD", 500)  # several pieces, the last one smaller
    found = matrix(bits, 11, 192, 64, offsets=offsets)
    found = Packed(found.words, found.scales, found.offsets, found.table, found.divisor, bits, columns=150)
    for dtype in (torch.float32, torch.bfloat16):
        beside = torch.full((13, 150), 7.0, dtype=dtype)
        found.spread(beside[1:-1])
        assert torch.equal(beside[1:-1], found.dequantize().to(dtype))
        assert bool((beside[[0, -1]] == 7).all())


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_what_is_looked_up_is_what_the_indices_say(bits: int) -> None:
    indices = torch.randint(0, 2**bits, (9, 256), generator=torch.Generator().manual_seed(1)).to(torch.uint8)
    words = pack_indices(indices, bits)
    shifted = looked_up(words, bits, range(3, 3 + 2**bits))
    assert shifted.dtype == torch.int32
    assert torch.equal(shifted, indices.int() + 3)
    levels = NORMAL[bits].tolist()
    assert torch.equal(looked_up(words, bits, levels), torch.tensor(levels)[indices.int()])
