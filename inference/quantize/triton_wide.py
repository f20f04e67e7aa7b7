# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The low-bit product of 5 to 16 rows, on matrix units in 16 bits: a weight is looked up once for all rows.

One dot takes the weights at the same place of several groups, so nothing is moved between them. Scales are rounded to
16 bits with the weights, so a product is off by some 0.03 %, where rounding activations to 8 bits costs 0.2 %.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import PLAIN, load_selectors, permute, upper_half

ONES = tl.constexpr(0x64646464)
"""The upper bytes of halves from 1024 to 1279, whose lower bytes are what is above 1024."""

BIAS = tl.constexpr(1152.0)
"""What a signed byte stands above itself, once its top bit is turned and such an upper byte is set before it."""

TOPS = tl.constexpr(-0x7F7F7F80)
"""The top bits of four bytes."""


@triton.jit
def _byte(four, place: tl.constexpr, scale, less):
    """The halves of one byte each, turned at the top: scaled, less what they stand too high."""
    return (((four >> (8 * place)) & 255).to(tl.float32) + 1024.0) * scale.to(tl.float32) + less.to(tl.float32)


@triton.jit
def widened(four, scale, less):
    """Four bytes a word, each a whole number plus 128, as four halves: (1024 + byte) * scale + less, rounded once."""
    if PLAIN:
        return (
            _byte(four, 0, scale, less).to(tl.float16), _byte(four, 1, scale, less).to(tl.float16),
            _byte(four, 2, scale, less).to(tl.float16), _byte(four, 3, scale, less).to(tl.float16),
        )  # fmt: skip
    else:  # noqa: RET505 - both branches are known when the kernel is compiled
        return tl.inline_asm_elementwise(
            """{ .reg .b32 a, b, c;
            prmt.b32 a, $4, $5, 0x5140; prmt.b32 b, $4, $5, 0x7362;
            prmt.b32 c, a, $6, 0x4140; fma.rn.f16x2 $0, c, $8, $9;
            prmt.b32 c, a, $6, 0x4342; fma.rn.f16x2 $1, c, $8, $9;
            prmt.b32 c, b, $6, 0x4140; fma.rn.f16x2 $2, c, $8, $9;
            prmt.b32 c, b, $6, 0x4342; fma.rn.f16x2 $3, c, $8, $9; }""",
            "=r,=r,=r,=r,r,r,r,r,r,r", [four, ONES, scale, less],
            dtype=(tl.float16, tl.float16, tl.float16, tl.float16), is_pure=True, pack=2,
        )  # fmt: skip


@triton.jit
def _levels(low, high, low_up, high_up, selector, BITS: tl.constexpr):
    """Four levels plus 128. Of 16, the lower eight are kept as their sizes; where they apply the upper are zero."""
    if BITS == 4:
        return (permute(low_up, high_up, selector ^ -0x77777778) + TOPS) - permute(low, high, selector)
    return permute(low, high, selector)


@triton.jit
def load(place, there):
    """What lies there; zero where nothing does."""
    return tl.load(place) if there is None else tl.load(place, there, other=0.0)


@triton.jit
def dot_onto(weights, x, total):
    """The matrix product added to ``total``; the interpreter has none in 16 bits."""
    if PLAIN:
        return tl.dot(weights.to(tl.float32), x.to(tl.float32), total, input_precision="ieee")
    else:  # noqa: RET505
        return tl.dot(weights, x, total)


@triton.jit(do_not_specialize=["count"])
def widen_rows(
    x, x_scales, x_sums, wide, sums, peaks, count, ROWS: tl.constexpr, GROUPS: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Rounded activations as halves, for ``wide_product``; program (row), TILE a power of two that holds GROUPS.

    ``wide`` [32, ROWS, GROUPS] and ``sums`` [ROWS, GROUPS] in float16 are the activations and their sums, divided by
    ``peaks`` float32 [ROWS], the largest of a row's scales. Rows from ``count`` on become zero.
    """
    row = tl.program_id(0)
    groups = tl.arange(0, TILE)
    inside = (groups < GROUPS) & (row < count)
    scale = tl.load(x_scales + row * GROUPS + groups, inside, other=0.0)
    peak = tl.max(scale, 0)
    peak = tl.where(tl.sum(scale, 0) == tl.sum(scale, 0), peak, float("nan"))
    tl.store(peaks + row, peak)
    inverse = tl.where(peak == 0.0, 0.0, 1.0 / tl.where(peak == 0.0, 1.0, peak))
    scale = scale * inverse
    added = tl.load(x_sums + row * GROUPS + groups, inside, other=0.0) * inverse
    tl.store(sums + row * GROUPS + groups, added.to(tl.float16), groups < GROUPS)
    for eighth in tl.static_range(8):
        four = tl.load(x + (row * 8 + eighth) * GROUPS + groups, inside, other=0)
        for place in tl.static_range(4):
            value = ((four << (24 - 8 * place)) >> 24).to(tl.float32) * scale
            place_of_row = wide + ((eighth * 4 + place) * ROWS + row) * GROUPS
            tl.store(place_of_row + groups, value.to(tl.float16), groups < GROUPS)


@triton.jit(do_not_specialize=["count"])
def wide_product(
    x, x_sums, peaks, words, scales, offsets, tables, out, factor, lift, count,
    ROWS: tl.constexpr, OUT: tl.constexpr, EVERY: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr,
    SPLIT: tl.constexpr, BITS: tl.constexpr, WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr,
    TILE_GROUPS: tl.constexpr,
):  # fmt: skip
    """``out`` as in triton_low_bit.low_bit_product, of what ``widen_rows`` gave.

    ``tables`` int32 [4] on the device, at 2 and 3 bits with the levels 128 higher; ``lift`` is a power of two that
    brings the largest scale to between 16 and 32.
    """
    groups_of_part: tl.constexpr = (GROUPS + SPLIT * TILE_GROUPS - 1) // (SPLIT * TILE_GROUPS) * TILE_GROUPS
    whole: tl.constexpr = GROUPS % (SPLIT * TILE_GROUPS) == 0
    blocks: tl.constexpr = GROUPS // PER_BLOCK
    part = tl.program_id(1)
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = (outputs if OUT % TILE_OUT == 0 else outputs % OUT)[:, None]
    rows = tl.arange(0, ROWS)
    low = tl.load(tables)
    high = tl.load(tables + 1)
    low_up = tl.load(tables + 2)
    high_up = tl.load(tables + 3)
    total = tl.zeros((TILE_OUT, ROWS), tl.float32)
    begin = part * groups_of_part
    for start in range(begin, begin + groups_of_part, TILE_GROUPS):
        groups = start + tl.arange(0, TILE_GROUPS)
        inside = None if whole else (groups < GROUPS)[None, :]
        there = None if whole else (groups < GROUPS)[:, None]
        base = words + outputs_read.to(tl.int64) * (BITS * GROUPS) + groups[None, :]
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS)
        block = outputs_read * blocks + groups[None, :] // PER_BLOCK
        scale = upper_half(tl.load(scales + block, inside)) * lift
        if not whole:  # a scale of what is outside is anything
            scale = tl.where(inside, scale, 0.0)
        less = (scale * -BIAS).to(tl.float16)
        rest = scale * -BIAS - less.to(tl.float32)
        if WITH_OFFSETS:
            offset = upper_half(tl.load(offsets + block, inside)) * (lift / factor)
            rest += offset if whole else tl.where(inside, offset, 0.0)
        scale = scale.to(tl.float16)
        x_place = rows[None, :] * GROUPS + groups[:, None]
        total = dot_onto(rest.to(tl.float16), load(x_sums + x_place, there), total)
        for eighth in tl.static_range(8):
            if eighth < 2:
                selector = first
            elif eighth < 4:
                selector = second
            elif eighth < 6:
                selector = third
            else:
                selector = last
            if eighth % 2 == 1:
                selector = selector >> 16
            levels = _levels(low, high, low_up, high_up, selector, BITS)
            w0, w1, w2, w3 = widened(levels, scale, less)
            four = x + eighth * (4 * ROWS * GROUPS) + x_place
            total = dot_onto(w0, load(four, there), total)
            total = dot_onto(w1, load(four + ROWS * GROUPS, there), total)
            total = dot_onto(w2, load(four + 2 * ROWS * GROUPS, there), total)
            total = dot_onto(w3, load(four + 3 * ROWS * GROUPS, there), total)
    peak = tl.load(peaks + rows)
    place = (part * count + rows[None, :]) * EVERY + outputs[:, None]
    total = total * (factor / lift) * peak[None, :]
    tl.store(out + place, total, (rows < count)[None, :] & (outputs < OUT)[:, None])
