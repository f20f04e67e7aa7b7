"""Hybrid: one source a round, the look-up where its match promises more tokens per second, else the model that drafts.

Is given its parts and what each promises; knows nothing of how they draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.option import Option


def quickest(options: Sequence[Option]) -> Option:
    """The option of the highest speed, the first among equals; a try goes before all that promise more."""
    return next((option for option in options if option.is_try), max(options, key=lambda option: option.speed))
