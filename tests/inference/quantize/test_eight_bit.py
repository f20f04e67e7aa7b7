"""8-bit weights: close to the weights, the kernel held to the oracle, and rows that are the same in any company."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from inference.quantize.eight_bit import EightBitLinear, dequantize, join, quantize, take_apart

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")


def weight(out: int, columns: int) -> torch.Tensor:
    return torch.randn(out, columns, generator=torch.Generator().manual_seed(out))


def test_weights_come_back_within_half_a_step() -> None:
    original = weight(5, 200)
    original[2, 64:128] = 0
    weights, scales = quantize(original)
    assert weights.dtype == torch.int8
    assert weights.shape == (5, 256)
    error = (dequantize(weights, scales, 200) - original).abs()
    assert bool((error <= scales.float().repeat_interleave(64, 1)[:, :200] * 0.5001).all())
    layer = EightBitLinear(weight(8, 128), None)
    assert 8 * layer.bytes / (8 * 128) == 8.25


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("count", "out", "columns"), [(1, 70, 130), (5, 64, 192), (16, 3, 64), (21, 9, 64)])
def test_the_product_is_the_oracles(dtype: torch.dtype, count: int, out: int, columns: int) -> None:
    layer = EightBitLinear(weight(out, columns).to(dtype), torch.arange(out).to(dtype))
    assert layer.step_product is not None
    x = torch.randn(count, columns, generator=torch.Generator().manual_seed(count)).to(dtype)
    expected = x.float() @ dequantize(layer.weights, layer.scales, columns).T + torch.arange(out)
    assert torch.allclose(layer.parts(x).sum(0) + torch.arange(out), expected, rtol=1e-4, atol=1e-4)
    assert torch.allclose(layer(x).float(), expected, rtol=0.02, atol=0.1)


def test_a_row_is_the_same_in_any_company() -> None:
    layer = EightBitLinear(weight(40, 256).to(torch.float16), None)
    x = torch.randn(9, 256, generator=torch.Generator().manual_seed(1)).to(torch.float16)
    alone = torch.cat([layer(row[None]) for row in x])
    assert torch.equal(layer(x), alone)
    assert torch.equal(layer(x[:4]), alone[:4])


def test_layers_are_joined_and_other_precisions_take_the_plain_way() -> None:
    layers = [nn.Linear(64, 8, bias=False), nn.Linear(64, 4, bias=False)]
    joined = join(layers, torch.device("cpu"))
    assert joined.sizes == (8, 4)
    assert joined.step_product is None  # float32
    x = torch.randn(3, 64)
    expected = torch.cat([layer(x) for layer in layers], 1)
    assert torch.allclose(joined(x), expected, atol=0.05)
    assert joined(x[None]).shape == (1, 3, 12)


def test_a_model_is_taken_apart_into_eight_bits() -> None:
    from inference.decoder import Decoder
    from inference.kv_cache import KVCache
    from inference.rows import tree_rows
    from tests.inference.models_for_tests import CPU, reference, tiny_model

    model = tiny_model("qwen2")
    whole, eight = KVCache(50, 10), KVCache(50, 10)
    rows = tree_rows([3, 4, 5], None, 0, whole.slots)
    expected = reference(model)(rows, whole)
    assert list(take_apart(model, CPU))[-1] == (6, 6)
    found = Decoder(model)(rows, eight)
    assert torch.nn.functional.cosine_similarity(found, expected).min() > 0.99
    layer = model.model.layers[0].self_attn.qkv_proj
    assert torch.equal(layer.dense(), dequantize(layer.weights, layer.scales, layer.in_features))
