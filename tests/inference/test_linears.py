"""Joined and packed matrices give the products of the matrices they are made of."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from inference import linears
from inference.linears import DenseLinear, join, joined_bias, packed_rows, packs

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "out", "columns"), [(1, 48, 33), (2, 7, 64), (9, 200, 96), (70, 33, 40)])
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_that_of_the_plain_layer(
    dtype: torch.dtype, rows: int, out: int, columns: int, bias: bool
) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(columns, out, bias=bias, dtype=dtype).requires_grad_(False)
    x = torch.randn(rows, columns, dtype=dtype)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0.02, "atol": 0.02}
    torch.testing.assert_close(DenseLinear(layer.weight, layer.bias)(x), layer(x), **tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_joined_layers_lie_side_by_side(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    layers = [nn.Linear(32, out, bias=out != 24, dtype=dtype).requires_grad_(False) for out in (48, 16, 24)]
    x = torch.randn(3, 32, dtype=dtype)
    wanted = torch.cat([layer(x) for layer in layers], -1)
    torch.testing.assert_close(join(layers)(x), wanted, rtol=0.02, atol=0.02)
    assert joined_bias([layers[2]]) is None
    assert joined_bias([layers[0]]) is layers[0].bias


def test_without_the_private_operators_the_plain_product_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.Linear(64, 48, dtype=torch.bfloat16).requires_grad_(False)
    x = torch.randn(2, 64, dtype=torch.bfloat16)

    def missing(weight: torch.Tensor) -> torch.Tensor:
        raise AttributeError(weight)

    monkeypatch.setattr(linears, "_pack", missing)
    linears.packs.cache_clear()
    try:
        plain = DenseLinear(layer.weight, layer.bias)
        assert not plain.is_packed
        assert torch.equal(plain(x), functional.linear(x, layer.weight, layer.bias))
    finally:
        linears.packs.cache_clear()


@pytest.mark.parametrize("columns", [64, 1536, 4096])
def test_a_row_alone_has_the_bits_it_has_in_a_pair(columns: int) -> None:
    torch.manual_seed(1)
    layer = DenseLinear(torch.randn(640, columns, dtype=torch.bfloat16), None)
    for pair in torch.randn(40, 2, columns).to(torch.bfloat16):
        assert torch.equal(layer(pair), torch.cat([layer.alone(pair[:1]), layer.alone(pair[1:])]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("rows", "columns"), [(128, 64), (200, 96), (1000, 50), (33, 576), (4097, 33)])
def test_an_embedding_is_read_from_the_packed_head(rows: int, columns: int, dtype: torch.dtype) -> None:
    if not packs(dtype):
        pytest.skip("this processor packs no weights of this precision")
    torch.manual_seed(0)
    weight = torch.randn(rows, columns).to(dtype)
    found = packed_rows(DenseLinear(weight, None), weight)
    assert found is not None
    ids = torch.randint(0, rows, (5, 7))
    assert torch.equal(found(ids), functional.embedding(ids, weight))
    assert torch.equal(found(torch.arange(rows)), weight)


def test_a_layout_that_is_not_understood_keeps_the_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = torch.randn(200, 64).to(torch.bfloat16)
    layer = DenseLinear(weight, None)
    if not layer.is_packed:
        pytest.skip("this processor packs no weights")
    starts, columns = linears._places(64, torch.bfloat16)
    monkeypatch.setattr(linears, "_places", lambda *_: (starts, columns.flip(0)))
    assert packed_rows(layer, weight) is None

    def unknown(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr(linears, "_places", unknown)
    assert packed_rows(layer, weight) is None
    assert packed_rows(DenseLinear(weight.float(), None), weight.float()) is None
