"""The one loop: propose, verify, commit, yield. Plain decoding is the same loop with drafts of length 0 (design D1).

Prefill covers all prompt tokens but the last; that one is the first root. After each round the cache is valid for all
tokens but the last, and so it is after a reply, however it ended. Knows nothing of text, events or settings' sources.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

import torch

from inference.drafters.base import Draft
from inference.rows import Interrupted, tree_rows
from inference.verify import verify

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import numpy as np

    from inference.device_rounds import DeviceRounds
    from inference.drafters.base import Drafter
    from inference.events import Origin
    from inference.exact import Width
    from inference.kv_cache import KVCache
    from inference.model import Forward
    from inference.sampling import Sampler

PREFILL_CHUNK = 256
"""Chunks are cut at absolute multiples of this, so that a chunk's bits depend on its place only."""


Foresight = Callable[["Sequence[int]"], "int | None"]
"""Of drafted tokens, how many there are up to the one behind which the reply will end; None while it goes on."""


class Planner(Protocol):
    """Chooses K before a round and hears what came of it."""

    def plan(self, ids: Sequence[int], largest: int) -> int:
        """K for the next round, 0 to ``largest``, behind ``ids``: prompt and reply so far."""
        ...

    def record(self, outcome: Outcome) -> None:
        """A round is over."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """One round. ``tokens`` were emitted, with an origin each; ``stopped`` is the reason to end, or None.

    ``accepted`` counts as verification saw it, tokens cut by a stop included; times are in milliseconds. ``drafter``
    is what drafted, none for a plain step; ``draft`` what it proposed, without probabilities.
    """

    tokens: tuple[int, ...]
    origins: tuple[Origin, ...]
    k: int
    drafted: int
    tested: int
    accepted: int
    length: int
    draft_ms: float
    verify_ms: float
    stopped: str | None
    drafter: str = "none"
    draft: Draft = field(default_factory=Draft)


class Engine:
    """A target and its cache, and the ids that the cache holds.

    ``width`` decides how many rows a pass takes. The cache's valid slots always hold ``ids[: cache.length]``.
    ``rounds`` are a card's own, where it can draft and verify without the host in between.
    """

    def __init__(self, forward: Forward, cache: KVCache, width: Width, device: torch.device) -> None:
        self.forward = forward
        self.cache = cache
        self.width = width
        self.device = device
        self.rounds: DeviceRounds | None = None
        self._ids: list[int] = []

    @property
    def ids(self) -> tuple[int, ...]:
        """The token ids behind the valid slots of the cache."""
        return tuple(self._ids[: self.cache.length])

    def reuse(self, prompt: Sequence[int]) -> int:
        """Keep the longest common prefix of the cache and the prompt less its last token; return its length."""
        common = 0
        for known, wanted in zip(self._ids[: self.cache.length], prompt[:-1], strict=False):
            if known != wanted:
                break
            common += 1
        self.cache.truncate(common)
        common = self.cache.length  # a running state cannot be cut: it stays whole or goes
        self._ids = list(prompt[:common])
        return common

    def prefill(self, prompt: Sequence[int], cancelled: Callable[[], bool]) -> Iterator[int]:
        """Read all prompt tokens but the last into the cache; yield how many are done, at first those reused.

        Ends early when ``cancelled`` says so, where the forward can also within a chunk; what was read stays valid.
        """
        done = self.reuse(prompt)
        end = len(prompt) - 1
        yield done
        while done < end and not cancelled():
            stop = min(end, (done // PREFILL_CHUNK + 1) * PREFILL_CHUNK)
            chunk = list(prompt[done:stop])
            rows = tree_rows(chunk, None, done, self.cache.slots, device=self.device, given_up=cancelled)
            try:
                self.forward(rows, self.cache, last_only=True)
            except Interrupted:
                return
            self.cache.advance(len(chunk))
            self._ids.extend(chunk)
            done = stop
            yield done

    def decode(
        self,
        prompt: Sequence[int],
        sampler: Sampler,
        drafter: Drafter,
        planner: Planner,
        stop: Callable[[int], str | None],
        max_new_tokens: int,
        foresee: Foresight | None = None,
    ) -> Generator[Outcome, None, None]:
        """Write behind a prompt that ``prefill`` has read; yield a round at a time until there is a reason to end.

        ``stop(token)`` hears every emitted token once, in order, and gives a reason to end behind it, or None;
        ``foresee`` says it beforehand of drafted tokens, so that nothing is drafted behind an end. Close the generator
        to stop at a round's border. A round that fails leaves everything as it was before it.
        """
        ids = list(prompt)
        limit = min(len(prompt) + max_new_tokens, self.cache.context)
        if self.cache.length != len(ids) - 1:
            raise ValueError("decode comes behind a whole prefill")
        self._ids = ids  # grows with the reply; what is valid of it, the cache knows
        stopped = None if len(ids) < limit else "context"
        if self.rounds is not None:
            self.rounds.adopt(sampler)
        while stopped is None:
            largest = min(limit - len(ids) - 1, self.width.largest_k(self.cache.length))
            started = time.perf_counter()
            k = planner.plan(ids, max(0, largest))
            done = None
            if self.rounds is not None:
                done = self.rounds.run(ids, k, sampler, drafter, self.cache, self.width, foresee)
            if done is not None:
                draft, verdict, draft_ms, verify_ms = done.draft, done.verdict, done.draft_ms, done.verify_ms
            else:
                draft = drafter.propose(ids, k, sampler) if k else Draft()
                drafted = time.perf_counter()
                logits = self._pass([ids[-1], *draft.tokens], draft)
                verdict = verify(draft, partial(_row, logits), sampler, len(ids))
                draft_ms, verify_ms = (drafted - started) * 1e3, (time.perf_counter() - drafted) * 1e3
            # Before any token is told: this may want memory, and a round is told whole or not at all.
            self.cache.commit([0, *(node + 1 for node in verdict.path)])
            emitted = [*(draft.tokens[node] for node in verdict.path), verdict.last]
            kept: list[int] = []
            for token in emitted:
                kept.append(token)
                sampler.commit(token, len(ids) + len(kept) - 1)
                stopped = stop(token)
                if stopped is None and len(ids) + len(kept) >= limit:
                    stopped = "length" if limit < self.cache.context else "context"
                if stopped is not None:
                    break
            if len(kept) < len(emitted):
                self.cache.truncate(self.cache.length - len(emitted) + len(kept))
            # The last kept token stays without a slot: it is the next root, or the end.
            ids.extend(kept)
            last: Origin = "plain" if not draft.tokens else ("bonus" if verdict.full else "correction")
            hits: list[Origin] = ["accepted"] * len(verdict.path)
            outcome = Outcome(
                tokens=tuple(kept),
                origins=tuple([*hits, last][: len(kept)]),
                k=k,
                drafted=len(draft.tokens),
                tested=verdict.tested,
                accepted=len(verdict.path),
                length=self.cache.length,
                draft_ms=draft_ms,
                verify_ms=verify_ms,
                stopped=stopped,
                drafter=drafter.name if draft.tokens else "none",
                draft=Draft(draft.tokens, draft.parents),
            )
            planner.record(outcome)
            yield outcome

    def again(self, ids: list[int], draft: Draft, path: Sequence[int], kept: Sequence[int]) -> None:
        """Run a past round again behind ``ids``, which grow by the tokens that were ``kept``.

        ``path`` are the nodes of the draft that all kept tokens but the last stand at.
        """
        self._ids = ids
        self._pass([ids[-1], *draft.tokens], draft)
        self.cache.commit([0, *(node + 1 for node in path)])
        ids.extend(kept)

    def _pass(self, tokens: list[int], draft: Draft) -> torch.Tensor:
        """Logits of the root and every node of the draft, in one pass."""
        chain = draft.parents == tuple(range(-1, len(draft.parents) - 1))
        parents = None if chain else [-1, *(parent + 1 for parent in draft.parents)]
        return self.forward(self.width.rows(tokens, parents, self.cache, self.device), self.cache)


def _row(logits: torch.Tensor, row: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return as_row(logits[row])


def as_row(logits: torch.Tensor) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """One row of logits [vocabulary] as float32 on the host."""
    row: np.ndarray[tuple[int], np.dtype[np.float32]] = logits.to("cpu", torch.float32).numpy()
    return row
