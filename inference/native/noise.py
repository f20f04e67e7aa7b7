"""Gumbel noise keyed by seed, position and token, from the compiled side; without it inference/noise.py draws."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inference.native import library, products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Row = NDArray[np.float32]
    Ids = NDArray[np.int64]

FEW = 4096
"""Tokens whose noise one thread draws: two would wait longer for each other."""


def available() -> bool:
    """Whether it can be drawn here."""
    return products.available()


def version() -> str:
    """What draws the noise: other sources write other texts for a seed."""
    return products.version() if available() else "numpy"


def gumbel(seed: int, position: int, size: int, ids: Ids | None = None) -> Row:
    """Noise float32 [size] of the tokens from 0 on, or that of ``ids`` only; always finite.

    A pure function of all three. One word of 32 bits each, so at most 23.
    """
    import torch

    count = size if ids is None else ids.size
    out = np.empty(count, dtype=np.float32)
    keys = (seed % 2**64, position)
    threads = torch.get_num_threads() if count > FEW else 1
    if ids is None:
        _functions()["all"](*keys, out.ctypes.data, count, threads)
    else:
        ids = np.ascontiguousarray(ids, dtype=np.int64)
        _functions()["some"](*keys, ids.ctypes.data, out.ctypes.data, count, threads)
    return out


@cache
def _functions() -> dict[str, Any]:
    found = library.loaded()
    key, pointer, size = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_long
    functions = {"all": found.gumbel_all, "some": found.gumbel_some}
    functions["all"].argtypes = [key, key, pointer, size, ctypes.c_int]
    functions["some"].argtypes = [key, key, pointer, pointer, size, ctypes.c_int]
    for function in functions.values():
        function.restype = None
    return functions
