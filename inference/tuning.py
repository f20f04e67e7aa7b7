"""Threads and precision for the CPU: measured at load in under a second, kept per machine and model.

Both belong to the identity of a text, so what was found once stays, until the machine or PyTorch changes. Knows
nothing of models but the sizes of their matrices.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
import torch

from inference.linears import DenseLinear
from inference.models import folders, notes
from inference.models.fit import PRECISION, PRODUCTS
from inference.native import products

if TYPE_CHECKING:
    from collections.abc import Sequence

WEIGHTS = 2**24
"""Of the measured matrix: more than caches hold, as in a model."""

ROUNDS = 8

CHECKED = 8
"""Rows of a pass that checks a draft: it and a step of one row are what a choice is measured by, together."""

GAIN, GAIN_WIDER = 1.1, 1.5
"""How much quicker another choice must be than the one before it: with weights of the same size, and with wider ones.

Those take more memory; where a processor has to imitate a precision, it is far slower.
"""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How many threads compute, and in which precision."""

    threads: int
    dtype: torch.dtype


def tune(model: str, columns: int, dtypes: Sequence[torch.dtype], stored: torch.dtype | None = None) -> Tuning:
    """The choice for a model whose matrices have ``columns`` inputs; ``dtypes`` are allowed, the preferred first.

    Weights are ``stored`` in one precision (None: the one they work in). Measures a step's product and a draft's where
    there is a choice and none is kept. Leaves the number of threads as it was.
    """
    counts = thread_counts()
    choices = [Tuning(threads, dtype) for dtype in dtypes for threads in counts]
    if len(choices) == 1:
        _note(choices[0].dtype, notes.read(folders.tuning_file()))
        return choices[0]
    names = [f"{choice.threads} {choice.dtype}" for choice in choices]
    own = products.version() if products.available() else "none"
    parts = (model, platform.processor() or platform.machine(), torch.__version__, own, "; ".join(names))
    key = ", ".join(parts)
    kept = notes.read(folders.tuning_file())
    if kept.get(key) not in names:
        kept[key] = names[choices.index(_quickest(choices, columns, stored))]
        notes.write(folders.tuning_file(), kept)
    found = choices[names.index(kept[key])]
    _note(found.dtype, kept)
    return found


def _note(dtype: torch.dtype, kept: dict[str, str]) -> None:
    """Keep what the forecast of memory (models/fit.py) asks of this machine, for whichever model."""
    said = {PRECISION: str(dtype).removeprefix("torch."), PRODUCTS: products.version() if products.available() else ""}
    if kept | said != kept:
        notes.write(folders.tuning_file(), kept | said)


def thread_counts() -> list[int]:
    """Numbers of threads worth a try: PyTorch's own, and one a core; only the former where the user set it."""
    own = torch.get_num_threads()
    cores = psutil.cpu_count(logical=False) or own
    if "OMP_NUM_THREADS" in os.environ or "MKL_NUM_THREADS" in os.environ or cores >= own:
        return [own]
    return [own, cores]


@torch.inference_mode()
def _quickest(choices: Sequence[Tuning], columns: int, stored: torch.dtype | None) -> Tuning:
    before = torch.get_num_threads()
    layers = {
        dtype: DenseLinear(torch.ones(WEIGHTS // columns // 64 * 64, columns, dtype=stored or dtype), None, dtype)
        for dtype in {choice.dtype for choice in choices}
    }
    times: dict[Tuning, list[float]] = {choice: [] for choice in choices}
    try:
        for _ in range(ROUNDS):
            for choice, spent in times.items():
                torch.set_num_threads(choice.threads)
                x = torch.ones(CHECKED, columns, dtype=choice.dtype)
                started = time.perf_counter()
                layers[choice.dtype](x[:1])
                layers[choice.dtype](x)
                spent.append(time.perf_counter() - started)
    finally:
        torch.set_num_threads(before)
    best = choices[0]
    for choice in choices[1:]:
        # The least time is what the machine can do; the others say what else it had to do.
        is_wider = layers[choice.dtype].dense().dtype.itemsize > layers[best.dtype].dense().dtype.itemsize
        if min(times[choice]) * (GAIN_WIDER if is_wider else GAIN) < min(times[best]):
            best = choice
    return best
