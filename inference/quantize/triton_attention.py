# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""Attention of few rows over a long cache, cut into chunks so that the whole card works on one token.

Chunks begin at absolute multiples of CHUNK and are added up in one order, and one compiled kernel serves all counts, so
a row's bits depend neither on the rows beside it nor on how much room behind the text a graph allows for.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import dot
from inference.quantize.triton_rows import store_rounded

CHUNK = 256
"""Keys of one program."""

ROWS = 16
"""Queries of one program: rows times the heads that share keys."""


@triton.jit(do_not_specialize=["count"])
def attend(
    queries, keys, values, first, prefixes, ancestors, positions, sums, weights, count, buffer, scale,
    HEADS: tl.constexpr, KEY_HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, CHUNK: tl.constexpr, KEYS: tl.constexpr,
    WINDOW: tl.constexpr,
):  # fmt: skip
    """One chunk's softmax sums; program (key head, chunk, sixteen queries).

    ``first`` [1] is the slot of the pass's first row. Row r sees slots below ``prefixes[r]`` and of the pass's own
    rows those whose bit is set in ``ancestors[r]``; with a WINDOW only positions less than that before its own.
    ``sums`` float32 [chunks, count, HEADS, HEAD_DIM], ``weights`` float32 [chunks, 2, count, HEADS]: largest score and
    sum; a chunk without a visible key has the largest score minus infinity, and no sums. KEYS are looked at together.
    """
    shared: tl.constexpr = HEADS // KEY_HEADS
    key_head = tl.program_id(0)
    chunk = tl.program_id(1)
    lines = tl.program_id(2) * 16 + tl.arange(0, 16)
    known = lines < count * shared
    row = lines // shared
    head = key_head * shared + lines % shared
    lanes = tl.arange(0, HEAD_DIM)
    begin = tl.load(first)
    end = begin + count
    place = (chunk * count + row) * HEADS + head
    weight_place = (chunk * 2 * count + row) * HEADS + head
    largest = tl.full((16,), float("-inf"), tl.float32)
    total = tl.zeros((16,), tl.float32)
    if chunk * CHUNK < end:
        query = tl.load(queries + (row * HEADS + head)[:, None] * HEAD_DIM + lanes[None, :], known[:, None], other=0.0)
        prefix = tl.load(prefixes + row, known, other=0)
        bits = tl.load(ancestors + row, known, other=0)
        position = tl.load(positions + row, known, other=0)
        sum = tl.zeros((16, HEAD_DIM), tl.float32)
        for start in range(chunk * CHUNK, tl.minimum((chunk + 1) * CHUNK, end), KEYS):
            slots = start + tl.arange(0, KEYS)
            there = slots < end
            line = key_head.to(tl.int64) * buffer + slots
            key = tl.load(keys + line[None, :] * HEAD_DIM + lanes[:, None], there[None, :], other=0.0)
            own = slots - begin
            is_own = (own >= 0) & there
            own_bit = (bits[:, None] >> tl.where(is_own, own, 0)[None, :]) & 1
            visible = (slots[None, :] < prefix[:, None]) | (is_own[None, :] & (own_bit != 0))
            if WINDOW > 0:
                key_position = tl.load(positions + own, is_own, other=0).to(tl.int32)
                key_position = tl.where(is_own, key_position, slots)
                visible = visible & (position[:, None] - key_position[None, :] < WINDOW)
            score = tl.where(visible, dot(query, key) * scale, float("-inf"))
            new = tl.maximum(largest, tl.max(score, 1))
            anchor = tl.where(new == float("-inf"), 0.0, new)
            share = tl.exp(score - anchor[:, None])
            fade = tl.exp(largest - anchor)
            total = total * fade + tl.sum(share, 1)
            value = tl.load(values + line[:, None] * HEAD_DIM + lanes[None, :], there[:, None], other=0.0)
            sum = sum * fade[:, None] + dot(share, value)
            largest = new
        tl.store(sums + place.to(tl.int64)[:, None] * HEAD_DIM + lanes[None, :], sum, known[:, None])
    tl.store(weights + weight_place, largest, known)
    tl.store(weights + weight_place + count * HEADS, total, known)


@triton.jit(do_not_specialize=["chunks", "count"])
def gather(
    sums, weights, attended, x, x_scales, x_sums, chunks, count,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, GROUPS: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    """The chunks of ``attend`` as one: ``attended`` [count, HEADS * HEAD_DIM], or activations; program (row, head)."""
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    of_head: tl.constexpr = HEAD_DIM // 32
    lanes = tl.arange(0, HEAD_DIM)
    largest = tl.full((), float("-inf"), tl.float32)
    for chunk in range(chunks):
        largest = tl.maximum(largest, tl.load(weights + (chunk * 2 * count + row) * HEADS + head))
    total = tl.zeros((), tl.float32)
    sum = tl.zeros((HEAD_DIM,), tl.float32)
    for chunk in range(chunks):
        place = (chunk * 2 * count + row) * HEADS + head
        score = tl.load(weights + place)
        there = score > float("-inf")
        fade = tl.where(there, tl.exp(score - largest), 0.0)
        total += fade * tl.load(weights + place + count * HEADS)
        of_chunk = sums + ((chunk * count + row) * HEADS + head) * HEAD_DIM + lanes
        sum += fade * tl.load(of_chunk, lanes < tl.where(there, HEAD_DIM, 0), other=0.0)
    values = sum / total
    if ROUNDED:
        groups = head * of_head + tl.arange(0, of_head)
        tile = tl.reshape(values, (of_head, 32))
        store_rounded(tile, row, groups, groups < GROUPS, x, x_scales, x_sums, GROUPS, of_head)
    else:
        tl.store(attended + (row * HEADS + head) * HEAD_DIM + lanes, values.to(attended.dtype.element_ty))
