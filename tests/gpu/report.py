"""What a section of the check is given, and what it leaves: figures, lines for people, and what is wrong."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Report:
    """One run of the check. ``problems`` are what must not be; ``goals`` what was hoped for and whether it was met."""

    device: torch.device
    tiny: bool
    tokens: int
    until: float
    folder: str | None = None
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    goals: list[dict[str, Any]] = field(default_factory=list)

    @property
    def late(self) -> bool:
        """Whether the time is up: what is left is left out and said."""
        return time.perf_counter() > self.until

    def say(self, line: str) -> None:
        """A line of the table."""
        self.lines.append(line)

    def wrong(self, what: str) -> None:
        """Something that must not be."""
        self.problems.append(what)
        self.lines.append(f"PROBLEM: {what}")

    def goal(self, what: str, value: float, *, least: float | None = None, most: float | None = None) -> None:
        """A figure that was hoped for; missing it is no problem of the program's."""
        met = (least is None or value >= least) and (most is None or value <= most)
        bound = f"at least {least}" if least is not None else f"at most {most}"
        self.goals.append({"what": what, "value": value, "bound": bound, "met": met})
        self.lines.append(f"  goal {'met' if met else 'MISSED'}: {what} is {value:.3f}, {bound}")

    def synchronize(self) -> None:
        """Wait for the card."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def milliseconds(self, work: Callable[[], object], repeats: int = 15) -> float:
        """The median time of some work; on the card between two events, so that the host's part is seen too."""
        if not self.tiny:
            work()  # the first one makes ready
        found = []
        for _ in range(1 if self.tiny else repeats):
            self.synchronize()
            begun = time.perf_counter()
            work()
            self.synchronize()
            found.append((time.perf_counter() - begun) * 1e3)
        return statistics.median(found)

    def many(self, work: Callable[[], object], times: int = 20) -> float:
        """The time of one in a row of many, for work too short to be measured alone."""
        times = 1 if self.tiny else times
        return self.milliseconds(lambda: [work() for _ in range(times)], 7) / times


def first_line(error: BaseException) -> str:
    """What an error says, shortly."""
    return f"{type(error).__name__}: {error}".split("\n")[0][:300]
