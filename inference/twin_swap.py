"""Twins of several recipes for one loaded model, for as long as they are compared; then the loaded one drafts again.

What is kept on disk is loaded; what is not is made in the quick way, and kept. Knows nothing of comparisons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.messages import Problem

if TYPE_CHECKING:
    import threading
    from collections.abc import Generator

    from inference.drafters.offered import Offer
    from inference.events import TwinProgress
    from inference.ready import Ready


class TwinSwap:
    """Of one loaded model. Recipe None is the twin that was loaded, if any."""

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._twins: dict[str | None, Offer] = {}
        loaded = ready.offered.find("twin")
        if loaded is not None:
            self._twins[None] = loaded

    def use(self, recipe: str | None, cancel: threading.Event) -> Generator[TwinProgress, None, None]:
        """Let the twin of this recipe draft from the next reply on. Raises Problem when it cannot be had."""
        if recipe is not None and recipe not in self._twins:
            maker = self._ready.maker
            if maker is None:
                reason = self._ready.offered.reason("twin").id
                raise Problem("error.drafter_unavailable", drafter="twin", model=self._ready.loaded.name, reason=reason)
            mine = maker.of(recipe)
            offer = mine.load()
            if offer is None:
                offer = yield from mine.make(quick=True, is_cancelled=cancel.is_set)
            self._twins[recipe] = offer
        offer = self._twins.get(recipe)
        if offer is not None:
            self._ready.offered.add(offer)

    def end(self) -> None:
        """Let the loaded twin draft again, and the others go."""
        offer = self._twins.get(None)
        if offer is not None:
            self._ready.offered.add(offer)
        self._twins.clear()
