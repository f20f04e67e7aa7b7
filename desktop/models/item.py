"""One thing that is being fetched or imported: what it is, how far it is, and what may be done with it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inference.events import Notice


class State(Enum):
    """Where an item stands. Only RUNNING has a process."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(slots=True)
class Item:
    """``model`` is what it will be chosen by; ``source`` an owner/name[@revision], or a path for an import.

    ``done`` and ``size`` count bytes, ``speed`` bytes per second; ``notice`` is what is going on or went wrong.
    """

    source: str
    name: str
    kind: str = "download"
    file: str = ""
    state: State = State.WAITING
    size: int = 0
    done: int = 0
    speed: float = 0.0
    fraction: float | None = None
    notice: Notice | None = None
    model: str = ""
    tries: int = field(default=0, repr=False)
    key: str = field(default="", repr=False)
    """What tells items apart, and stays when a fetched GGUF file becomes an import."""

    def __post_init__(self) -> None:
        self.key = self.key or f"{self.source} {self.file}"

    @property
    def repository(self) -> str:
        """The repository alone."""
        return self.source.partition("@")[0]

    @property
    def seconds_left(self) -> float | None:
        """At the present speed; None while unknown."""
        return (self.size - self.done) / self.speed if self.speed > 1000 and self.size > self.done else None

    @property
    def arguments(self) -> list[str]:
        """The job that brings it."""
        if self.kind == "import":
            return ["convert", self.source]
        revision = self.source.partition("@")[2]
        return [
            "download", self.repository, *(["--revision", revision] if revision else []),
            *(["--file", self.file] if self.file else []),
        ]  # fmt: skip

    def take(self, notice: Notice, fraction: float | None) -> None:
        """The job tells how far it is."""
        self.notice, self.fraction = notice, fraction
        values = notice.values
        if notice.id == "download.progress":
            self.done = round(float(values["done_mb"]) * 1e6)
            self.size = round(float(values["total_mb"]) * 1e6)
            self.speed = float(values["speed_mb"]) * 1e6
        else:
            self.speed = 0.0

    def as_json(self) -> dict[str, Any]:
        """What is kept of it between starts."""
        return {"source": self.source, "name": self.name, "kind": self.kind, "file": self.file,
                "size": self.size, "done": self.done}  # fmt: skip


def from_json(value: object) -> Item | None:
    """An item as it was kept; it is paused, since nothing goes on by itself. None for what makes no sense."""
    if not isinstance(value, dict):
        return None
    try:
        item = Item(str(value["source"]), str(value["name"]), str(value["kind"]), str(value["file"]))
        item.size, item.done = int(value["size"]), int(value["done"])
    except (KeyError, TypeError, ValueError):
        return None
    item.state = State.PAUSED
    return item if item.kind in ("download", "import") else None
