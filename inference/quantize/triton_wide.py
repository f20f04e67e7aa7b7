# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The low-bit product of up to 16 rows on matrix units in 16 bits: a weight is looked up once for all rows.

One dot takes two weights of each group, the same two of all, so that levels become operands where they are. Scales are
rounded to 16 bits with the weights, so a product is off by some 0.03 %, where rounding activations to 8 bits costs
0.2 %.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import PLAIN, eight_levels, load_selectors, load_tables, upper_half

ONES = tl.constexpr(0x64646464)
"""The upper bytes of halves from 1024 to 1279, whose lower bytes are what is above 1024."""

HALVES = tl.constexpr(0x64006400)
"""1024 twice, as halves."""


@triton.jit
def _half(byte, scale, less):
    return ((byte.to(tl.float32) + 1024.0) * scale.to(tl.float32) + less.to(tl.float32)).to(tl.float16)


@triton.jit
def _two_pairs(levels, member, scale, less):
    """Four bytes a word, 0 and 2, then 1 and 3, as halves (1024 + byte) * scale + less, rounded once.

    All are [outputs, 2 groups], words twice in a row; ``member`` says which of the two a place is.
    """
    if PLAIN:
        return (
            _half((levels >> (16 * member)) & 255, scale, less),
            _half((levels >> (16 * member + 8)) & 255, scale, less),
        )
    else:  # noqa: RET505 - both branches are known when the kernel is compiled
        return tl.inline_asm_elementwise(
            """{ .reg .b32 a;
            prmt.b32 a, $2, $4, 0x4240; fma.rn.f16x2 $0, a, $6, $7;
            prmt.b32 a, $2, $4, 0x4341; fma.rn.f16x2 $1, a, $6, $7; }""",
            "=r,=r,r,r,r,r,r,r", [levels, ONES, scale, less],
            dtype=(tl.float16, tl.float16), is_pure=True, pack=2,
        )  # fmt: skip


@triton.jit
def _four_pairs(word, member, scale, less, BITS: tl.constexpr):
    """The same of the eight indices of a word where levels are even; they are its nibbles' low bits."""
    mask: tl.constexpr = 2**BITS - 1
    if PLAIN:
        return (
            _half((word >> (16 * member)) & mask, scale, less), _half((word >> (16 * member + 4)) & mask, scale, less),
            _half((word >> (16 * member + 8)) & mask, scale, less),
            _half((word >> (16 * member + 12)) & mask, scale, less),
        )  # fmt: skip
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            """{ .reg .b32 a, b;
            lop3.b32 a, $4, $6, $8, 0xEA; fma.rn.f16x2 $0, a, $10, $11;
            shr.u32 b, $4, 4; lop3.b32 a, b, $6, $8, 0xEA; fma.rn.f16x2 $1, a, $10, $11;
            shr.u32 b, $4, 8; lop3.b32 a, b, $6, $8, 0xEA; fma.rn.f16x2 $2, a, $10, $11;
            shr.u32 b, $4, 12; lop3.b32 a, b, $6, $8, 0xEA; fma.rn.f16x2 $3, a, $10, $11; }""",
            "=r,=r,=r,=r,r,r,r,r,r,r,r,r", [word, mask * 0x10001, HALVES, scale, less],
            dtype=(tl.float16, tl.float16, tl.float16, tl.float16), is_pure=True, pack=2,
        )  # fmt: skip


@triton.jit
def _rounded(number):
    """A float32 as a half and back. Not by conversions, which Triton 3.6 moves to where their operands are not yet."""
    if PLAIN:
        return number.to(tl.float16).to(tl.float32)
    else:  # noqa: RET505
        return tl.inline_asm_elementwise(
            "{ .reg .b16 h; cvt.rn.f16.f32 h, $1; cvt.f32.f16 $0, h; }", "=r,r", [number], dtype=tl.float32,
            is_pure=True, pack=1,
        )  # fmt: skip


@triton.jit
def _twice(values, TILE_OUT: tl.constexpr, TILE_GROUPS: tl.constexpr):
    """[outputs, groups] as [outputs, 2 groups], each twice in a row."""
    return tl.reshape(
        tl.broadcast_to(values[:, :, None], (TILE_OUT, TILE_GROUPS, 2)), (TILE_OUT, 2 * TILE_GROUPS)
    )


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

    All are divided by ``peaks`` float32 [ROWS], the largest of a row's scales: ``wide`` float16 [16, ROWS, GROUPS, 2],
    of each half eighth's two pairs (0 and 2, 1 and 3), and ``sums`` float16 [ROWS, GROUPS, 2], upper and lower part.
    Rows from ``count`` on become zero.
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
    upper = added.to(tl.float16)
    place_of_sum = sums + (row * GROUPS + groups) * 2
    tl.store(place_of_sum, upper, groups < GROUPS)
    tl.store(place_of_sum + 1, (added - upper.to(tl.float32)).to(tl.float16), groups < GROUPS)
    for eighth in tl.static_range(8):
        four = tl.load(x + (row * 8 + eighth) * GROUPS + groups, inside, other=0)
        for place in tl.static_range(4):
            value = ((four << (24 - 8 * place)) >> 24).to(tl.float32) * scale
            place_of_row = wide + ((eighth * 2 + place % 2) * ROWS + row) * (2 * GROUPS) + place // 2
            tl.store(place_of_row + 2 * groups, value.to(tl.float16), groups < GROUPS)


@triton.jit(do_not_specialize=["count"])
def wide_product(
    x, x_sums, peaks, words, scales, offsets, tables, out, factor, middle, lift, count,
    ROWS: tl.constexpr, OUT: tl.constexpr, EVERY: tl.constexpr, GROUPS: tl.constexpr, PER_BLOCK: tl.constexpr,
    SPLIT: tl.constexpr, BITS: tl.constexpr, EVEN: tl.constexpr, WITH_OFFSETS: tl.constexpr, TILE_OUT: tl.constexpr,
    TILE_GROUPS: tl.constexpr,
):  # fmt: skip
    """``out`` as in triton_low_bit.low_bit_product, of what ``widen_rows`` gave; program (outputs, part).

    ``tables`` give levels 128 higher, with no sign. A weight is (1024 + byte + ``middle``) * scale * ``factor`` +
    offset; ``lift`` is a power of two that brings the largest scale to between 16 and 32.
    """
    groups_of_part: tl.constexpr = (GROUPS + SPLIT * TILE_GROUPS - 1) // (SPLIT * TILE_GROUPS) * TILE_GROUPS
    whole: tl.constexpr = GROUPS % (SPLIT * TILE_GROUPS) == 0
    blocks: tl.constexpr = GROUPS // PER_BLOCK
    pair: tl.constexpr = 2 * ROWS * GROUPS
    part = tl.program_id(1)
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = (outputs if OUT % TILE_OUT == 0 else outputs % OUT)[:, None]
    rows = tl.arange(0, ROWS)
    member = (tl.arange(0, 2 * TILE_GROUPS) % 2)[None, :]
    table = load_tables(tables, count)
    total = tl.zeros((TILE_OUT, ROWS), tl.float32)
    begin = part * groups_of_part
    for start in range(begin, begin + groups_of_part, TILE_GROUPS):
        groups = start + tl.arange(0, TILE_GROUPS)
        members = 2 * start + tl.arange(0, 2 * TILE_GROUPS)
        inside = None if whole else (groups < GROUPS)[None, :]
        there = None if whole else (members < 2 * GROUPS)[:, None]
        base = words + outputs_read.to(tl.int64) * (BITS * GROUPS) + groups[None, :]
        first, second, third, last = load_selectors(base, GROUPS, inside, BITS, EVEN)
        block = outputs_read * blocks + groups[None, :] // PER_BLOCK
        scale = upper_half(tl.load(scales + block, inside)) * lift
        if not whole:  # a scale of what is outside is anything
            scale = tl.where(inside, scale, 0.0)
        exact = scale * middle
        less = exact.to(tl.float16)
        rest = exact - _rounded(exact)
        if WITH_OFFSETS:
            offset = upper_half(tl.load(offsets + block, inside)) * (lift / factor)
            rest += offset if whole else tl.where(inside, offset, 0.0)
        two_scales = _twice(scale.to(tl.float16), TILE_OUT, TILE_GROUPS)
        two_less = _twice(less, TILE_OUT, TILE_GROUPS)
        x_place = rows[None, :] * (2 * GROUPS) + members[:, None]
        total = dot_onto(_twice(rest.to(tl.float16), TILE_OUT, TILE_GROUPS), load(x_sums + x_place, there), total)
        for quarter in tl.static_range(4):
            if quarter == 0:
                selector = first
            elif quarter == 1:
                selector = second
            elif quarter == 2:
                selector = third
            else:
                selector = last
            if EVEN:
                w0, w2, w1, w3 = _four_pairs(
                    _twice(selector, TILE_OUT, TILE_GROUPS), member, two_scales, two_less, BITS
                )
            else:
                lower, upper = eight_levels(table, selector, BITS, EVEN)
                w0, w1 = _two_pairs(_twice(lower, TILE_OUT, TILE_GROUPS), member, two_scales, two_less)
                w2, w3 = _two_pairs(_twice(upper, TILE_OUT, TILE_GROUPS), member, two_scales, two_less)
            four = x + quarter * 4 * pair + x_place
            total = dot_onto(w0, load(four, there), total)
            total = dot_onto(w1, load(four + pair, there), total)
            total = dot_onto(w2, load(four + 2 * pair, there), total)
            total = dot_onto(w3, load(four + 3 * pair, there), total)
    peak = tl.load(peaks + rows)
    place = (part * count + rows[None, :]) * EVERY + outputs[:, None]
    total = total * (factor / lift) * peak[None, :]
    tl.store(out + place, total, (rows < count)[None, :] & (outputs < OUT)[:, None])
