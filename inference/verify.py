"""Which nodes of a draft survive: the coupled rule (design D2).

The target's own token is computed at every node that the walk reaches; the walk follows the child that carries it,
and the first token without a child is the correction or bonus. So the text is what plain decoding writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.drafters.base import Draft


@dataclass(frozen=True, slots=True)
class Verdict:
    """``path`` are the draft's accepted nodes from the root on, ``last`` the target's own token behind them.

    ``tested`` counts the drafted nodes on the way that verification reached, all up to and including the first miss.
    ``full`` says that the draft ended before it missed: ``last`` is a bonus, else a correction.
    """

    path: tuple[int, ...]
    last: int
    tested: int
    full: bool


def follow(draft: Draft, choose: Callable[[int, Sequence[int]], int]) -> Verdict:
    """Walk the draft from the root along the children that carry the target's own tokens.

    ``choose(row, path_tokens)`` gives the target's token behind row ``row``; row 0 is the root, row i + 1 the draft's
    node i, and ``path_tokens`` the drafted tokens on the way there.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(draft.parents):
        children.setdefault(parent, []).append(node)
    path: list[int] = []
    tokens: list[int] = []
    here = -1
    while True:
        token = choose(here + 1, tokens)
        offered = children.get(here, [])
        hit = next((node for node in offered if draft.tokens[node] == token), None)
        if hit is None:
            return Verdict(tuple(path), token, len(path) + bool(offered), not offered)
        path.append(hit)
        tokens.append(token)
        here = hit
