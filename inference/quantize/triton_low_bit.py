# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The low-bit products: rows of activations times a packed matrix, in whole numbers of 8 bits (design D6).

A selector's nibbles look four levels up at once, and one instruction multiplies them with four activations. What levels
stand too high is taken off by the sum of a group's activations, as an offset is.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import dot4, eight_levels, load_selectors, load_tables, upper_half


@triton.jit
def _onto(
    total, x, x_scales, x_sums, row: tl.constexpr, groups, inside, levels, scale, offset,
    GROUPS: tl.constexpr, SIGNED: tl.constexpr, WITH_SUMS: tl.constexpr,
):  # fmt: skip
    """``total`` and one row's products with the weights of a tile, whose ``levels`` are eight words of four bytes."""
    four = x + row * (8 * GROUPS) + groups
    found = tl.zeros_like(levels[0])
    for eighth in tl.static_range(8):
        found = dot4(levels[eighth], tl.load(four + eighth * GROUPS, inside), found, SIGNED)
    place = row * GROUPS + groups
    by = scale * tl.load(x_scales + place, inside)
    if inside is not None:  # a scale of what is outside is anything, and not a number times zero is none
        by = tl.where(inside, by, 0.0)
    total += found.to(tl.float32) * by
    if WITH_SUMS:
        added = tl.load(x_sums + place, inside)
        if inside is None:
            total += offset * added
        else:
            total += tl.where(inside, offset * added, 0.0)
    return total


@triton.jit(do_not_specialize=["count"])
def low_bit_product(
    x, x_scales, x_sums, words, scales, offsets, tables, out, factor, middle, count,
    ROWS: tl.constexpr, OUT: tl.constexpr, EVERY: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr,
    SPLIT: tl.constexpr, BITS: tl.constexpr, EVEN: tl.constexpr, WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr,
    TILE_GROUPS: tl.constexpr,
):  # fmt: skip
    """``out`` float32 [SPLIT, count, EVERY]: OUT columns of the product's parts, to be added.

    Program (outputs, part, ROWS rows), 1 to 4. ``x`` int32 [rows, 8, GROUPS] holds four activations each, ``x_scales``
    and ``x_sums`` float32 [rows, GROUPS], for whole programs of rows; those from ``count`` on may hold anything.
    ``words`` int32 [OUT, BITS, GROUPS]; ``scales`` and ``offsets`` are bfloat16 read as int16, [OUT, GROUPS /
    PER_BLOCK]. A weight is (byte of ``eight_levels`` + ``middle``) * scale * ``factor`` + offset.
    """
    signed: tl.constexpr = BITS < 4 and not EVEN
    with_sums: tl.constexpr = WITH_OFFSETS or not signed
    rest: tl.constexpr = GROUPS % (SPLIT * TILE_GROUPS)
    groups_of_part: tl.constexpr = (GROUPS + SPLIT * TILE_GROUPS - 1) // (SPLIT * TILE_GROUPS) * TILE_GROUPS
    blocks: tl.constexpr = GROUPS // PER_BLOCK
    part = tl.program_id(1)
    first_row = tl.program_id(2) * ROWS
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = (outputs if OUT % TILE_OUT == 0 else outputs % OUT)[:, None]
    x += first_row * (8 * GROUPS)
    x_scales += first_row * GROUPS
    x_sums += first_row * GROUPS
    table = load_tables(tables, count)
    # One total a row: rows of one tensor would be laid over the threads, and activations moved through shared memory.
    total_0 = tl.zeros((TILE_OUT, TILE_GROUPS), tl.float32)
    total_1 = total_0
    total_2 = total_0
    total_3 = total_0
    begin = part * groups_of_part
    for start in range(begin, begin + groups_of_part, TILE_GROUPS):
        groups = (start + tl.arange(0, TILE_GROUPS))[None, :]
        inside = None if rest == 0 else groups < GROUPS
        base = words + outputs_read.to(tl.int64) * (BITS * GROUPS) + groups
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS, EVEN)
        levels_0, levels_1 = eight_levels(table, first, BITS, EVEN)
        levels_2, levels_3 = eight_levels(table, second, BITS, EVEN)
        levels_4, levels_5 = eight_levels(table, third, BITS, EVEN)
        levels_6, levels_7 = eight_levels(table, last, BITS, EVEN)
        levels = (levels_0, levels_1, levels_2, levels_3, levels_4, levels_5, levels_6, levels_7)
        # Eight scales lie in one load of 16 bytes; four are asked for, as many as words.
        block = tl.max_contiguous(outputs_read * blocks + groups // PER_BLOCK, (1, 4))
        scale = upper_half(tl.load(scales + block, inside)) * factor
        offset = scale if signed else scale * middle
        if WITH_OFFSETS:
            shift = upper_half(tl.load(offsets + block, inside))
            offset = shift if signed else offset + shift
        total_0 = _onto(
            total_0, x, x_scales, x_sums, 0, groups, inside, levels, scale, offset, GROUPS, signed, with_sums
        )
        if ROWS > 1:
            total_1 = _onto(
                total_1, x, x_scales, x_sums, 1, groups, inside, levels, scale, offset, GROUPS, signed, with_sums
            )
        if ROWS > 2:
            total_2 = _onto(
                total_2, x, x_scales, x_sums, 2, groups, inside, levels, scale, offset, GROUPS, signed, with_sums
            )
        if ROWS > 3:
            total_3 = _onto(
                total_3, x, x_scales, x_sums, 3, groups, inside, levels, scale, offset, GROUPS, signed, with_sums
            )
    place = out + (part * count + first_row) * EVERY + outputs
    there = outputs < OUT
    tl.store(place, tl.sum(total_0, 1), there)
    if ROWS > 1:
        tl.store(place + EVERY, tl.sum(total_1, 1), there & (first_row + 1 < count))
    if ROWS > 2:
        tl.store(place + 2 * EVERY, tl.sum(total_2, 1), there & (first_row + 2 < count))
    if ROWS > 3:
        tl.store(place + 3 * EVERY, tl.sum(total_3, 1), there & (first_row + 3 < count))


@triton.jit(do_not_specialize=["count"])
def low_bit_product_16(
    x, words, scales, offsets, table, out, factor, count,
    COLUMNS: tl.constexpr, OUT: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr, BITS: tl.constexpr,
    EVEN: tl.constexpr, WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr, TILE_GROUPS: tl.constexpr,
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
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS, EVEN)
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
            nibble = (weight % 4) * 2 + weight % 8 // 4 if EVEN else weight % 8
            level = tl.load(table + ((selector >> (4 * nibble)) & (2**BITS - 1))).to(tl.float32)
            products += level * activation
            sums += activation
        block = outputs_read * blocks + groups // PER_BLOCK
        scale = upper_half(tl.load(scales + block, inside)) * factor
        total += tl.where(inside, products * scale, 0.0)
        if WITH_OFFSETS:
            total += tl.where(inside, upper_half(tl.load(offsets + block, inside)) * sums, 0.0)
    tl.store(out + row * OUT + outputs, tl.sum(total, 1), outputs < OUT)
