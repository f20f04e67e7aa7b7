# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""What stands between the products of a step, each in one kernel: norms, rotary embedding, gated activation, rounding.

A product leaves parts to be added up (it is split where it has few outputs); the kernel behind it adds them, so that
this costs no kernel of its own. Each can round what it gives to 8 bits for the next product (design D6, D9).
"""

from __future__ import annotations

import triton
import triton.language as tl

MAGIC = tl.constexpr(12582912.0)
"""1.5 * 2**23: added to a small number, the sum's low bits are that number, rounded to even."""


@triton.jit
def store_rounded(values, row, groups, inside, x, x_scales, x_sums, GROUPS: tl.constexpr, TILE: tl.constexpr):
    """Values float32 [TILE, 32], whole groups of a row, as activations of the low-bit product."""
    largest = tl.max(tl.abs(values), 1)
    scale = largest / 127.0
    usable = (scale > 0) & (scale < float("inf"))
    inverse = tl.where(usable, 1.0 / tl.where(usable, scale, 1.0), 0.0)
    # The largest of not-a-numbers may be a number: their sum is none.
    scale = tl.where(tl.sum(values, 1) == tl.sum(values, 1), scale, float("nan"))
    usable = usable & (scale == scale)
    rounded = tl.where(usable[:, None], values * inverse[:, None] + MAGIC, MAGIC).to(tl.int32, bitcast=True)
    whole = (rounded << 8) >> 8
    whole = whole - 0x400000  # what MAGIC itself leaves below the exponent
    shifts = (tl.arange(0, 32) % 4)[None, :] * 8
    bytes = tl.sum(tl.reshape((whole & 255) << shifts, (TILE, 8, 4)), 2)
    four = tl.arange(0, 8)[None, :] * GROUPS + groups[:, None]
    tl.store(x + row * (8 * GROUPS) + four, bytes, inside[:, None])
    tl.store(x_scales + row * GROUPS + groups, scale, inside)
    tl.store(x_sums + row * GROUPS + groups, tl.sum(whole, 1).to(tl.float32) * scale, inside)


@triton.jit(do_not_specialize=["count"])
def add_norm(
    stream, parts, bias, weight, normed, x, x_scales, x_sums, eps, count,
    COLUMNS: tl.constexpr, GROUPS: tl.constexpr, TILE: tl.constexpr, SPLIT: tl.constexpr, WITH_BIAS: tl.constexpr,
    ROUNDED: tl.constexpr,
):  # fmt: skip
    """Add a product's SPLIT parts [SPLIT, count, COLUMNS] to ``stream`` [count, COLUMNS] in place; norm it.

    The root mean square norm goes to ``normed``, or with ROUNDED to the activations. SPLIT 0 adds nothing. One program
    a row; TILE is a power of two that holds GROUPS.
    """
    row = tl.program_id(0).to(tl.int64)
    groups = tl.arange(0, TILE)
    columns = groups[:, None] * 32 + tl.arange(0, 32)[None, :]
    inside = columns < COLUMNS
    values = tl.load(stream + row * COLUMNS + columns, inside, other=0.0)
    kind = values.dtype
    values = values.to(tl.float32)
    if SPLIT > 0:
        added = tl.zeros((TILE, 32), tl.float32)
        for part in range(SPLIT):
            added += tl.load(parts + (part * count + row) * COLUMNS + columns, inside, other=0.0).to(tl.float32)
        if WITH_BIAS:
            added += tl.load(bias + columns, inside, other=0.0).to(tl.float32)
        values = (values + added.to(kind).to(tl.float32)).to(kind)
        tl.store(stream + row * COLUMNS + columns, values, inside)
        values = values.to(tl.float32)
    mean = tl.sum(tl.sum(values * values, 1), 0) / COLUMNS
    values = values * (1.0 / tl.sqrt(mean + eps)) * tl.load(weight + columns, inside, other=0.0).to(tl.float32)
    if ROUNDED:
        store_rounded(values, row, groups, groups < GROUPS, x, x_scales, x_sums, GROUPS, TILE)
    else:
        tl.store(normed + row * COLUMNS + columns, values.to(kind), inside)


@triton.jit(do_not_specialize=["count"])
def gated(
    parts, bias, gone, x, x_scales, x_sums, count,
    COLUMNS: tl.constexpr, GROUPS: tl.constexpr, TILE: tl.constexpr, SPLIT: tl.constexpr, WITH_BIAS: tl.constexpr,
    ROUNDED: tl.constexpr,
):  # fmt: skip
    """silu(gate) * up of a product's parts [SPLIT, count, 2 COLUMNS]; program (row, groups)."""
    row = tl.program_id(0).to(tl.int64)
    groups = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = groups[:, None] * 32 + tl.arange(0, 32)[None, :]
    inside = columns < COLUMNS
    gate = tl.zeros((TILE, 32), tl.float32)
    up = tl.zeros((TILE, 32), tl.float32)
    for part in range(SPLIT):
        base = parts + (part * count + row) * (2 * COLUMNS) + columns
        gate += tl.load(base, inside, other=0.0).to(tl.float32)
        up += tl.load(base + COLUMNS, inside, other=0.0).to(tl.float32)
    if WITH_BIAS:
        gate += tl.load(bias + columns, inside, other=0.0).to(tl.float32)
        up += tl.load(bias + COLUMNS + columns, inside, other=0.0).to(tl.float32)
    values = gate / (1.0 + tl.exp(-gate)) * up
    if ROUNDED:
        store_rounded(values, row, groups, groups < GROUPS, x, x_scales, x_sums, GROUPS, TILE)
    else:
        tl.store(gone + row * COLUMNS + columns, values.to(gone.dtype.element_ty), inside)


@triton.jit
def round_rows(
    values, x, x_scales, x_sums, COLUMNS: tl.constexpr, GROUPS: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """``values`` [count, COLUMNS] as activations of the low-bit product; program (row, groups)."""
    row = tl.program_id(0).to(tl.int64)
    groups = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = groups[:, None] * 32 + tl.arange(0, 32)[None, :]
    loaded = tl.load(values + row * COLUMNS + columns, columns < COLUMNS, other=0.0).to(tl.float32)
    store_rounded(loaded, row, groups, groups < GROUPS, x, x_scales, x_sums, GROUPS, TILE)


@triton.jit(do_not_specialize=["count"])
def turn_and_write(
    parts, bias, query_weight, key_weight, table, positions, slots, queries, keys, values, eps, count, buffer,
    HEADS: tl.constexpr, KEY_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, SPLIT: tl.constexpr, WITH_BIAS: tl.constexpr,
    WITH_NORMS: tl.constexpr,
):  # fmt: skip
    """Rotary embedding of a q-k-v product's parts [SPLIT, count, (HEADS + 2 KEY_HEADS) HEAD_DIM]; program (row, head).

    Queries go to ``queries`` [count, HEADS, HEAD_DIM], keys and values to a layer's buffers [KEY_HEADS, buffer,
    HEAD_DIM] at ``slots`` [count]. ``table`` float32 [positions, 2, HEAD_DIM / 2] holds cosines and sines. With norms,
    each head's root mean square norm comes first.
    """
    half: tl.constexpr = HEAD_DIM // 2
    every: tl.constexpr = (HEADS + 2 * KEY_HEADS) * HEAD_DIM
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    kind = queries.dtype.element_ty
    column = head * HEAD_DIM + tl.arange(0, half)
    first = tl.zeros((half,), tl.float32)
    second = tl.zeros((half,), tl.float32)
    for part in range(SPLIT):
        base = parts + (part * count + row) * every + column
        first += tl.load(base).to(tl.float32)
        second += tl.load(base + half).to(tl.float32)
    if WITH_BIAS:
        first += tl.load(bias + column).to(tl.float32)
        second += tl.load(bias + half + column).to(tl.float32)
    slot = tl.load(slots + row)
    lane = tl.arange(0, half)
    if head >= HEADS + KEY_HEADS:
        place = values + ((head - HEADS - KEY_HEADS) * buffer + slot) * HEAD_DIM + lane
        tl.store(place, first.to(kind))
        tl.store(place + half, second.to(kind))
    else:
        is_query = head < HEADS
        if WITH_NORMS:
            mean = (tl.sum(first * first, 0) + tl.sum(second * second, 0)) / HEAD_DIM
            factor = 1.0 / tl.sqrt(mean + eps)
            weight = query_weight if is_query else key_weight
            first = first * factor * tl.load(weight + lane).to(tl.float32)
            second = second * factor * tl.load(weight + half + lane).to(tl.float32)
        angle = table + tl.load(positions + row) * HEAD_DIM + lane
        cosine = tl.load(angle)
        sine = tl.load(angle + half)
        turned = first * cosine - second * sine
        other = second * cosine + first * sine
        if is_query:
            place = queries + (row * HEADS + head) * HEAD_DIM + lane
        else:
            place = keys + ((head - HEADS) * buffer + slot) * HEAD_DIM + lane
        tl.store(place, turned.to(kind))
        tl.store(place + half, other.to(kind))
