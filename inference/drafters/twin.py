"""The twin drafts: the target's own low-bit copy, on the target's own cache (design D4).

It attends to the target's keys and values and writes its own into the slots past the valid length; verification
overwrites exactly those. So it has no prefill, no second cache and nothing to repair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.drafters.base import Draft
from inference.drafters.comb import Comb
from inference.engine import as_row
from inference.rows import tree_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from inference.kv_cache import KVCache
    from inference.model import Forward
    from inference.sampling import Row, Sampler


class TwinDrafter:
    """Chains drawn by ``forward``, the twin's, through the target's ``cache``."""

    name = "twin"

    def __init__(self, forward: Forward, cache: KVCache, device: torch.device) -> None:
        self._forward = forward
        self._cache = cache
        self._device = device

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A chain of ``k`` tokens, each chosen as the target would choose it."""
        return self.propose_tree(ids, k, 0, sampler)

    def propose_tree(self, ids: Sequence[int], k: int, siblings: int, sampler: Sampler) -> Draft:
        """The chain, with the ``siblings`` next best tokens beside each of its own, under the coupled rule only."""
        comb = Comb()
        tokens: list[int] = []
        distributions: list[Row] = []
        token = ids[-1]
        for depth in range(k):
            rows = tree_rows([token], None, self._cache.length + depth, self._cache.slots, device=self._device)
            logits = self._forward(rows, self._cache)
            row, position = as_row(logits[0]), len(ids) + depth
            if siblings:
                token = comb.add(sampler.leading(row, position, tokens, siblings + 1))
                tokens.append(token)
                continue
            token, probabilities = sampler.propose(row, position, tokens)
            tokens.append(token)
            if probabilities is not None:
                distributions.append(probabilities)
        return comb.draft() if siblings else Draft.chain(tokens, distributions)
