# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The token of each row of logits, chosen on the device: temperature, top-k, top-p, min-p and the keyed noise.

One program a row, so a row's token depends on nothing beside it. The borders of top-k and top-p are found by halving;
what is equal to a border stays.
"""

from __future__ import annotations

import triton
import triton.language as tl

DEEPEST = tl.constexpr(64.0)
"""How far below the best logit a border is looked for: what lies deeper is never drawn."""

HALVINGS = tl.constexpr(28)


@triton.jit
def _weighed(scaled, peaks, border, best, COUNT: tl.constexpr, SIZE: tl.constexpr, TILE: tl.constexpr):
    """How many logits reach the border, or with COUNT false their mass relative to the best one's."""
    total = tl.zeros((TILE,), tl.float32)
    for tile in range((SIZE + TILE - 1) // TILE):
        if tl.load(peaks + tile) >= border:
            tokens = tile * TILE + tl.arange(0, TILE)
            values = tl.load(scaled + tokens, tokens < SIZE, other=float("-inf"))
            weight = tl.full((TILE,), 1.0, tl.float32) if COUNT else tl.exp(values - best)
            total += tl.where((values >= border) & (tokens < SIZE), weight, 0.0)
    return tl.sum(total, 0)


@triton.jit
def choose(
    logits, noise, settings, scaled, peaks, chosen,
    SIZE: tl.constexpr, TILES: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """``chosen`` int64 [rows]; program (row).

    ``logits`` [rows, SIZE], ``noise`` float32 [rows, SIZE]. ``settings`` float32 [4]: one over the temperature, or 0
    for the best logit; top-k, 0 for all; top-p; the logarithm of min-p. ``scaled`` [rows, SIZE] and ``peaks``
    [rows, TILES] are float32 scratch. Equal ones: the lower id.
    """
    row = tl.program_id(0).to(tl.int64)
    inverse = tl.load(settings)
    greedy = inverse == 0.0
    inverse = tl.where(greedy, 1.0, inverse)
    top_k = tl.load(settings + 1)
    top_p = tl.load(settings + 2)
    scaled += row * SIZE
    peaks += row * TILES
    best = tl.full((), float("-inf"), tl.float32)
    for tile in range(TILES):
        tokens = tile * TILE + tl.arange(0, TILE)
        values = tl.load(logits + row * SIZE + tokens, tokens < SIZE, other=float("-inf")).to(tl.float32) * inverse
        tl.store(scaled + tokens, values, tokens < SIZE)
        peak = tl.max(values, 0)
        tl.store(peaks + tile, peak)
        best = tl.maximum(best, peak)
    tl.debug_barrier()  # what one thread wrote, others read
    border = tl.full((), float("-inf"), tl.float32)
    if top_k > 0.0:
        low = best - DEEPEST
        high = best
        if _weighed(scaled, peaks, low, best, True, SIZE, TILE) >= top_k:
            if _weighed(scaled, peaks, high, best, True, SIZE, TILE) >= top_k:
                low = high
            for _ in range(HALVINGS):
                middle = (low + high) * 0.5
                if _weighed(scaled, peaks, middle, best, True, SIZE, TILE) >= top_k:
                    low = middle
                else:
                    high = middle
            border = low
    if top_p < 1.0:
        low = tl.maximum(border, best - DEEPEST)
        high = best
        wanted = top_p * _weighed(scaled, peaks, border, best, False, SIZE, TILE)
        if _weighed(scaled, peaks, low, best, False, SIZE, TILE) >= wanted:
            if _weighed(scaled, peaks, high, best, False, SIZE, TILE) >= wanted:
                low = high
            for _ in range(HALVINGS):
                middle = (low + high) * 0.5
                if _weighed(scaled, peaks, middle, best, False, SIZE, TILE) >= wanted:
                    low = middle
                else:
                    high = middle
            border = low
    border = tl.maximum(border, best + tl.load(settings + 3))
    if greedy:
        border = best
    highest = tl.full((), float("-inf"), tl.float32)
    token = tl.full((), 0, tl.int32)
    for tile in range(TILES):
        if tl.load(peaks + tile) >= border:
            tokens = tile * TILE + tl.arange(0, TILE)
            values = tl.load(scaled + tokens, tokens < SIZE, other=float("-inf"))
            stays = (values >= border) & (tokens < SIZE)
            if not greedy:
                values += tl.load(noise + row * SIZE + tokens, tokens < SIZE, other=0.0)
            values = tl.where(stays, values, float("-inf"))
            here = tl.max(values, 0)
            if here > highest:
                highest = here
                token = tl.min(tl.where(stays & (values == here), tokens, SIZE), 0)
    tl.store(chosen + row, token.to(tl.int64))
