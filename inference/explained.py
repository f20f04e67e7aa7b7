"""One round laid open, as values: the draft, what target and drafter saw at each place, and what was decided and why.

Standard library only; knows nothing of how it is found out or shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.messages import Notice

SHOWN = 5
"""How many candidates a place shows of each side."""

ROOT = -1

Kind = Literal["accepted", "correction", "bonus", "plain"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next. ``noise`` is that of the coupled rule, None where none is added.

    ``score`` is what the coupled rule compares: log probability plus noise, or the log probability alone when greedy.
    """

    token: int
    text: str
    probability: float
    noise: float | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the draft, or the root: what may come behind it. ``node`` -1 is the root, the last token before.

    ``target`` and ``drafter`` are the best candidates of either, best first, and behind them those that were drafted
    or chosen here without being among the best. ``drafter`` is empty where nothing was drafted behind, and where the
    drafter has no probabilities because it looks tokens up.
    """

    node: int
    parent: int
    depth: int
    token: int
    text: str
    target: tuple[Candidate, ...]
    drafter: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One step of the walk through the draft, at the place ``node``.

    ``offered`` are the drafted nodes that were looked at there; ``hit`` the one that survived, None when none did.
    ``token`` is what came out. ``why`` says it in a sentence.
    """

    node: int
    offered: tuple[int, ...]
    hit: int | None
    token: int
    text: str
    kind: Kind
    why: Notice


@dataclass(frozen=True, slots=True)
class Explained:
    """Round ``round`` of reply ``turn``. ``walks`` hold the decisions under either rule; ``rule`` was in force.

    ``emitted`` are the texts of the tokens that were kept then. ``is_same`` says that the round gives the same tokens
    now as then; in fast mode a cache that was read anew may tip a near tie.
    """

    turn: int
    round: int
    rounds: int
    rule: str
    drafter: str
    mode: str
    k: int
    temperature: float
    position: int
    context: str
    places: tuple[Place, ...]
    walks: Mapping[str, tuple[Decision, ...]] = field(default_factory=dict)
    emitted: tuple[str, ...] = ()
    is_same: bool = True


@dataclass(frozen=True, slots=True)
class ExplainFailed:
    """A round could not be laid open; the notice says why."""

    turn: int
    round: int
    notice: Notice
