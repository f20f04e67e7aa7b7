"""How far drafts of the twin agree with texts that the target wrote, without writing anything: one pass a text.

As verification compares a draft with the text that the target writes anyway, a known text tells all: rows of every
depth see the target's keys and values up to the root and the twin's own behind it. Knows no formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from inference.kv_cache import KVCache
from inference.rows import Rows, tree_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.model import Forward
    from inference.quantize.texts import Text

CHUNK = 256


@dataclass(frozen=True, slots=True)
class Drafted:
    """Drafts of one depth over a text: tokens tested and accepted by depth, and rounds."""

    tested: tuple[int, ...]
    accepted: tuple[int, ...]
    rounds: int


@torch.inference_mode()
def read(target: Forward, text: Text, spare: int, device: torch.device) -> tuple[KVCache, list[int]]:
    """A cache with the target's keys and values of the text and ``spare`` slots; its greedy choices, one a token."""
    cache = KVCache(len(text.ids), spare)
    greedy: list[int] = []
    for begin in range(0, len(text.ids), CHUNK):
        rows = tree_rows(text.ids[begin : begin + CHUNK], None, begin, cache.slots, device=device)
        greedy += target(rows, cache).argmax(-1).tolist()
        cache.advance(rows.used)
    return cache, greedy


@torch.inference_mode()
def hits(
    target: Forward,
    twin: Forward,
    text: Text,
    depth: int,
    device: torch.device,
    choose: Callable[[torch.Tensor, int], int] | None = None,
) -> list[list[bool]]:
    """[depth][position]: whether a draft that agreed so far proposes the next token of the text, position by position.

    ``choose`` takes the logits of one row and the number of tokens before the one chosen; None takes the largest.
    """
    ids, first = text.ids, max(0, text.begin - 1)
    count = len(ids) - 1 - first
    cache, _ = read(target, text, depth * count, device)
    logits = twin(_drafts(ids, first, count, depth, device), cache).view(depth, count, -1)
    wanted = ids[first + 1 :]
    if choose is None:
        chosen = logits.argmax(-1).tolist()
    else:
        chosen = [[choose(row, first + 1 + place) for place, row in enumerate(level)] for level in logits]
    return [[mine == theirs for mine, theirs in zip(level, wanted, strict=True)] for level in chosen]


def rounds(found: Sequence[Sequence[bool]]) -> Drafted:
    """What decoding the text would have been: each round tests up to the first miss, and goes on behind it."""
    depth, count = len(found), len(found[0])
    tested, accepted = [0] * depth, [0] * depth
    place = total = 0
    while place < count:
        total += 1
        level = 0
        while level < depth and place + level < count:
            tested[level] += 1
            if not found[level][place + level]:
                break
            accepted[level] += 1
            level += 1
        place += level + 1
    return Drafted(tuple(tested), tuple(accepted), total)


def agreement(target: Forward, twin: Forward, texts: Sequence[Text], device: torch.device) -> tuple[int, int]:
    """(agreed, compared) greedy choices of twin and target behind each token that a model wrote."""
    agreed = compared = 0
    for text in texts:
        first = max(0, text.begin - 1)
        count = len(text.ids) - first
        cache, greedy = read(target, text, count, device)
        found = twin(_drafts(text.ids, first, count, 1, device), cache).argmax(-1).tolist()
        agreed += sum(mine == theirs for mine, theirs in zip(found, greedy[first:], strict=True))
        compared += count
    return agreed, compared


def _drafts(ids: Sequence[int], first: int, count: int, depth: int, device: torch.device) -> Rows:
    """For each depth the tokens from ``first`` on, as rows behind the text.

    A row d deep sees the text up to d tokens before itself, and of each smaller depth the row of the token between.
    """
    length = len(ids)
    seen = torch.zeros(depth, count, length + depth * count, dtype=torch.bool)
    positions = torch.arange(first, first + count)
    for level in range(depth):
        seen[level, :, :length] = torch.arange(length) <= (positions - level - 1)[:, None]
        for above in range(level + 1):
            places = torch.arange(count) - level + above
            inside = places >= 0
            seen[level, inside, length + above * count + places[inside]] = True
    total = depth * count
    return Rows(
        tokens=torch.tensor(list(ids[first : first + count]) * depth, device=device),
        positions=positions.repeat(depth).to(device),
        slots=torch.arange(length, length + total, device=device),
        mask=seen.view(total, -1).to(device),
        used=total,
        first=length,
    )
