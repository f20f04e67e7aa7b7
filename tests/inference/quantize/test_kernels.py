"""The low-bit and 8-bit products, interpreted on the CPU and held to the oracle: odd sizes, last blocks, infinities."""

from __future__ import annotations

import pytest
import torch

from inference.quantize import triton_wide
from inference.quantize.pack import Packed, pack, round_activations
from inference.quantize.triton_launch import (
    WIDE_TILES,
    LowBitProduct,
    Tile,
    laid_anew,
    matrix_units_work,
    splits,
    tiles,
    trouble,
)
from inference.quantize.triton_steps import round_rows

pytestmark = pytest.mark.filterwarnings(
    # numpy, which interprets, warns of what is not finite; rows that do not count may hold anything.
    "ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning"
)

LEVELS = {
    2: torch.tensor([-1.0, -0.3, 0.25, 1.0]),
    3: torch.tensor([-1.0, -0.6, -0.33, -0.1, 0.1, 0.33, 0.6, 1.0]),
    4: torch.tensor([-1.0, -0.7, -0.52, -0.39, -0.28, -0.18, -0.09, 0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0]),
}
"""4 bits as in NF4: seven below zero, zero, and eight above."""

EVEN = {bits: torch.linspace(-1, 1, 2**bits) for bits in LEVELS}
"""Whose indices are multiplied as they are."""


def matrix(
    bits: int,
    out: int,
    width: int,
    block: int,
    *,
    offsets: bool = False,
    columns: int | None = None,
    levels: dict[int, torch.Tensor] = LEVELS,
) -> Packed:
    generator = torch.Generator().manual_seed(out + width)
    indices = torch.randint(0, 2**bits, (out, width), generator=generator).to(torch.uint8)
    scales = torch.rand(out, width // block, generator=generator)
    shift = torch.randn(out, width // block, generator=generator) if offsets else None
    return pack(indices, scales, levels[bits], columns, shift)


def rows(count: int, columns: int) -> torch.Tensor:
    return torch.randn(count, columns, generator=torch.Generator().manual_seed(count))


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize(("levels", "offsets"), [(LEVELS, False), (LEVELS, True), (EVEN, False), (EVEN, True)])
@pytest.mark.parametrize(
    ("count", "out", "width", "columns", "tile"),
    [
        (1, 13, 96, 70, Tile(8, 32, 1, 4)),  # one row; a last tile of outputs, groups and columns
        (3, 8, 320, 320, Tile(4, 2, 2, 4)),  # parts of different length
        (13, 5, 64, 64, Tile(8, 4, 2, 4)),  # four rows a program; a part that has nothing to do
    ],
)
def test_the_product_is_the_oracles(
    bits: int,
    levels: dict[int, torch.Tensor],
    offsets: bool,
    count: int,
    out: int,
    width: int,
    columns: int,
    tile: Tile,
) -> None:
    packed = matrix(bits, out, width, 32, offsets=offsets, columns=columns, levels=levels)
    x = rows(count, columns)
    found = four_way([packed], tile)(x)
    assert found.shape == (count, out)
    assert torch.allclose(found, packed.multiply_rounded(x), atol=2e-5)


def four_way(parts: list[Packed], tile: Tile) -> LowBitProduct:
    """As on cards without matrix units, for any number of rows."""
    product = LowBitProduct(parts, tile)
    product.on_matrix_units = False
    return product


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("levels", [LEVELS, EVEN], ids=["uneven", "even"])
@pytest.mark.parametrize(
    ("bits", "offsets", "count", "out", "width", "columns", "tile"),
    [
        (2, False, 5, 13, 96, 70, Tile(16, 4, 1, 4)),  # rows made up to eight; last tiles of outputs, groups, columns
        (3, True, 5, 13, 96, 70, Tile(8, 2, 1, 4)),
        (4, False, 16, 5, 64, 64, Tile(8, 4, 2, 4)),  # a part that has nothing to do
        (4, True, 9, 16, 160, 160, Tile(16, 2, 2, 4)),  # parts of different length
        (3, True, 16, 16, 64, 64, Tile(16, 2, 1, 4)),  # all whole
    ],
)
def test_the_product_on_matrix_units_is_the_oracles_but_for_sixteen_bits(
    levels: dict[int, torch.Tensor],
    bits: int,
    offsets: bool,
    count: int,
    out: int,
    width: int,
    columns: int,
    tile: Tile,
) -> None:
    packed = matrix(bits, out, width, 32, offsets=offsets, columns=columns, levels=levels)
    x = rows(count, columns)
    found = LowBitProduct([packed], tile)(x)
    assert found.shape == (count, out)
    assert 0 < error(found, packed.multiply_rounded(x)) < 5e-4
    assert error(packed.multiply_rounded(x), packed.multiply(x)) > 2e-3, "rounding activations to 8 bits costs more"


def test_scales_of_any_size_fit_sixteen_bits() -> None:
    generator = torch.Generator().manual_seed(0)
    indices = torch.randint(0, 8, (4, 64), generator=generator).to(torch.uint8)
    scales, shift = torch.rand(4, 2, generator=generator), torch.randn(4, 2, generator=generator)
    for packed, size in (
        (pack(indices, scales * 2.0**-40, LEVELS[3]), 2.0**40),
        (pack(indices, scales * 2.0**40, LEVELS[3], None, shift * 2.0**48), 2.0**-40),  # offsets larger than scales
        (pack(indices, scales * 2.0**40, EVEN[3], None, shift * 2.0**48), 2.0**-40),
        (pack(indices, scales * 0, LEVELS[3], None, shift), 1.0),
        (pack(indices, scales * 0, EVEN[3], None, shift), 1.0),
    ):
        x = rows(6, 64) * size
        assert error(LowBitProduct([packed], Tile(4, 2, 1, 4))(x), packed.multiply_rounded(x)) < 1e-3


@pytest.mark.parametrize("levels", [LEVELS, EVEN], ids=["uneven", "even"])
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_every_level_is_looked_up(levels: dict[int, torch.Tensor], bits: int) -> None:
    """Weights one at a time: a unit vector reads a column, in each of the 32 places of a group."""
    count = 2**bits
    indices = (torch.arange(32)[None, :] + torch.arange(count)[:, None]).remainder(count).to(torch.uint8)
    packed = pack(indices, torch.ones(count, 1), levels[bits])
    product = LowBitProduct([packed], Tile(count, 1, 1, 4))
    places = torch.tensor([0, 3, 4, 7, 8, 13, 16, 21, 23, 24, 25, 26, 27, 29, 30, 31])
    expected = packed.dequantize().T[places]
    assert torch.allclose(product(torch.eye(32)[places]), expected, atol=1e-3)
    product.on_matrix_units = False
    assert torch.allclose(product(torch.eye(32)[places]), expected, atol=1e-6)


def test_matrices_of_different_bits_lie_side_by_side() -> None:
    parts = [matrix(3, 6, 64, 64), matrix(4, 9, 64, 32, offsets=True, levels=EVEN)]
    product = LowBitProduct(parts, Tile(4, 2, 1, 4))
    x = rows(2, 64)
    expected = torch.cat([part.multiply_rounded(x) for part in parts], 1)
    assert torch.allclose(product(x), expected, atol=2e-5)
    assert product.bytes == sum(part.bytes for part in parts)


def test_more_rows_than_a_launch_takes_go_in_turns() -> None:
    packed = matrix(3, 4, 64, 64)
    x = rows(19, 64)
    assert torch.allclose(four_way([packed], Tile(4, 2, 1, 4))(x), packed.multiply_rounded(x), atol=2e-5)
    assert error(LowBitProduct([packed], Tile(4, 2, 1, 4))(x), packed.multiply_rounded(x)) < 5e-4


@pytest.mark.parametrize(("levels", "offsets"), [(LEVELS, False), (EVEN, True)], ids=["uneven", "even"])
def test_zeros_stay_zeros_and_what_is_not_finite_stays_so(levels: dict[int, torch.Tensor], offsets: bool) -> None:
    packed = matrix(3, 8, 96, 32, offsets=offsets, levels=levels)
    product = LowBitProduct([packed], Tile(8, 4, 1, 4))
    x = rows(4, 96)
    x[0] = 0
    x[1, 40:] = 0
    x[2, 70] = torch.inf
    x[3, 3] = torch.nan
    found = product(x)
    assert not found[0].any()
    assert torch.allclose(found[1], packed.multiply_rounded(x[1:2])[0], atol=2e-5)
    assert not found[2:].isfinite().any()
    found = product(torch.cat([x, x[:2]]))  # on matrix units
    assert not found[[0, 4]].any()
    assert error(found[[1, 5]], packed.multiply_rounded(x[1:2]).expand(2, -1)) < 5e-4
    assert not found[2:4].isfinite().any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_rows_are_rounded_as_the_oracle_rounds_them(dtype: torch.dtype) -> None:
    x = rows(3, 300).to(dtype)
    x[1, 64:96] = 0
    x[2, 5] *= 1000
    found = round_rows(x)
    values, scales = round_activations(x)
    bytes = torch.stack([found.values[:3] << 24 - 8 * place >> 24 for place in range(4)], -1)  # [rows, 8, groups, 4]
    assert torch.equal(bytes.permute(0, 2, 1, 3).flatten(2), values.int())
    assert torch.equal(found.scales[:3], scales)
    assert torch.allclose(found.sums[:3], values.sum(-1).float() * scales)
    assert found.values.shape == (4, 8, 10)


@pytest.mark.parametrize("levels", [LEVELS, EVEN], ids=["uneven", "even"])
def test_activations_of_16_bits_are_not_rounded(levels: dict[int, torch.Tensor]) -> None:
    packed = matrix(3, 11, 96, 32, offsets=True, columns=90, levels=levels)
    x = rows(2, 90)
    found = LowBitProduct([packed]).with_16_bit_activations(x)
    assert torch.allclose(found, packed.multiply(x), atol=2e-5)
    error = (packed.multiply_rounded(x) - packed.multiply(x)).norm() / packed.multiply(x).norm()
    assert 0 < error < 0.01


def test_columns_are_split_where_outputs_are_few() -> None:
    tile = tiles(1)[0]
    assert splits(128_256, 128, tile, 132) == 1
    assert splits(1536, 280, tile, 132) == 4  # so long as each part has a whole tile of groups
    assert splits(64, 2, tile, 132) == 1


def test_rows_go_to_matrix_units_where_four_way_products_would_take_too_long() -> None:
    for packed, few in (
        (matrix(3, 4, 64, 64), 4),
        (matrix(4, 4, 64, 64), 3),  # 16 levels that are looked up
        (matrix(4, 4, 64, 64, levels=EVEN), 4),
    ):
        product = LowBitProduct([packed])
        assert product.tile(few).out == tiles(few)[0].out
        assert product.tile(few + 1).out == product.tile(16).out == WIDE_TILES[0].out
        product.on_matrix_units, product._tiles = False, {}
        assert product.tile(16).out == tiles(16)[0].out


def test_four_rows_of_sixteen_levels_go_to_matrix_units_as_eight() -> None:
    packed = matrix(4, 8, 64, 64)
    x = rows(4, 64)
    found = LowBitProduct([packed], Tile(8, 2, 1, 4))(x)
    assert 0 < error(found, packed.multiply_rounded(x)) < 5e-4


def test_even_words_are_laid_anew_and_the_others_left_alone() -> None:
    word = torch.tensor([[0x76543210, -0x10000000]], dtype=torch.int32)
    assert [f"{number & 0xFFFFFFFF:08x}" for number in laid_anew(word)[0].tolist()] == ["73625140", "f0000000"]
    packed = matrix(3, 4, 64, 64)
    assert LowBitProduct([packed]).operands[0].matrix is packed
    even = matrix(3, 4, 64, 64, levels=EVEN)
    before = even.words.clone()
    product = LowBitProduct([even])
    assert product.operands[0].matrix.words is not even.words
    assert torch.equal(even.words, before)
    assert product.bytes == even.bytes


def test_sixteen_levels_must_be_divided_at_zero() -> None:
    packed = pack(torch.zeros(1, 32, dtype=torch.uint8), torch.ones(1, 1), torch.linspace(-1, 0, 16) ** 3 + 0.2)
    with pytest.raises(ValueError, match="levels"):
        LowBitProduct([packed])


def test_the_kernels_are_tried_before_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")  # interpreted
    assert trouble(cpu) is None
    assert matrix_units_work(cpu)
    multiply = Packed.multiply
    monkeypatch.setattr(Packed, "multiply", lambda self, x: -multiply(self, x))
    assert not matrix_units_work(cpu), "another product than the oracle's"
    monkeypatch.undo()
    monkeypatch.setattr(triton_wide, "wide_product", None)
    assert not matrix_units_work(cpu), "one that cannot be launched"
