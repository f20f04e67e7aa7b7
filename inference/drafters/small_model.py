"""The small-model drafter: another, smaller model of the same tokenizer, with a cache of its own.

Follows Leviathan 2023 and Chen 2023 (speculative decoding with a draft model). Its cache holds what it has read of the
chat; a long prompt is read a part a round, so that the reply begins and Stop is heard meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.drafters.base import Draft
from inference.engine import as_row
from inference.rows import tree_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from inference.kv_cache import KVCache
    from inference.model import Forward
    from inference.sampling import Row, Sampler

PART = 256
"""Tokens of the chat read in one pass; at most one such pass comes before a draft."""


class SmallModelDrafter:
    """Chains drawn by ``forward`` through its own ``cache``.

    ``vocabulary`` is the number of ids that target and small model share; others are never drafted. ``rows`` is how
    many ids the small model can read: the target may write one beyond them, which is then read as id 0.
    """

    name = "small-model"

    def __init__(self, forward: Forward, cache: KVCache, device: torch.device, vocabulary: int, rows: int) -> None:
        self._forward = forward
        self._cache = cache
        self._device = device
        self._vocabulary = vocabulary
        self._rows = rows
        self._source: Sequence[int] | None = None
        self._agreed = 0
        self._ids: list[int] = []

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A chain of at most ``k`` tokens; none while there is still more of the chat to read."""
        k = min(k, self._cache.context - len(ids))
        if k <= 0 or not self._read(ids):
            return Draft()
        tokens: list[int] = []
        distributions: list[Row] = []
        token = ids[-1]
        for depth in range(k):
            logits = self._pass([token])
            token, probabilities = sampler.propose(as_row(logits[0])[: self._vocabulary], len(ids) + depth, tokens)
            tokens.append(token)
            if probabilities is not None:
                distributions.append(probabilities)
        return Draft.chain(tokens, distributions)

    def _read(self, ids: Sequence[int]) -> bool:
        """Bring the cache to all of ``ids`` but the last, one part at the most; whether it is there."""
        self._keep_common(ids)
        end = len(ids) - 1
        missing = end - self._cache.length
        if missing > 0:
            self._pass(ids[self._cache.length : min(end, self._cache.length + PART)])
        return self._cache.length == end

    def _keep_common(self, ids: Sequence[int]) -> None:
        """Cut the cache to the longest beginning that it shares with ``ids``.

        Within a reply the engine hands over one growing list, so only what is new is compared.
        """
        same = self._agreed if ids is self._source else 0
        held = min(self._cache.length, len(ids) - 1)
        while same < held and self._ids[same] == ids[same]:
            same += 1
        same = min(same, held)
        self._cache.truncate(same)
        del self._ids[same:]
        self._source = ids
        self._agreed = same

    def _pass(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read ``tokens`` behind the cache; the last one's logits [1, vocabulary]."""
        readable = [token if token < self._rows else 0 for token in tokens]
        rows = tree_rows(readable, None, self._cache.length, self._cache.slots, device=self._device)
        logits = self._forward(rows, self._cache, last_only=True)
        self._cache.advance(len(tokens))
        self._ids.extend(tokens)
        return logits
