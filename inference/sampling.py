"""Which token comes out of a row of logits: warpers and position-keyed noise, the same for target and drafters.

Coupled sampling (design D2, arXiv 2408.07978): the token at a position is ``argmax(warp(logits) + noise[position])``
with Gumbel noise keyed by (seed, position), a pure function of the row, the position and the text before it. Works on
numpy rows in float32: on the CPU that is quicker than torch and never waits for other threads. Knows nothing of models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from inference.settings import Sampling

    Row = NDArray[np.float32]
    Ids = NDArray[np.int64]

FIRST_GUESS = 256
"""Top-p looks at this many largest logits first, and doubles until they hold p."""


def keyed_noise(seed: int, position: int, size: int) -> Row:
    """Gumbel noise [size] float32, always finite, for this seed and this position in the token ids."""
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, position], dtype=np.uint64)))
    draws = generator.standard_exponential(size)
    # A draw of exactly zero would become infinite noise, and -inf + inf = NaN wins an argmax.
    return -np.log(np.maximum(draws, 1e-300)).astype(np.float32)


def largest(row: Row, count: int) -> Ids:
    """The ids of the ``count`` largest entries, best first; among equals the lower id comes first."""
    if count >= row.size:
        return np.argsort(-row, kind="stable")
    bound = np.partition(row, row.size - count)[row.size - count]
    above = np.flatnonzero(row > bound)
    equal = np.flatnonzero(row == bound)[: count - above.size]
    ids = np.sort(np.concatenate([above, equal]))
    return ids[np.argsort(-row[ids], kind="stable")]


class Penalties:
    """Repetition (prompt and output), presence and frequency (output only), for a text and a path behind it.

    Counts change only in ``commit``; a node's own path is given with each call, so a rejected draft leaves no trace.
    """

    def __init__(self, sampling: Sampling, prompt: Iterable[int]) -> None:
        self._sampling = sampling
        self._active = (
            sampling.repetition_penalty != 1 or sampling.presence_penalty != 0 or sampling.frequency_penalty != 0
        )
        self._seen: set[int] = set(prompt) if self._active else set()
        self._counts: dict[int, int] = {}

    def commit(self, token: int) -> None:
        """A token became part of the output."""
        if self._active:
            self._seen.add(token)
            self._counts[token] = self._counts.get(token, 0) + 1

    def apply(self, row: Row, path: Sequence[int]) -> Row:
        """The penalised row, a copy where anything changes."""
        if not self._active:
            return row
        row = row.copy()
        settings = self._sampling
        if settings.repetition_penalty != 1:
            ids = np.fromiter(self._seen | set(path), dtype=np.int64)
            ids = ids[ids < row.size]
            values = row[ids]
            penalty = np.float32(settings.repetition_penalty)
            row[ids] = np.where(values > 0, values / penalty, values * penalty)
        if settings.presence_penalty or settings.frequency_penalty:
            counts = dict(self._counts)
            for token in path:
                counts[token] = counts.get(token, 0) + 1
            for token, count in counts.items():
                if token < row.size:
                    row[token] -= np.float32(settings.presence_penalty + settings.frequency_penalty * count)
        return row


def warp(row: Row, sampling: Sampling) -> tuple[Row, Ids | None]:
    """Temperature, top-k, top-p, min-p, in that order: the logits that stay and their ids, ascending.

    Ids None means that the whole vocabulary stays. ``sampling.temperature`` must be above 0.
    """
    row = row / np.float32(sampling.temperature)
    ids: Ids | None = None
    if 0 < sampling.top_k < row.size:
        ids = largest(row, sampling.top_k)
    if sampling.top_p < 1:
        ids = _nucleus(row, ids, sampling.top_p)
    if sampling.min_p > 0:
        bound = row.max() + np.float32(math.log(sampling.min_p))
        ids = np.flatnonzero(row >= bound) if ids is None else ids[row[ids] >= bound]
    if ids is None:
        return row, None
    ids = np.sort(ids)
    return row[ids], ids


def _nucleus(row: Row, ids: Ids | None, top_p: float) -> Ids:
    """The fewest best ids whose probability reaches ``top_p``, of ``ids`` (best first) or of the whole row."""
    top = row.max()
    if ids is not None:
        mass = np.cumsum(np.exp(row[ids] - top))
        return ids[: int(np.searchsorted(mass, np.float32(top_p) * mass[-1])) + 1]
    total = np.exp(row - top).sum()
    count = FIRST_GUESS
    while True:
        best = largest(row, count)
        mass = np.cumsum(np.exp(row[best] - top))
        if mass[-1] >= np.float32(top_p) * total or best.size == row.size:
            return best[: int(np.searchsorted(mass, np.float32(top_p) * total)) + 1]
        count *= 2


class Sampler:
    """Chooses tokens for one reply. ``prompt`` are the ids before it; ``seed`` keys the noise.

    A position is an index in this request's token ids. Noise is drawn once a position, for drafter and target alike.
    """

    def __init__(self, sampling: Sampling, seed: int, prompt: Sequence[int]) -> None:
        self.sampling = sampling
        self.seed = seed
        self._penalties = Penalties(sampling, prompt)
        self._noise: dict[int, Row] = {}

    @property
    def greedy(self) -> bool:
        """Whether the best logit wins without noise."""
        return self.sampling.temperature == 0

    def commit(self, token: int, position: int) -> None:
        """A token became part of the text at ``position``; noise up to there is no longer needed."""
        self._penalties.commit(token)
        for old in [key for key in self._noise if key <= position]:
            del self._noise[old]

    def noise(self, position: int, size: int) -> Row:
        """The noise of a position, [size]."""
        known = self._noise.get(position)
        if known is None or known.size < size:
            known = self._noise[position] = keyed_noise(self.seed, position, size)
        return known[:size]

    def choose(self, row: Row, position: int, path: Sequence[int] = ()) -> int:
        """The token at ``position`` from ``row`` [vocabulary], when ``path`` stands between the text and it."""
        row = self._penalties.apply(row, path)
        if self.greedy:
            return int(row.argmax())  # numpy's argmax is the first of equals: the lower id
        logits, ids = warp(row, self.sampling)
        if ids is None:
            return int((logits + self.noise(position, row.size)).argmax())
        if ids.size == 1:
            return int(ids[0])
        return int(ids[(logits + self.noise(position, row.size)[ids]).argmax()])
