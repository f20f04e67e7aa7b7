"""Files with what the history could not take when the program ended: what they are called, and which are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "borrador-unsaved-"


def left_over(places: Iterable[Path]) -> list[Path]:
    """Such files, the oldest of each place first."""
    return [path for place in places for path in sorted(place.glob(f"{NAME}*.json"))]
