"""Which token comes out of a row of logits: processors, warpers and position-keyed noise, for target and drafters.

Coupled sampling (design D2, arXiv 2408.07978): the token at a position is ``argmax(warp(logits) + noise[position])``
with Gumbel noise keyed by (seed, position), a pure function of the row, the position and the text before it. Works on
numpy rows in float32: on the CPU that is quicker than torch and never waits for other threads. Knows nothing of models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from inference.native import choice
from inference.native import noise as compiled
from inference.noise import Draws, keyed_uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from inference.settings import Sampling

    Row = NDArray[np.float32]
    Ids = NDArray[np.int64]

SORTED = 2048
"""Top-p narrows the row until this few candidates are left for its border, and sorts those."""
SAMPLE = 512
NEAR = 24
"""The border is looked for between the ranks this far above and below the one where a sample of SAMPLE puts it."""


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
        self._seen = set(prompt) if self._penalise else set()
        self._seen_ids = np.fromiter(self._seen, dtype=np.int64)
        self._counts: dict[int, int] = {}

    @property
    def changes(self) -> bool:
        """Whether any row may come out changed."""
        return self._active

    def commit(self, token: int) -> None:
        """A token became part of the output."""
        self._written += 1
        if self._penalise:
            if token not in self._seen:
                self._seen.add(token)
                self._seen_ids = np.append(self._seen_ids, token)
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
            new = [token for token in dict.fromkeys(path) if token not in self._seen]
            ids = np.append(self._seen_ids, np.array(new, dtype=np.int64)) if new else self._seen_ids
            ids = ids[ids < row.size]
            values = row[ids]
            penalty = np.float32(settings.repetition_penalty)
            row[ids] = np.where(values > 0, values / penalty, values * penalty)
        if settings.presence_penalty or settings.frequency_penalty:
            counts = dict(self._counts)
            for token in path:
                counts[token] = counts.get(token, 0) + 1
            ids = np.fromiter(counts, dtype=np.int64, count=len(counts))
            times = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))[ids < row.size]
            ids = ids[ids < row.size]
            row[ids] -= np.float32(settings.presence_penalty) + np.float32(settings.frequency_penalty) * times


def warp(row: Row, sampling: Sampling) -> tuple[Row, Ids | None]:
    """Temperature, top-k, top-p, min-p, in that order: the logits that stay and their ids, ascending.

    Ids None means that the whole vocabulary stays. ``sampling.temperature`` must be above 0.
    """
    row = row / np.float32(sampling.temperature)
    ids: Ids | None = None
    if 0 < sampling.top_k < row.size:
        ids = largest(row, sampling.top_k)
        if sampling.top_p < 1:
            mass = np.cumsum(np.exp(row[ids] - row.max()))
            ids = ids[: int(np.searchsorted(mass, np.float32(sampling.top_p) * mass[-1])) + 1]
        ids = np.sort(ids)
    elif sampling.top_p < 1:
        ids = nucleus(row, sampling.top_p)
    if sampling.min_p > 0:
        bound = row.max() + np.float32(math.log(sampling.min_p))
        ids = np.flatnonzero(row >= bound) if ids is None else ids[row[ids] >= bound]
    if ids is None:
        return row, None
    return row[ids], ids


def nucleus(row: Row, top_p: float) -> Ids:
    """The fewest best ids whose probability reaches ``top_p``, ascending; among equals lower ids come first."""
    found = choice.nucleus(row, top_p)
    return _sorted_nucleus(row, top_p) if found is None else found


def _sorted_nucleus(row: Row, top_p: float) -> Ids:
    top = row.max()
    weights = np.exp(row - top)
    total = float(weights.sum(dtype=np.float64))
    wanted = top_p * total
    # What is lighter than its even share of the tail cannot be in: all such together weigh less than the tail.
    candidates = row[weights >= (1 - top_p) * total / row.size]
    while candidates.size > SORTED:
        before = candidates.size
        candidates, wanted = _narrowed(candidates, top, wanted)
        if candidates.size == before:
            break
    candidates = -np.sort(-candidates)
    masses = np.cumsum(np.exp(candidates - top), dtype=np.float64)
    count = min(int(np.searchsorted(masses, wanted)) + 1, candidates.size)
    border = candidates[count - 1]
    inside = row > border
    equal = np.flatnonzero(row == border)
    if equal.size > 1:
        # Of equals those with lower ids come first. Halves cut equals apart, so they are counted by mass.
        missing = top_p * total - float(weights[inside].sum(dtype=np.float64))
        count = math.ceil(missing / float(weights[equal[0]]) - 1e-9)
        equal = equal[: min(max(1, count), equal.size)]
    inside[equal] = True
    return np.flatnonzero(inside)


def _narrowed(candidates: Row, top: np.float32, wanted: float) -> tuple[Row, float]:
    """The part of ``candidates`` in which their running mass reaches ``wanted``, and what it has to reach there."""
    sample = -np.sort(-candidates[:: -(-candidates.size // SAMPLE)])
    masses = np.cumsum(np.exp(sample - top))
    rank = int(np.searchsorted(masses, wanted * sample.size / candidates.size))
    high, low = sample[max(0, rank - NEAR)], sample[min(rank + NEAR, sample.size - 1)]
    for bound in (high, low):
        above = candidates > bound
        best = candidates[above]
        mass = float(np.exp(best - top).sum(dtype=np.float64))
        if mass >= wanted:
            return best, wanted
        wanted -= mass
        candidates = candidates[~above]
    return candidates, wanted


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
        self._draws: dict[int, Draws] = {}
        self.draws_of: Callable[[int, int, int], Row] | None = None
        """Where the draws of (seed, position, size) come from, None for this machine's noise; a card has its own."""

    @property
    def on_device(self) -> bool:
        """Whether a card may choose: by row, position and noise alone. The same all through a reply."""
        return self.coupled and not self._processors.changes

    @property
    def greedy(self) -> bool:
        """Whether the best logit wins without noise."""
        return self.sampling.temperature == 0

    def commit(self, token: int, position: int) -> None:
        """A token became part of the text at ``position``; noise up to there is no longer needed."""
        self._processors.commit(token)
        for old in [key for key in self._draws if key <= position]:
            del self._draws[old]

    def noise(self, position: int, size: int, ids: Ids | None = None) -> Row:
        """The noise of a position, [size], or that of some ids only: most of it is then not even drawn."""
        if self.draws_of is None and compiled.available():
            return compiled.gumbel(self.seed, position, size, ids)
        known = self._draws.get(position)
        if known is None or len(known) < size:
            known = self._draws[position] = Draws(self.seed, position, size, self.draws_of)
        return -np.log(known.all()[:size] if ids is None else known.of(ids))

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
        if self.draws_of is None:
            found = choice.choose(row, self.sampling, self.seed, position)
            if found is not None:
                return found
        logits, ids = warp(row, self.sampling)
        if ids is None:
            return int((logits + self.noise(position, row.size)).argmax())
        if ids.size == 1:
            return int(ids[0])
        return int(ids[(logits + self.noise(position, row.size, ids)).argmax()])

    def leading(self, row: Row, position: int, path: Sequence[int], count: int) -> list[int]:
        """At most ``count`` tokens for ``position``, best first: the first is the one ``choose`` takes.

        The largest logits, with their noise above temperature 0, so they are what the target chooses if its logits are
        a little different. Tokens that the settings rule out are none of them.
        """
        row = self._processors.apply(row, path)
        if self.greedy:
            return [int(token) for token in largest(row, count) if np.isfinite(row[token])]
        logits, ids = warp(row, self.sampling)
        best = largest(logits + self.noise(position, row.size, ids), count)
        return [int(token) for token in (best if ids is None else ids[best])]
