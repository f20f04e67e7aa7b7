# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""The product with 8-bit weights and 16-bit activations: a target's, whose rows come out the same in any company.

Always a tile of 16 rows, so that one program computes 1 row and 16: a row's sums never depend on how many there are.
"""

from __future__ import annotations

import triton
import triton.language as tl

from inference.quantize.triton_look_up import dot, upper_half


@triton.jit(do_not_specialize=["count"])
def eight_bit_product(
    x, weights, scales, out, count,
    COLUMNS: tl.constexpr, PADDED: tl.constexpr, OUT: tl.constexpr, BLOCK: tl.constexpr, SPLIT: tl.constexpr,
    TILE_OUT: tl.constexpr,
):  # fmt: skip
    """``out`` float32 [SPLIT, count, OUT]: parts of the product; program (outputs, part, sixteen rows).

    ``x`` [count, COLUMNS] in 16 bits, ``weights`` int8 [OUT, PADDED], ``scales`` bfloat16 read as int16
    [OUT, PADDED / BLOCK]. Whole numbers to 127 are exact in either 16-bit format.
    """
    blocks: tl.constexpr = PADDED // BLOCK
    blocks_of_part: tl.constexpr = (blocks + SPLIT - 1) // SPLIT
    part = tl.program_id(1)
    outputs = tl.program_id(0) * TILE_OUT + tl.arange(0, TILE_OUT)
    outputs_read = outputs % OUT
    rows = tl.program_id(2) * 16 + tl.arange(0, 16)
    total = tl.zeros((TILE_OUT, 16), tl.float32)
    for block in range(part * blocks_of_part, tl.minimum((part + 1) * blocks_of_part, blocks)):
        columns = block * BLOCK + tl.arange(0, BLOCK)
        weight = tl.load(weights + outputs_read.to(tl.int64)[:, None] * PADDED + columns[None, :])
        known = (rows < count)[None, :] & (columns < COLUMNS)[:, None]
        activation = tl.load(x + rows[None, :] * COLUMNS + columns[:, None], known, other=0.0)
        scale = upper_half(tl.load(scales + outputs_read * blocks + block))
        total += dot(weight, activation) * scale[:, None]
    place = (part * count + rows[None, :]) * OUT + outputs[:, None]
    tl.store(out + place, total, (rows < count)[None, :] & (outputs < OUT)[:, None])
