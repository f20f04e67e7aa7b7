"""How often the twin proposes what the target writes, on texts: a forecast of acceptance at depth one.

Each row of the twin sees the target's keys and values of all tokens before it, as in drafting. Knows no formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from inference.kv_cache import KVCache
from inference.rows import Rows, tree_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.model import Forward
    from inference.quantize.texts import Text

CHUNK = 256


@torch.inference_mode()
def agreement(target: Forward, twin: Forward, texts: Sequence[Text], device: torch.device) -> tuple[int, int]:
    """(agreed, compared) greedy choices behind each token that a model wrote."""
    agreed = compared = 0
    for text in texts:
        first, end = max(0, text.begin - 1), len(text.ids)
        cache = KVCache(end, end - first)
        wanted: list[torch.Tensor] = []
        for begin in range(0, end, CHUNK):
            rows = tree_rows(text.ids[begin : begin + CHUNK], None, begin, cache.slots, device=device)
            wanted.append(target(rows, cache).argmax(-1))
            cache.advance(min(end, begin + CHUNK) - begin)
        proposed = twin(_alone(text.ids, first, cache, device), cache).argmax(-1)
        agreed += int((proposed == torch.cat(wanted)[first:]).sum())
        compared += end - first
    return agreed, compared


def _alone(ids: Sequence[int], first: int, cache: KVCache, device: torch.device) -> Rows:
    """The tokens from ``first`` on as rows behind the text, each seeing the tokens before it and itself only."""
    count, length = len(ids) - first, len(ids)
    seen = torch.zeros(count, length + count, dtype=torch.bool)
    seen[:, :length] = torch.arange(length) < torch.arange(first, length)[:, None]
    seen[:, length:] = torch.eye(count, dtype=torch.bool)
    return Rows(
        tokens=torch.tensor(list(ids[first:]), device=device),
        positions=torch.arange(first, length, device=device),
        slots=torch.arange(length, length + count, device=device),
        mask=seen.to(device),
        used=count,
        first=length,
    )
