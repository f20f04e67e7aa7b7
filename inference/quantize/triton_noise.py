# mypy: ignore-errors
# Kernels are Triton's language, in which Python's types mean something else.
"""Gumbel noise on the device, keyed by seed and position: the same numbers for drafter and target (design D2).

A counter-based generator (Philox) is a function of its key, so nothing has a state and a graph can hold it.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def keyed_noise(noise, seeds, positions, SIZE: tl.constexpr, TILE: tl.constexpr):
    """``noise`` float32 [rows, SIZE] for ``seeds`` [2] int32, the low and high half, and ``positions`` [rows] int64.

    Always finite. Program (four TILEs of tokens, row).
    """
    row = tl.program_id(1)
    quarter: tl.constexpr = (SIZE + 3) // 4
    counter = tl.program_id(0) * TILE + tl.arange(0, TILE)
    low = tl.load(seeds).to(tl.uint32, bitcast=True)
    high = tl.load(seeds + 1).to(tl.uint32, bitcast=True)
    position = tl.load(positions + row).to(tl.uint32)
    zero = counter.to(tl.uint32) * 0
    key = low.to(tl.uint64) | (high.to(tl.uint64) << 32)
    a, b, c, d = tl.philox(key, counter.to(tl.uint32), zero + position, zero, zero)
    base = noise + row.to(tl.int64) * SIZE + counter
    tl.store(base, _gumbel(a), counter < quarter)
    tl.store(base + quarter, _gumbel(b), (counter < quarter) & (counter + quarter < SIZE))
    tl.store(base + 2 * quarter, _gumbel(c), (counter < quarter) & (counter + 2 * quarter < SIZE))
    tl.store(base + 3 * quarter, _gumbel(d), (counter < quarter) & (counter + 3 * quarter < SIZE))


@triton.jit
def _gumbel(bits):
    """Minus the logarithm of an exponential draw. Small draws, which win, keep all of a float's digits."""
    uniform = ((bits >> 1).to(tl.int32, bitcast=True).to(tl.float32) + 0.5) * 4.656612873077393e-10  # 2**-31
    series = uniform * (1.0 + uniform * (0.5 + uniform * (0.3333333333 + uniform * 0.25)))
    rest = tl.maximum(1.0 - uniform, 5.9604644775390625e-08)  # never zero: its logarithm must be finite
    return -tl.log(tl.where(uniform < 0.015625, series, -tl.log(rest)))
