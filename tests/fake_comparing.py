"""What a scripted session needs so that comparisons run on it and rounds can be laid open: no model, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inference.bench.running import compare
from inference.explained import ROOT, Candidate, Decision, Explained, ExplainFailed, Place
from inference.messages import Notice, Problem

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from inference.bench.comparison import CompareEvent, Plan, Side
    from inference.events import Loaded
    from inference.explained import Kind

MACHINE = {
    "model": {"choice": "starter", "name": "SmolLM2 135M", "sha256": "00" * 32, "dtype": "bfloat16"},
    "device": "cpu", "device_name": "A processor", "driver": None, "threads": 2, "system": "Test",
    "versions": {"borrador": "0.1.0", "torch": "2.13.0"},
}  # fmt: skip


class FakeComparing:
    """Mixed into FakeSession; ``heard`` notes modes and emptied caches in order."""

    script: Any
    heard: list[str]
    in_mode: str | None = None

    @property
    def mode(self) -> str | None:
        return self.in_mode or self.script.loaded.mode

    def forget(self) -> None:
        self.heard.append("forget")

    def switch(self, mode: str) -> Loaded:
        if mode not in self.script.modes:
            raise Problem("error.setting", field="mode", value=mode, allowed=" or ".join(self.script.modes))
        self.in_mode = mode
        self.heard.append(mode)
        loaded: Loaded = replace(self.script.loaded, mode=mode)
        return loaded

    def require_drafter(self, name: str) -> None:
        if name not in self.script.loaded.drafters:
            raise Problem("error.drafter_unavailable", drafter=name, model="SmolLM2 135M", reason="drafter.not_made")

    def use_recipe(self, recipe: str | None, cancel: threading.Event) -> Iterator[object]:
        self.heard.append(f"recipe {recipe}")
        yield from ()

    def drop_recipes(self) -> None:
        self.heard.append("drop")

    def sides(self, mine: int, theirs: int, position: int) -> tuple[Side, Side, float]:
        if self.script.sides is None:
            raise Problem("explain.gone")
        found: tuple[Side, Side, float] = self.script.sides
        return found

    def describe(self, cancel: threading.Event) -> dict[str, Any]:
        return dict(MACHINE)

    def compare(self, plan: Plan, cancel: threading.Event) -> Iterator[CompareEvent]:
        yield from compare(self, plan, cancel)  # type: ignore[arg-type]

    def explain(self, turn: int, round: int) -> Iterator[Explained | ExplainFailed]:
        if self.script.explained is None:
            yield ExplainFailed(turn, round, Notice("explain.gone"))
        else:
            yield replace(self.script.explained, turn=turn, round=round)


def token_of(text: str) -> int:
    """What stands for a token's id here."""
    return sum(text.encode())


def candidates(*pairs: tuple[str, float], noise: bool = False) -> tuple[Candidate, ...]:
    """Candidates by text and probability."""
    return tuple(
        Candidate(token_of(text), text, chance, 0.25 * at if noise else None, chance + 0.25 * at if noise else None)
        for at, (text, chance) in enumerate(pairs)
    )


def _why(id: str, **values: str | float) -> Notice:
    return Notice(f"explain.{id}", values)


def _step(node: int, offered: int, hit: int | None, text: str, kind: Kind, why: Notice) -> Decision:
    return Decision(node, (offered,), hit, token_of(text), text, kind, why)


_TARGET = (
    candidates((" sea", 0.62), (" ocean", 0.2), (" deep", 0.06), noise=True),
    candidates((",", 0.7), (" are", 0.2), noise=True),
    candidates((" a", 0.4), (" in", 0.35), noise=True),
    candidates((" calm", 0.4), noise=True),
)
_DRAFTER = (
    candidates((" sea", 0.5), (" shore", 0.3), noise=True),
    candidates((",", 0.9), noise=True),
    candidates((" so", 0.8), noise=True),
    (),
)
_HIT = _why("coin_hit", token=" sea", target=62.0, drafter=50.0, chance=100.0, coin=41.0)
_MISS = _why("coin_miss", token=",", target=70.0, drafter=90.0, chance=77.8, coin=93.0, own=" are")

EXPLAINED = Explained(
    turn=1, round=1, rounds=9, rule="coupled", drafter="twin", mode="exact", k=3, temperature=0.7, position=12,
    context="The waves of the", emitted=(" sea", ",", " a"), is_same=True,
    places=tuple(
        Place(at - 1, at - 2 if at else ROOT, at, token_of(text), text, _TARGET[at], _DRAFTER[at])
        for at, text in enumerate((" the", " sea", ",", " so"))
    ),
    walks={
        "coupled": (
            _step(ROOT, 0, 0, " sea", "accepted", _why("noise_hit", token=" sea", percent=62.0)),
            _step(0, 1, 1, ",", "accepted", _why("noise_hit", token=",", percent=70.0)),
            _step(1, 2, None, " a", "correction", _why("noise_miss", token=" a", drafted=" so", percent=40.0)),
        ),
        "textbook": (
            _step(ROOT, 0, 0, " sea", "accepted", _HIT),
            _step(0, 1, None, " are", "correction", _MISS),
        ),
    },
)  # fmt: skip
"""A round of three drafted tokens: two survive under the coupled rule, one under the textbook's."""
