"""The compiled products against plain ones: every kind, odd sizes, what is no number, and rows in any company."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from inference.native import library, products
from inference.native.products import LowBit, dense
from inference.quantize.pack import pack
from inference.quantize.recipes import normal_float

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not products.available(), reason=f"no compiled products: {products.trouble()}")

SHAPES = [(1, 1), (8, 7), (24, 8), (25, 9), (49, 100), (130, 576), (23, 1537)]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(5)


@pytest.fixture(params=["wide", "narrow"], autouse=True)
def registers(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test with the registers of AVX-512, where there are any, and with those of AVX2."""
    found: str = request.param
    is_wide = products.widen(found == "wide")
    if found == "wide" and not is_wide:
        assert "avx512_vnni" not in Path("/proc/cpuinfo").read_text(encoding="utf-8")
        pytest.skip("no AVX-512 with VNNI")
    yield found
    products.widen(True)


def test_where_there_is_a_compiler_and_a_fitting_processor_they_work() -> None:
    """The condition of all tests here must not hide a source that does not compile."""
    assert products.trouble() in (None, "platform", "compiler", "processor")
    if library.compiler() is not None and torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512"):
        assert products.trouble() is None


@pytest.mark.parametrize("dtype", products.KINDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_dense_product_is_the_sum_of_products(shape: tuple[int, int], dtype: torch.dtype) -> None:
    weight = torch.randn(shape).to(dtype)
    for rows in (1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16, 50):
        x, bias = torch.randn(rows, shape[1]), torch.randn(shape[0])
        exact = x.double() @ weight.double().T
        torch.testing.assert_close(dense(x, weight, None), exact.float(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(dense(x, weight, bias), (exact + bias).float(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", products.KINDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_has_the_same_bits_in_any_company(shape: tuple[int, int], dtype: torch.dtype) -> None:
    weight, x = torch.randn(shape).to(dtype), torch.randn(17, shape[1])
    alone = torch.cat([dense(row[None], weight, None) for row in x])
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            for rows in range(2, len(x) + 1):
                assert torch.equal(dense(x[:rows], weight, None), alone[:rows])
    finally:
        torch.set_num_threads(threads)


def test_rows_that_lie_apart_are_taken_as_they_are() -> None:
    weight, x = torch.randn(10, 64).bfloat16(), torch.randn(64, 6)
    assert torch.equal(dense(x.T, weight, None), dense(x.T.contiguous(), weight, None))


def test_what_is_no_number_stays_none_and_spoils_no_other_row() -> None:
    weight, x = torch.randn(30, 64).bfloat16(), torch.randn(3, 64)
    x[1, 5] = float("nan")
    found = dense(x, weight, None)
    assert found[1].isnan().all()
    assert torch.equal(found[::2], dense(x[::2], weight, None))


LEVELS = {"even": lambda bits: torch.linspace(-1, 1, 2**bits), "normal": lambda bits: normal_float(2**bits)}


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize(("block", "has_offsets"), [(32, True), (64, False), (128, False), (32, False), (64, True)])
@pytest.mark.parametrize("columns", [256, 300, 576, 33, 1500])
def test_a_low_bit_product_is_the_oracles(
    bits: int, levels: str, block: int, has_offsets: bool, columns: int
) -> None:
    width = -(-columns // block) * block
    indices = torch.randint(0, 2**bits, (37, width), dtype=torch.uint8)
    scales = torch.randn(37, width // block)
    matrix = pack(indices, scales, LEVELS[levels](bits), columns, torch.randn_like(scales) if has_offsets else None)
    product = LowBit(matrix)
    assert product.bytes <= matrix.bytes * max(1, block // 64) + 64
    for rows in (1, 2, 3, 4, 5, 9):
        x = torch.randn(rows, columns) * torch.rand(rows, 1) * 10
        x[:, : min(32, columns)] *= 1e-3  # a group of its own scale
        out = torch.full((rows, 40), 7.0)
        product(x, out[:, 2:39])
        oracle = matrix.multiply_rounded(x)
        torch.testing.assert_close(out[:, 2:39], oracle, rtol=1e-4, atol=1e-4 * float(oracle.abs().max()))
        assert (out[:, :2] == 7).all()
        assert (out[:, 39:] == 7).all()


@pytest.mark.parametrize("levels", LEVELS)
def test_groups_of_zeros_and_of_no_numbers(levels: str) -> None:
    indices = torch.randint(0, 8, (5, 320), dtype=torch.uint8)
    matrix = pack(indices, torch.rand(5, 10), LEVELS[levels](3), 320, torch.rand(5, 10))
    x = torch.randn(4, 320)
    x[0] = 0
    x[1, 64:96] = 0
    x[2, 70] = float("inf")
    x[3, 300] = float("nan")
    out = torch.empty(4, 5)
    LowBit(matrix)(x, out)
    assert (out[0] == 0).all()
    torch.testing.assert_close(out[:2], matrix.multiply_rounded(x[:2]), rtol=1e-4, atol=1e-4)
    assert not out[2:].isfinite().any()


def test_the_largest_levels_and_activations_do_not_overflow() -> None:
    """Two products of 127 by 127 are 32,258; sixteen indices of 15 by 127, 30,480: both below 32,768."""
    for levels, index in ((normal_float(16), 15), (normal_float(16), 0), (torch.linspace(-1, 1, 16), 15)):
        matrix = pack(torch.full((3, 256), index, dtype=torch.uint8), torch.ones(3, 4), levels)
        for sign in (1.0, -1.0):
            x = torch.full((2, 256), sign)
            out = torch.empty(2, 3)
            LowBit(matrix)(x, out)
            torch.testing.assert_close(out, torch.full((2, 3), 256 * sign * float(matrix.levels[index])))


@pytest.mark.parametrize("dtype", products.KINDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_wide_registers_give_a_dense_product_the_same_bits(
    shape: tuple[int, int], dtype: torch.dtype, registers: str
) -> None:
    weight, bias = torch.randn(shape).to(dtype), torch.randn(shape[0])
    for rows in range(1, 20):
        x = torch.randn(rows, shape[1])
        found = dense(x, weight, bias)
        products.widen(registers != "wide")
        assert torch.equal(found, dense(x, weight, bias))
        products.widen(registers == "wide")


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("columns", [33, 256, 576, 1500])
@pytest.mark.parametrize("outputs", [1, 2, 25, 49])
def test_wide_registers_give_a_low_bit_product_the_same_bits(
    bits: int, levels: str, columns: int, outputs: int, registers: str
) -> None:
    width = -(-columns // 64) * 64
    indices = torch.randint(0, 2**bits, (outputs, width), dtype=torch.uint8)
    x = torch.randn(9, columns)
    x[3] = 0
    for block in (32, 64):
        scales = torch.randn(outputs, width // block)
        offsets = torch.randn_like(scales) if block == 32 else None
        product = LowBit(pack(indices, scales, LEVELS[levels](bits), columns, offsets))
        for rows in (1, 3, 4, 5, 9):
            found, other = torch.empty(2, rows, outputs)
            product(x[:rows], found)
            products.widen(registers != "wide")
            product(x[:rows], other)
            assert torch.equal(found, other)
            products.widen(registers == "wide")
