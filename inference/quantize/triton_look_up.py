# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""What the kernels share: the byte permute, the four-way product, and how words become levels (design D6).

Inline assembly has a plain path for Triton's interpreter, where it does not run; the rest is the same.
"""

from __future__ import annotations

import triton
import triton.language as tl

PLAIN = tl.constexpr(triton.knobs.runtime.interpret)
"""Whether this process interprets kernels on the CPU (TRITON_INTERPRET=1)."""

TURNED = tl.constexpr(-0x77777778)
"""The top bits of eight nibbles, as a signed word."""

TOPS = tl.constexpr(-0x7F7F7F80)
"""The top bits of four bytes."""


@triton.jit
def permute(low, high, selector):
    """For each of the selector's four low nibbles that byte of ``high:low``; with its top bit set, the byte's sign."""
    if PLAIN:
        found = selector * 0
        for place in tl.static_range(4):
            nibble = (selector >> (4 * place)) & 15
            byte = (tl.where((nibble & 4) != 0, high, low) >> (8 * (nibble & 3))) & 255
            byte = tl.where((nibble & 8) != 0, tl.where(byte >= 128, 255, 0), byte)
            found = found | (byte << (8 * place))
        return found
    else:  # noqa: RET505 - both branches are known when the kernel is compiled
        return tl.inline_asm_elementwise(
            "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r", [low, high, selector], dtype=tl.int32, is_pure=True, pack=1
        )


@triton.jit
def dot4(a, b, c, SIGNED: tl.constexpr):
    """The products of four bytes each of ``a``, which are SIGNED or not, and of ``b``, which are, added to ``c``."""
    if PLAIN:
        for place in tl.static_range(4):
            byte = ((a << (24 - 8 * place)) >> 24) if SIGNED else ((a >> (8 * place)) & 255)
            c += byte * ((b << (24 - 8 * place)) >> 24)
        return c
    elif SIGNED:  # noqa: RET505
        return tl.inline_asm_elementwise(
            "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", [a, b, c], dtype=tl.int32, is_pure=True, pack=1
        )
    else:
        return tl.inline_asm_elementwise(
            "dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r", [a, b, c], dtype=tl.int32, is_pure=True, pack=1
        )


@triton.jit
def dot(a, b):
    """The matrix product, float32, with ``a`` in b's precision; the interpreter has no products in 16 bits."""
    if PLAIN:
        return tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")
    else:  # noqa: RET505
        return tl.dot(a.to(b.dtype), b, input_precision="ieee")


@triton.jit
def load_tables(tables, count):
    """Four registers of levels. ``count`` is small and at least 0.

    The address is the same in all lanes, which the compiler must not know: it would keep the registers once a warp, and
    copy two of them for each permute.
    """
    if not PLAIN:
        tables += tl.inline_asm_elementwise(
            "{ .reg .b32 t; mov.u32 t, %tid.x; and.b32 $0, $1, t; }", "=r,r", [count >> 30], dtype=tl.int32,
            is_pure=True, pack=1,
        )  # fmt: skip
    return tl.load(tables), tl.load(tables + 1), tl.load(tables + 2), tl.load(tables + 3)


@triton.jit
def load_selectors(words, step, inside, BITS: tl.constexpr, EVEN: tl.constexpr):
    """The four selectors of a group, eight nibbles each; ``words`` points to its first word, ``step`` is to the next.

    At 3 bits their top bits are 0. At 2 bits too, and the level stands in the low two. EVEN ones are masked later, but
    for the last at 3 bits, which is.
    """
    first = tl.load(words, inside)
    second = tl.load(words + step, inside)
    if BITS == 2:
        if EVEN:
            return first, second, first >> 2, second >> 2
        return first & 0x33333333, second & 0x33333333, (first >> 2) & 0x33333333, (second >> 2) & 0x33333333
    third = tl.load(words + 2 * step, inside)
    if BITS == 3:
        last = ((first >> 3) & 0x11111111) | ((second >> 2) & 0x22222222) | ((third >> 1) & 0x44444444)
        if EVEN:
            return first, second, third, last
        return first & 0x77777777, second & 0x77777777, third & 0x77777777, last
    return first, second, third, tl.load(words + 3 * step, inside)


@triton.jit
def eight_levels(table, selector, BITS: tl.constexpr, EVEN: tl.constexpr):
    """A selector's eight levels as the bytes of two words, in order; ``table`` is what ``load_tables`` gave.

    EVEN levels are their indices: nothing is looked up. Of 16 others the lower eight are kept as their sizes; a permute
    gives 0 where the other table has the level, since a selector's top bit asks for the sign of a byte that is never
    negative. Then they come out 128 higher, with no sign.
    """
    low, high, low_up, high_up = table
    if EVEN:
        mask: tl.constexpr = (2**BITS - 1) * 0x01010101
        return selector & mask, (selector >> 4) & mask
    upper = selector >> 16
    if BITS == 4:
        turned = selector ^ TURNED
        return (
            permute(low_up, high_up, turned) + TOPS - permute(low, high, selector),
            permute(low_up, high_up, turned >> 16) + TOPS - permute(low, high, upper),
        )
    return permute(low, high, selector), permute(low, high, upper)


@triton.jit
def upper_half(values):
    """Bfloat16 numbers, read as int16, as float32: their bits are its upper half. Cards without bfloat16 can do so."""
    return (values.to(tl.int32) << 16).to(tl.float32, bitcast=True)
