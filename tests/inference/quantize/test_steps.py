"""What stands between products, interpreted on the CPU and held to PyTorch's own operations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from inference.quantize.pack import round_activations
from inference.quantize.triton_launch import Activations
from inference.quantize.triton_steps import Sight, attention, choose, gate, noise, norm, turn
from inference.sampling import warp
from inference.settings import Sampling

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")

HEADS, KEY_HEADS, DIM = 4, 2, 32


def draws(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def unrounded(found: Activations, columns: int) -> torch.Tensor:
    """Activations as the numbers they stand for."""
    bytes = torch.stack([found.values[: found.count] << 24 - 8 * place >> 24 for place in range(4)], -1)
    scaled = bytes.permute(0, 2, 1, 3).flatten(2) * found.scales[: found.count, :, None]
    return scaled.flatten(1)[:, :columns]


def held_to_rounding(found: object, expected: torch.Tensor) -> bool:
    """Whether activations are the expected rows, rounded: half a step off at most, and a little of float32's own."""
    assert isinstance(found, Activations)
    _, scales = round_activations(expected)
    step = scales.repeat_interleave(32, 1)[:, : expected.shape[1]]
    return bool(((unrounded(found, expected.shape[1]) - expected).abs() <= step * 0.51).all())


@pytest.mark.parametrize("columns", [96, 80])
@pytest.mark.parametrize("biased", [False, True])
def test_the_norm_adds_a_products_parts_first(columns: int, biased: bool) -> None:
    stream, parts, weight = draws(3, columns), draws(2, 3, columns, seed=1), draws(columns, seed=2)
    bias = draws(columns, seed=3) if biased else None
    whole = stream + parts.sum(0) + (bias if bias is not None else 0)
    expected = torch.rms_norm(whole, (columns,), weight, 1e-5)
    changed = stream.clone()
    found = norm(changed, parts, bias, weight, 1e-5, rounded=False)
    assert torch.allclose(changed, whole, atol=1e-5)
    assert isinstance(found, torch.Tensor)
    assert torch.allclose(found, expected, atol=1e-5)
    assert held_to_rounding(norm(stream.clone(), parts, bias, weight, 1e-5, rounded=True), expected)
    untouched = norm(whole.clone(), None, None, weight, 1e-5, rounded=False)
    assert isinstance(untouched, torch.Tensor)
    assert torch.allclose(untouched, expected, atol=1e-5)


@pytest.mark.parametrize("biased", [False, True])
def test_the_gate_is_silu_times_up(biased: bool) -> None:
    parts = draws(2, 3, 2 * 300)
    bias = draws(600, seed=1) if biased else None
    both = parts.sum(0) + (bias if bias is not None else 0)
    expected = functional.silu(both[:, :300]) * both[:, 300:]
    found = gate(parts, bias, draws(1), rounded=False)
    assert isinstance(found, torch.Tensor)
    assert torch.allclose(found, expected, atol=1e-5)
    assert held_to_rounding(gate(parts, bias, draws(1), rounded=True), expected)


@pytest.mark.parametrize("normed", [False, True])
def test_heads_are_turned_and_written_to_their_slots(normed: bool) -> None:
    parts, bias = draws(2, 3, (HEADS + 2 * KEY_HEADS) * DIM), draws((HEADS + 2 * KEY_HEADS) * DIM, seed=1)
    angles = torch.arange(20.0)[:, None] * torch.logspace(0, -2, DIM // 2)
    table = torch.stack([angles.cos(), angles.sin()], 1)
    positions, slots = torch.tensor([7, 8, 8]), torch.tensor([7, 8, 15])
    sight = Sight(torch.tensor([7]), positions, positions, positions, slots)
    keys, values = torch.zeros(KEY_HEADS, 16, DIM), torch.zeros(KEY_HEADS, 16, DIM)
    weights = (draws(DIM, seed=2), draws(DIM, seed=3), 1e-6)
    found = turn(parts, bias, weights if normed else None, table, sight, keys, values, HEADS)
    whole = (parts.sum(0) + bias).view(3, -1, DIM)
    turned = whole[:, : HEADS + KEY_HEADS]
    if normed:
        turned = torch.cat([
            torch.rms_norm(whole[:, :HEADS], (DIM,), weights[0], 1e-6),
            torch.rms_norm(whole[:, HEADS : HEADS + KEY_HEADS], (DIM,), weights[1], 1e-6),
        ], 1)  # fmt: skip
    cos, sin = (part[positions][:, None].repeat(1, 1, 2) for part in table.unbind(1))
    other = torch.cat([-turned[..., DIM // 2 :], turned[..., : DIM // 2]], -1)
    turned = turned * cos + other * sin
    assert torch.allclose(found, turned[:, :HEADS], atol=1e-5)
    assert torch.allclose(keys[:, slots], turned[:, HEADS:].transpose(0, 1), atol=1e-5)
    assert torch.allclose(values[:, slots], whole[:, HEADS + KEY_HEADS :].transpose(0, 1), atol=1e-5)
    written = torch.zeros(16, dtype=torch.bool).index_fill_(0, slots, True)
    assert not keys[:, ~written].any()


@pytest.mark.parametrize("window", [0, 6])
@pytest.mark.parametrize("first", [3, 300])
def test_attention_sees_what_it_should(window: int, first: int) -> None:
    """A tree of four rows and a padding row, over one chunk and over two; the third row follows the first."""
    count, buffer = 5, 640
    keys, values = draws(KEY_HEADS, buffer, DIM, seed=1), draws(KEY_HEADS, buffer, DIM, seed=2)
    queries = draws(count, HEADS, DIM, seed=3)
    sight = Sight(
        first=torch.tensor([first]),
        prefixes=torch.tensor([first] * 4 + [1]),
        ancestors=torch.tensor([0b0001, 0b0011, 0b0101, 0b1011, 0]),
        positions=torch.tensor([first, first + 1, first + 1, first + 2, 0]),
        slots=torch.tensor([*range(first, first + 4), buffer - 1]),
    )
    mask = torch.zeros(count, buffer, dtype=torch.bool)
    mask[:4, :first] = True
    mask[4, 0] = True
    for row, bits in enumerate([0b0001, 0b0011, 0b0101, 0b1011]):
        for own in range(4):
            mask[row, first + own] = bool(bits >> own & 1)
    if window:
        positions = torch.arange(buffer)
        positions[first : first + 4] = sight.positions[:4]
        mask &= sight.positions[:, None] - positions < window
    expected = functional.scaled_dot_product_attention(
        queries.transpose(0, 1)[None], keys[None], values[None], mask, enable_gqa=True, scale=0.3
    )[0].transpose(0, 1).reshape(count, -1)  # fmt: skip
    found = attention(queries, keys, values, sight, 512, window, 0.3, rounded=False)
    assert isinstance(found, torch.Tensor)
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.equal(found, attention(queries, keys, values, sight, 600, window, 0.3, rounded=False)), "other bucket"
    assert held_to_rounding(attention(queries, keys, values, sight, 512, window, 0.3, rounded=True), expected)


SETTINGS = [
    Sampling(temperature=0),
    Sampling(temperature=0.8, top_p=1.0),
    Sampling(temperature=0.7, top_p=0.9),
    Sampling(temperature=1.3, top_p=1.0, top_k=5),
    Sampling(temperature=1.0, top_p=0.8, top_k=40, min_p=0.05),
]


@pytest.mark.parametrize("sampling", SETTINGS)
def test_the_choice_is_that_of_the_host(sampling: Sampling) -> None:
    size = 777
    logits, drawn = draws(6, size) * 3, -torch.log(-torch.log(torch.rand(6, size)))
    logits[4] = -5.0 + draws(size, seed=1) * 0.01  # all nearly alike but for one
    logits[4, 99] = 9.0
    settings = torch.tensor([
        1 / sampling.temperature if sampling.temperature else 0.0, sampling.top_k, sampling.top_p,
        float(np.log(sampling.min_p)) if sampling.min_p else -np.inf,
    ])  # fmt: skip
    found = choose(logits, drawn, settings, tile=128)
    for row, choice in enumerate(found.tolist()):
        numbers = logits[row].numpy()
        if sampling.temperature == 0:
            assert choice == numbers.argmax()
            continue
        kept, ids = warp(numbers, sampling)
        ids = np.arange(size) if ids is None else ids
        assert choice == ids[(kept + drawn[row].numpy()[ids]).argmax()]


def test_of_equals_the_lower_id_is_chosen() -> None:
    logits = torch.zeros(1, 300)
    logits[0, [250, 140, 141]] = 2.0
    assert choose(logits, logits, torch.tensor([0.0, 0, 1, -np.inf]), tile=128).item() == 140


def test_noise_is_that_of_its_seed_and_position_and_gumbels() -> None:
    seeds, positions = torch.tensor([5, 9], dtype=torch.int32), torch.tensor([3, 4, 2**33 + 3])
    found = noise(seeds, positions, 5003)
    assert torch.equal(found[1], noise(seeds, positions[1:2], 5003)[0]), "a position's noise, whatever is drawn beside"
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(found[0], noise(torch.tensor([5, 8], dtype=torch.int32), positions, 5003)[0])
    assert bool(found.isfinite().all())
    assert found[:2].mean() == pytest.approx(0.5772, abs=0.05)
    assert found[:2].var() == pytest.approx(np.pi**2 / 6, abs=0.12)
    assert np.exp(-np.exp(-found[0].double().numpy())).mean() == pytest.approx(0.5, abs=0.02)
