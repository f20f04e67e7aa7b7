"""The list of models that suit this program, from resources/models.toml, and which of them suits a machine.

Reads one file; knows no network and nothing of what is installed.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

LIST = Path(__file__).resolve().parents[2] / "resources" / "models.toml"
FREE = ("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "cc0-1.0", "unlicense", "isc", "mpl-2.0")
"""Licences that allow any use, selling included."""
CPU_BYTES = 1_300_000_000
"""Without a GPU every word reads all weights from memory: at 35 GB/s, so many bytes give some 25 words a second."""


@dataclass(frozen=True, slots=True)
class Heads:
    """Public heads that draft for a model."""

    kind: str
    repository: str
    revision: str


@dataclass(frozen=True, slots=True)
class Tested:
    """One model of the list; see the head of the file for what its fields mean. ``size`` in bytes."""

    name: str
    repository: str
    revision: str
    licence: str
    gated: bool
    parameters: int
    size: int
    cards: tuple[int, ...]
    drafters: tuple[str, ...]
    draft_models: tuple[str, ...]
    heads: tuple[Heads, ...]
    config: dict[str, Any]

    @property
    def model(self) -> str:
        """What to choose it by (settings.ModelChoice.model)."""
        return self.repository if self.revision == "main" else f"{self.repository}@{self.revision}"


@cache
def models() -> tuple[Tested, ...]:
    """The list, smallest first."""
    with LIST.open("rb") as file:
        listed = tomllib.load(file)["model"]
    lists = ("cards", "drafters", "draft_models")
    return tuple(
        Tested(**{
            **one, **{name: tuple(one[name]) for name in lists}, "heads": tuple(Heads(**head) for head in one["heads"])
        })
        for one in listed
    )  # fmt: skip


def recommended(gpu_gb: float | None, ram_gb: float) -> Tested:
    """The largest that suits: on a GPU by its memory, else one whose words come fast enough; none that is gated."""
    free = [one for one in models() if not one.gated]
    if gpu_gb is not None:
        suiting = [one for one in free if any(card <= gpu_gb + 0.7 for card in one.cards)]
        if suiting:
            return suiting[-1]
    room = min(CPU_BYTES, ram_gb * 1e9 / 4)
    return [one for one in free if one.parameters * 2 <= room or one is free[0]][-1]


def as_json(one: Tested) -> dict[str, Any]:
    """An entry as jobs print it."""
    return {**asdict(one), "model": one.model, "free": one.licence in FREE, "tested": True}
