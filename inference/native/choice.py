"""The token that wins a row, and the nucleus of a row, from the compiled side: one call, no list of what stays.

Where it declines a row (None), inference/sampling.py finds the same with numpy.
"""

from __future__ import annotations

import ctypes
import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inference.native import library, noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inference.settings import Sampling

    Row = NDArray[np.float32]
    Ids = NDArray[np.int64]


def choose(row: Row, sampling: Sampling, seed: int, position: int) -> int | None:
    """The token at ``position`` of ``row`` [vocabulary] with its noise, after temperature, top-p and min-p.

    None where the row has no largest number, and where top-k counts.
    """
    if not noise.available() or 0 < sampling.top_k < row.size:
        return None
    import torch

    row = np.ascontiguousarray(row, dtype=np.float32)
    depth = -math.log(sampling.min_p) if sampling.min_p > 0 else math.inf
    threads = torch.get_num_threads() if row.size > noise.FEW else 1
    found = _functions()["choose"](
        row.ctypes.data, row.size, sampling.temperature, sampling.top_p, depth, seed % 2**64, position, threads
    )
    return int(found) if found >= 0 else None


def nucleus(row: Row, top_p: float) -> Ids | None:
    """The fewest best ids of ``row`` whose probability reaches ``top_p``, ascending; lower ids first among equals.

    None where the row has no largest number.
    """
    if not noise.available():
        return None
    row = np.ascontiguousarray(row, dtype=np.float32)
    ids = np.empty(row.size + 1, dtype=np.int64)
    count = _functions()["nucleus"](row.ctypes.data, row.size, top_p, ids.ctypes.data)
    return ids[:count].copy() if count >= 0 else None


@cache
def _functions() -> dict[str, Any]:
    found = library.loaded()
    key, pointer, size = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_long
    functions = {"choose": found.choose, "nucleus": found.nucleus}
    functions["choose"].argtypes = [
        pointer, size, ctypes.c_float, ctypes.c_double, ctypes.c_float, key, key, ctypes.c_int
    ]  # fmt: skip
    functions["nucleus"].argtypes = [pointer, size, ctypes.c_double, pointer]
    for function in functions.values():
        function.restype = ctypes.c_long
    return functions
