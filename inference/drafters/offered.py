"""The drafters that a loaded model can have, and why it cannot have the others.

All stay loaded, so a switch takes effect at the next round; one that is made later is added to those that are there.
Knows nothing of how they draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.messages import Notice
from inference.settings import DRAFTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.drafters.base import Drafter
    from inference.events import Bits


JOINED = ("hybrid", "auto")
"""Drafters that choose among others."""
LOOK_UPS = ("ngram",)
"""Drafters that cost nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """``step_ms`` is what one drafted token costs, measured when the drafter was made; 0 for a look-up.

    ``bits`` are those of a low-bit copy, None for other drafters.
    """

    drafter: Drafter
    step_ms: float = 0.0
    bits: Bits | None = None


class Offered:
    """By name. What is neither offered nor refused with a reason of its own was not asked for."""

    def __init__(self) -> None:
        self._offers: dict[str, Offer] = {}
        self._refused: dict[str, Notice] = {"none": Notice("drafter.none")}

    def add(self, offer: Offer) -> None:
        """From the next round on this drafter can be used."""
        self._offers[offer.drafter.name] = offer
        self._refused.pop(offer.drafter.name, None)

    def refuse(self, name: str, reason: Notice) -> None:
        """Say that a drafter cannot be used, or no longer. The reason's template takes no values."""
        self._offers.pop(name, None)
        self._refused[name] = reason

    def find(self, name: str) -> Offer | None:
        """The drafter of this name, None where there is none."""
        return self._offers.get(name)

    def parts(self, name: str) -> tuple[str, ...]:
        """The drafters that this one is made of: itself, or for hybrid and auto all that there are.

        Look-ups come first: among equals what costs nothing wins. Empty for what cannot be used.
        """
        if name not in JOINED:
            return (name,) if name in self._offers else ()
        parts = tuple(sorted(self._offers, key=lambda part: part not in LOOK_UPS))
        if name == "hybrid" and not (parts[:1] and parts[0] in LOOK_UPS and parts[-1] not in LOOK_UPS):
            return ()
        return parts

    def can(self, name: str) -> bool:
        """Whether this drafter can be used."""
        return bool(self.parts(name))

    def reason(self, name: str) -> Notice:
        """Why a drafter is not offered."""
        if name in JOINED and name not in self._refused:
            return Notice("drafter.no_partner" if name == "hybrid" else "drafter.nothing")
        return self._refused.get(name, Notice("drafter.not_made"))

    @property
    def names(self) -> tuple[str, ...]:
        """Those that can be used, in the order in which they are shown; speculation can always be off."""
        return tuple(name for name in DRAFTERS if name == "none" or self.can(name))

    @property
    def refused(self) -> Mapping[str, Notice]:
        """Why each of the others cannot be used."""
        return {name: self.reason(name) for name in DRAFTERS if name not in self.names}
