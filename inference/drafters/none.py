"""The drafter that proposes nothing: plain decoding through the same loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.drafters.base import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.sampling import Sampler


class NoDrafter:
    """Every draft is empty."""

    name = "none"

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """An empty draft."""
        return Draft()
