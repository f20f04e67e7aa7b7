"""Which token comes out of a row of logits: processors, warpers and position-keyed noise, for target and drafters.

Coupled sampling (design D2, arXiv 2408.07978): the token at a position is ``argmax(warp(logits) + noise[position])``
with Gumbel noise keyed by (seed, position), a pure function of the row, the position and the text before it. Works on
numpy rows in float32: on the CPU that is quicker than torch and never waits for other threads. Knows nothing of models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from inference.settings import Sampling

    Row = NDArray[np.float32]
    Ids = NDArray[np.int64]

FIRST_GUESS = 256
"""Top-p looks at this many largest logits first, and doubles until they hold p."""


STREAMS = {"draft": 1, "accept": 2, "own": 3}
"""Independent streams of the textbook rule: drafted tokens, acceptance, and the target's own tokens."""


def keyed_noise(seed: int, position: int, size: int) -> Row:
    """Gumbel noise [size] float32, always finite, for this seed and this position in the token ids."""
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, position], dtype=np.uint64)))
    draws = generator.standard_exponential(size)
    # A draw of exactly zero would become infinite noise, and -inf + inf = NaN wins an argmax.
    return -np.log(np.maximum(draws, 1e-300)).astype(np.float32)


def keyed_uniform(seed: int, position: int, stream: str) -> float:
    """A uniform draw in [0, 1) for this seed and position, from a stream of STREAMS independent of the others."""
    key = np.array([seed, position], dtype=np.uint64)
    return float(np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, STREAMS[stream]])).random())


def largest(row: Row, count: int) -> Ids:
    """The ids of the ``count`` largest entries, best first; among equals the lower id comes first."""
    if count >= row.size:
        return np.argsort(-row, kind="stable")
    bound = np.partition(row, row.size - count)[row.size - count]
    above = np.flatnonzero(row > bound)
    equal = np.flatnonzero(row == bound)[: count - above.size]
    ids = np.sort(np.concatenate([above, equal]))
    return ids[np.argsort(-row[ids], kind="stable")]


class Processors:
    """What changes logits by the text before them: penalties, logit bias, and end tokens kept back at first.

    Repetition counts prompt and output, presence and frequency the output only. Counts change only in ``commit``; a
    node's own path is given with each call, so a rejected draft leaves no trace. ``bias`` is by token id; ``ends`` are
    the end tokens that ``min_new_tokens`` keeps back.
    """

    def __init__(
        self, sampling: Sampling, prompt: Iterable[int], bias: Mapping[int, float], ends: Iterable[int]
    ) -> None:
        self._sampling = sampling
        self._penalise = (
            sampling.repetition_penalty != 1 or sampling.presence_penalty != 0 or sampling.frequency_penalty != 0
        )
        self._bias = bias
        self._ends = sorted(ends) if sampling.min_new_tokens else []
        self._written = 0
        self._active = self._penalise or bool(bias) or bool(self._ends)
        self._seen: set[int] = set(prompt) if self._penalise else set()
        self._counts: dict[int, int] = {}

    def commit(self, token: int) -> None:
        """A token became part of the output."""
        self._written += 1
        if self._penalise:
            self._seen.add(token)
            self._counts[token] = self._counts.get(token, 0) + 1

    def apply(self, row: Row, path: Sequence[int]) -> Row:
        """The processed row, a copy where anything changes."""
        if not self._active:
            return row
        row = row.copy()
        if self._penalise:
            self._apply_penalties(row, path)
        for token, bias in self._bias.items():
            if token < row.size:
                row[token] += np.float32(bias)
        if self._written + len(path) < self._sampling.min_new_tokens:
            for token in self._ends:
                if token < row.size:
                    row[token] = -np.inf
        return row

    def _apply_penalties(self, row: Row, path: Sequence[int]) -> None:
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


def draw(probabilities: Row, uniform: float) -> int:
    """The token at which the running sum passes ``uniform``; never one of probability 0."""
    sums = np.cumsum(probabilities, dtype=np.float64)
    return int(np.searchsorted(sums, uniform * sums[-1], side="right"))


class Sampler:
    """Chooses tokens for one reply. ``prompt`` are the ids before it; ``seed`` keys the noise.

    A position is an index in this request's token ids. Noise is drawn once a position, for drafter and target alike.
    ``rule`` is coupled or textbook (design D2, D3); ``bias`` and ``ends`` are for the processors.
    """

    def __init__(
        self,
        sampling: Sampling,
        seed: int,
        prompt: Sequence[int],
        *,
        rule: str = "coupled",
        bias: Mapping[int, float] | None = None,
        ends: Iterable[int] = (),
    ) -> None:
        self.sampling = sampling
        self.seed = seed
        self.coupled = rule == "coupled" or sampling.temperature == 0
        self._processors = Processors(sampling, prompt, bias or {}, ends)
        self._noise: dict[int, Row] = {}

    @property
    def greedy(self) -> bool:
        """Whether the best logit wins without noise."""
        return self.sampling.temperature == 0

    def commit(self, token: int, position: int) -> None:
        """A token became part of the text at ``position``; noise up to there is no longer needed."""
        self._processors.commit(token)
        for old in [key for key in self._noise if key <= position]:
            del self._noise[old]

    def noise(self, position: int, size: int) -> Row:
        """The noise of a position, [size]."""
        known = self._noise.get(position)
        if known is None or known.size < size:
            known = self._noise[position] = keyed_noise(self.seed, position, size)
        return known[:size]

    def propose(self, row: Row, position: int, path: Sequence[int]) -> tuple[int, Row | None]:
        """A drafter's token at ``position``; under the textbook rule also the distribution it was drawn from."""
        if self.coupled:
            return self.choose(row, position, path), None
        probabilities = self.probabilities(row, path)
        return draw(probabilities, keyed_uniform(self.seed, position, "draft")), probabilities

    def probabilities(self, row: Row, path: Sequence[int]) -> Row:
        """The distribution [vocabulary] that tokens behind ``path`` are drawn from; sums to 1."""
        logits, ids = warp(self._processors.apply(row, path), self.sampling)
        weights: Row = np.exp(logits - logits.max())
        weights /= weights.sum()
        if ids is None:
            return weights
        full = np.zeros(row.size, dtype=np.float32)
        full[ids] = weights
        return full

    def choose(self, row: Row, position: int, path: Sequence[int] = ()) -> int:
        """The token at ``position`` from ``row`` [vocabulary], when ``path`` stands between the text and it."""
        row = self._processors.apply(row, path)
        if self.greedy:
            return int(row.argmax())  # numpy's argmax is the first of equals: the lower id
        logits, ids = warp(row, self.sampling)
        if ids is None:
            return int((logits + self.noise(position, row.size)).argmax())
        if ids.size == 1:
            return int(ids[0])
        return int(ids[(logits + self.noise(position, row.size)[ids]).argmax()])
