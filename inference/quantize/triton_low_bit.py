# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The low-bit products: 1 to 16 rows of activations times a packed matrix, in whole numbers of 8 bits (design D6).

A selector's nibbles look four levels up at once, and one instruction multiplies them with four activations. 16 levels
need two tables: the negative levels' sizes and the positive levels. A permute gives 0 where the other table has the
level, since a selector's top bit asks for the sign of a byte that is never negative.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import dot4, load_selectors, permute, upper_half

TOPS = tl.constexpr(-0x77777778)
"""The top bits of eight nibbles, as a signed word."""


@triton.jit
def _four(low, high, low_up, high_up, selector, x, down, up, BITS: tl.constexpr):
    """Four weights more: sums over the low eight levels, negated at 4 bits, and over the high eight."""
    if BITS == 4:
        down = dot4(permute(low, high, selector), x, down)
        up = dot4(permute(low_up, high_up, selector ^ TOPS), x, up)
    else:
        up = dot4(permute(low, high, selector), x, up)
    return down, up


@triton.jit(do_not_specialize=["count"])
def low_bit_product(
    x, x_scales, x_sums, words, scales, offsets, out, low, high, low_up, high_up, factor, count,
    ROWS: tl.constexpr, OUT: tl.constexpr, EVERY: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr,
    SPLIT: tl.constexpr, BITS: tl.constexpr, WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr,
    TILE_GROUPS: tl.constexpr,
):  # fmt: skip
    """``out`` float32 [SPLIT, count, EVERY]: OUT columns of the product's parts, to be added; program (outputs, part).

    ``x`` int32 [ROWS, 8, GROUPS] holds four activations each, ``x_scales`` and ``x_sums`` float32 [ROWS, GROUPS]; rows
    from ``count`` on may hold anything. ``words`` int32 [OUT, BITS, GROUPS]; ``scales`` and ``offsets`` are bfloat16
    read as int16, [OUT, GROUPS / PER_BLOCK]. The tables are two registers of four levels each.
    """
    rest: tl.constexpr = GROUPS % (SPLIT * TILE_GROUPS)
    groups_of_part: tl.constexpr = (GROUPS + SPLIT * TILE_GROUPS - 1) // (SPLIT * TILE_GROUPS) * TILE_GROUPS
    blocks: tl.constexpr = GROUPS // PER_BLOCK
    part = tl.program_id(1)
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = (outputs if OUT % TILE_OUT == 0 else outputs % OUT)[None, :, None]
    rows = tl.arange(0, ROWS)[:, None, None]
    total = tl.zeros((ROWS, TILE_OUT, TILE_GROUPS), tl.float32)
    begin = part * groups_of_part
    for start in range(begin, begin + groups_of_part, TILE_GROUPS):
        groups = (start + tl.arange(0, TILE_GROUPS))[None, None, :]
        inside = None if rest == 0 else groups < GROUPS
        base = words + outputs_read.to(tl.int64) * (BITS * GROUPS) + groups
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS)
        four = x + rows * (8 * GROUPS) + groups
        down = tl.zeros((ROWS, TILE_OUT, TILE_GROUPS), tl.int32)
        up = tl.zeros((ROWS, TILE_OUT, TILE_GROUPS), tl.int32)
        down, up = _four(low, high, low_up, high_up, first, tl.load(four, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, first >> 16, tl.load(four + GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, second, tl.load(four + 2 * GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, second >> 16, tl.load(four + 3 * GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, third, tl.load(four + 4 * GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, third >> 16, tl.load(four + 5 * GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, last, tl.load(four + 6 * GROUPS, inside), down, up, BITS)
        down, up = _four(low, high, low_up, high_up, last >> 16, tl.load(four + 7 * GROUPS, inside), down, up, BITS)
        if BITS == 4:
            up = up - down
        block = outputs_read * blocks + groups // PER_BLOCK
        scale = upper_half(tl.load(scales + block, inside)) * factor
        x_place = rows * GROUPS + groups
        if rest == 0:
            total += up.to(tl.float32) * (scale * tl.load(x_scales + x_place))
        else:  # a scale of what is outside is anything, and not a number times zero is none
            total += up.to(tl.float32) * tl.where(inside, scale * tl.load(x_scales + x_place, inside), 0.0)
        if WITH_OFFSETS:
            offset = upper_half(tl.load(offsets + block, inside)) * tl.load(x_sums + x_place, inside)
            total += offset if rest == 0 else tl.where(inside, offset, 0.0)
    row = tl.arange(0, ROWS)[:, None]
    place = (part * count + row) * EVERY + outputs[None, :]
    tl.store(out + place, tl.sum(total, 2), (row < count) & (outputs < OUT)[None, :])


@triton.jit(do_not_specialize=["count"])
def low_bit_product_16(
    x, words, scales, offsets, table, out, factor, count,
    COLUMNS: tl.constexpr, OUT: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr, BITS: tl.constexpr,
    WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr, TILE_GROUPS: tl.constexpr,
):  # fmt: skip
    """The same product of activations in 16 bits, for comparison; one row a program (outputs, row).

    ``x`` [count, COLUMNS]; ``table`` int8 holds the levels, looked up in memory; ``out`` float32 [count, OUT].
    """
    blocks: tl.constexpr = GROUPS // PER_BLOCK
    row = tl.program_id(1)
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = (outputs % OUT)[:, None]
    total = tl.zeros((TILE_OUT, TILE_GROUPS), tl.float32)
    for start in range(0, GROUPS, TILE_GROUPS):
        groups = (start + tl.arange(0, TILE_GROUPS))[None, :]
        inside = groups < GROUPS
        base = words + outputs_read.to(tl.int64) * (BITS * GROUPS) + groups
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS)
        products = tl.zeros((TILE_OUT, TILE_GROUPS), tl.float32)
        sums = tl.zeros((1, TILE_GROUPS), tl.float32)
        for weight in tl.static_range(32):
            if weight < 8:
                selector = first
            elif weight < 16:
                selector = second
            elif weight < 24:
                selector = third
            else:
                selector = last
            column = groups * 32 + weight
            activation = tl.load(x + row * COLUMNS + column, column < COLUMNS, other=0.0).to(tl.float32)
            level = tl.load(table + ((selector >> (4 * (weight % 8))) & 15)).to(tl.float32)
            products += level * activation
            sums += activation
        block = outputs_read * blocks + groups // PER_BLOCK
        scale = upper_half(tl.load(scales + block, inside)) * factor
        total += tl.where(inside, products * scale, 0.0)
        if WITH_OFFSETS:
            total += tl.where(inside, upper_half(tl.load(offsets + block, inside)) * sums, 0.0)
    tl.store(out + row * OUT + outputs, tl.sum(total, 1), outputs < OUT)
