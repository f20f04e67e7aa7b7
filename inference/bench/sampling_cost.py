"""What choosing a token costs beside a plain step: rows of logits made up, at the vocabularies of common models.

A row falls with its rank like a model's, or is nearly flat, which is the worst case of top-p.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from inference.linears import DenseLinear
from inference.sampling import Sampler
from inference.settings import Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inference.ready import Ready
    from inference.sampling import Row

VOCABULARIES = (49_152, 152_064)

WAYS = {
    "greedy": Sampling(temperature=0),
    "T 0.7, top-p 0.95": Sampling(temperature=0.7, top_p=0.95),
    "T 0.7, top-k 40, top-p 0.95": Sampling(temperature=0.7, top_k=40, top_p=0.95),
    "T 0.7, top-p 0.95, penalties": Sampling(
        temperature=0.7, top_p=0.95, repetition_penalty=1.1, presence_penalty=0.4, frequency_penalty=0.2
    ),
    "T 1, whole vocabulary": Sampling(temperature=1, top_p=1),
}

PROMPT = 2000
"""Tokens before the reply, which penalties look at."""
REPEATS = 25


def sampling_cost(ready: Ready) -> list[dict[str, Any]]:
    """Median milliseconds of one choice for every vocabulary, row and way; ``share`` is of a plain step."""
    steps = {size: step_ms(ready, size) for size in VOCABULARIES}
    return [
        {"vocabulary": size, "row": shape, "sampling": way, "ms": ms, "step_ms": steps[size], "share": ms / steps[size]}
        for size in VOCABULARIES
        for shape, row in rows(size)
        for way, how in WAYS.items()
        for ms in [choice_ms(row, how)]
    ]


@torch.inference_mode()
def step_ms(ready: Ready, vocabulary: int) -> float:
    """A plain step in fast mode; a larger vocabulary than the model's adds the product of the missing rows."""
    plain = ready.modes["fast"].times.plain_at[0]
    missing = vocabulary - ready.model.vocabulary
    if missing <= 0:
        return plain
    weight = torch.randn(missing, ready.model.config.hidden_size, dtype=ready.model.dtype)
    head = DenseLinear(weight, None)
    x = torch.randn(1, ready.model.config.hidden_size, dtype=ready.model.dtype)
    head(x)
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        head(x)
        times.append((time.perf_counter() - begun) * 1e3)
    return plain + statistics.median(times)


def rows(size: int) -> Iterator[tuple[str, Row]]:
    """Logits [size] float32 that fall with their rank, and nearly flat ones, in random order."""
    generator = np.random.default_rng(1)
    rank = generator.permutation(size) + 1
    yield "like a model's", (-2 * np.log(rank)).astype(np.float32)
    yield "flat", generator.standard_normal(size).astype(np.float32)


def choice_ms(row: Row, how: Sampling) -> float:
    """Median milliseconds of one choice, its noise included, each at a position of its own."""
    generator = np.random.default_rng(2)
    sampler = Sampler(how, 1, generator.integers(0, row.size, PROMPT).tolist())
    times = []
    for position in range(PROMPT, PROMPT + REPEATS):
        begun = time.perf_counter()
        token = sampler.choose(row, position)
        times.append((time.perf_counter() - begun) * 1e3)
        sampler.commit(token, position)
    return statistics.median(times)
