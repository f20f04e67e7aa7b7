"""Which nodes of a draft survive: the coupled rule (design D2) and the textbook rule (design D3).

Coupled: the target's own token is computed at every node that the walk reaches; the walk follows the child that
carries it, so the text is what plain decoding writes. Textbook (arXiv 2211.17192, 2302.01318): a drafted token is
accepted with probability min(1, p/q), else the residual is drawn from, so the distribution is that of plain decoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inference.noise import keyed_uniform
from inference.sampling import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference.drafters.base import Draft
    from inference.sampling import Row, Sampler


@dataclass(frozen=True, slots=True)
class Verdict:
    """``path`` are the draft's accepted nodes from the root on, ``last`` the target's own token behind them.

    ``tested`` counts the drafted tokens on the way that verification reached, all up to and including the first miss.
    ``full`` says that the draft ended before it missed: ``last`` is a bonus, else a correction.
    """

    path: tuple[int, ...]
    last: int
    tested: int
    full: bool


def verify(draft: Draft, rows: Callable[[int], Row], sampler: Sampler, position: int) -> Verdict:
    """Walk the draft from the root, by the sampler's rule.

    ``rows(i)`` gives the target's logits [vocabulary] behind row i: row 0 is the root, row i + 1 the draft's node i.
    ``position`` is that of the first token to be emitted.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(draft.parents):
        children.setdefault(parent, []).append(node)
    decide = _coupled if sampler.coupled else _textbook
    path: list[int] = []
    tokens: list[int] = []
    here = -1
    while True:
        offered = children.get(here, [])
        hit, token = decide(draft, offered, rows(here + 1), sampler, position + len(tokens), tokens)
        if hit is None:
            return Verdict(tuple(path), token, len(path) + bool(offered), not offered)
        path.append(hit)
        tokens.append(token)
        here = hit


def _coupled(
    draft: Draft, offered: list[int], row: Row, sampler: Sampler, position: int, path: list[int]
) -> tuple[int | None, int]:
    """The child that carries the target's token, or None, and that token."""
    token = sampler.choose(row, position, path)
    return next((node for node in offered if draft.tokens[node] == token), None), token


def _textbook(
    draft: Draft, offered: list[int], row: Row, sampler: Sampler, position: int, path: list[int]
) -> tuple[int | None, int]:
    """The child that is accepted, or None and a token drawn from what the refused children leave."""
    target_probs = sampler.probabilities(row, path)
    coins = keyed_uniform(sampler.seed, position, "accept")
    for node in offered:
        token = draft.tokens[node]
        if draft.probabilities is None:
            # A deterministic candidate has q = 1; refused, its mass is gone (one coin serves all siblings).
            if token >= target_probs.size:
                continue
            chance, target_probs[token] = float(target_probs[token]), 0.0
            if coins < chance:
                return node, token
            coins -= chance
            continue
        draft_probs = draft.probabilities[node]
        if token < target_probs.size and coins * draft_probs[token] < target_probs[token]:
            return node, token
        draft_probs = _resized(draft_probs, target_probs.size)
        residual = np.maximum(target_probs - draft_probs, 0)
        # With p = q nothing is left but rounding errors; the token was then refused by such an error only.
        target_probs = residual if residual.sum() > 0 else target_probs
        break
    return None, draw(target_probs, keyed_uniform(sampler.seed, position, "own"))


def _resized(probabilities: Row, size: int) -> Row:
    """Embeddings may be padded differently: ids that one side lacks have probability zero there."""
    if probabilities.size >= size:
        return probabilities[:size]
    return np.pad(probabilities, (0, size - probabilities.size))
