"""A session of scripted events for tests of the window: no model, no clock, the same events every time.

A test may hold it at any round with `permits` and look at the controls it was given.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.events import (
    Bits,
    Event,
    Failed,
    Finished,
    Loaded,
    LoadFailed,
    LoadProgress,
    Notice,
    Piece,
    Prefill,
    Round,
    Started,
    Statistics,
)
from tests.fake_comparing import FakeComparing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from inference.bench.comparison import Side
    from inference.events import Origin
    from inference.explained import Explained
    from inference.settings import Control, ModelChoice, Request

POEM = (
    "The waves of the sea, a mystic realm,\nRoll in and out without a helm.\n\n"
    "They carry **salt** and *silver light*, and sing `softly` through the night.\n"
)
ACCEPTED = (3, 1, 8, 0, 2)
"""How many drafted tokens survive, round after round; never more than were drafted."""
DRAFT_MS, VERIFY_MS, PLAIN_RATE = 7.0, 17.0, 41.0

LOADED = Loaded(
    model="starter", name="SmolLM2 135M", parameters=134_515_008, context=8192, device="cpu", device_name="CPU",
    dtype="bfloat16", threads=2, drafter="twin", drafters=("none", "twin"), no_drafter=None, mode="exact",
    mode_notice=Notice("exact.on"), width=2, largest_k=8, identity="fake", memory_bytes=700_000_000,
    taken={"target": 330_000_000, "twin": 90_000_000, "cache": 190_000_000},
)  # fmt: skip


@dataclass
class Script:
    """What the session will do. ``replies`` are used in turn, the last one again and again."""

    replies: tuple[str, ...] = (POEM,)
    loaded: Loaded = LOADED
    load_failures: tuple[Notice, ...] = ()
    prefill_steps: int = 2
    fail_after_rounds: int | None = None
    failure: Notice = field(default_factory=lambda: Notice("error.out_of_memory"))
    ends_held_back: str = ""
    load_permits: threading.Semaphore | None = None
    prefill_permits: threading.Semaphore | None = None
    permits: threading.Semaphore | None = None
    modes: tuple[str, ...] = ("exact", "fast")
    sides: tuple[Side, Side, float] | None = None
    explained: Explained | None = None
    twin_steps: tuple[Event, ...] = ()
    twin_permits: threading.Semaphore | None = None


class FakeSession(FakeComparing):
    """The interface of inference.session.Session, played from a script."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.requests: list[Request] = []
        self.choices: list[ModelChoice] = []
        self.threads: set[int] = set()
        self.is_closed = False
        self.heard = []

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        """Progress in three steps, then the scripted outcome."""
        self.threads.add(threading.get_ident())
        self.choices.append(choice)
        failures = self.script.load_failures
        for notice, fraction in (
            (Notice("load.libraries"), None),
            (Notice("load.reading", {"model": choice.model}), 0.25),
            (Notice("load.twin", {"done": 19, "total": 31, "left": 3.0}), 0.6),
        ):
            yield LoadProgress(notice, fraction)
            if not _permitted(self.script.load_permits, cancel):
                return
        if len(self.choices) <= len(failures):
            yield LoadFailed(failures[len(self.choices) - 1])
        else:
            yield self.script.loaded

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        """The scripted text in rounds whose length follows ``control.speculation``."""
        self.threads.add(threading.get_ident())
        self.requests.append(request)
        turn = request.turn
        tokens = tokens_of(self.script.replies[min(len(self.requests), len(self.script.replies)) - 1])
        yield Started(turn, prompt_tokens=64, reused=0, seed=request.sampling.seed or 7)
        for step in range(1, self.script.prefill_steps + 1):
            if not _permitted(self.script.prefill_permits, control.cancel):
                break
            yield Prefill(turn, 32 * step, 32 * self.script.prefill_steps)
        rounds: list[Round] = []
        done = 0
        while done < len(tokens) and _permitted(self.script.permits, control.cancel):
            if len(rounds) == self.script.fail_after_rounds:
                yield Failed(turn, self.script.failure)
                return
            rounds.append(next_round(turn, rounds, tokens[done : done + 16], control))
            done += len(rounds[-1].origins)
            yield rounds[-1]
        tail = "" if control.cancel.is_set() else self.script.ends_held_back
        reason = Notice("finish.cancelled" if control.cancel.is_set() else "finish.end")
        yield Finished(
            turn=turn,
            text="".join(tokens[:done]) + tail,
            token_ids=tuple(range(done)),
            pieces=(Piece(tail, "plain", len(rounds)),) if tail else (),
            reason=reason,
            statistics=statistics_of(rounds),
        )

    @property
    def wants_twin(self) -> bool:
        """Whether there are events of its making."""
        return bool(self.script.twin_steps)

    def make_twin(self, cancel: threading.Event) -> Generator[Event, None, None]:
        """The scripted events."""
        self.threads.add(threading.get_ident())
        for event in self.script.twin_steps:
            if not _permitted(self.script.twin_permits, cancel):
                return
            yield event

    def count(self, text: str) -> int:
        """A token for each word."""
        return len(text.split())

    def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


def tokens_of(text: str) -> list[str]:
    """The text cut into what stands for tokens here: a word with the space before it."""
    return re.findall(r"\s*\S+|\s+$", text)


def next_round(turn: int, before: list[Round], tokens: list[str], control: Control) -> Round:
    """One round over the coming ``tokens``, as long as the control asks for."""
    spec = control.speculation
    planned = 0 if not spec.on else 3 if spec.k is None else spec.k
    drafted = min(planned, len(tokens))
    accepted = min(ACCEPTED[len(before) % len(ACCEPTED)], drafted)
    last: Origin = "plain" if not drafted else "bonus" if accepted == drafted else "correction"
    kept: list[Origin] = ["accepted"] * accepted
    origins = tuple([*kept, last][: len(tokens)])
    tested = min(drafted, accepted + 1)
    index = len(before)
    recent = before[-8:]
    all_tested = tested + sum(r.tested for r in recent)
    count = len(origins) + (before[-1].tokens if before else 0)
    return Round(
        turn=turn,
        index=index,
        pieces=tuple(Piece(text, origin, index) for text, origin in zip(tokens, origins, strict=False)),
        origins=origins,
        drafted=drafted,
        tested=tested,
        accepted=accepted,
        k=planned,
        draft_ms=DRAFT_MS * drafted,
        verify_ms=VERIFY_MS,
        tokens=count,
        acceptance=(accepted + sum(r.accepted for r in recent)) / all_tested if all_tested else None,
        tokens_per_round=count / (index + 1),
        tokens_per_second=58.0 if planned else PLAIN_RATE,
        plain_tokens_per_second=PLAIN_RATE,
        status=Notice("speculation.on", {"k": planned, "speedup": 58.0 / PLAIN_RATE})
        if planned
        else Notice("speculation.zero" if spec.on else "speculation.off"),
    )


def statistics_of(rounds: list[Round]) -> Statistics:
    """The figures that belong to these rounds."""
    tested, accepted = sum(r.tested for r in rounds), sum(r.accepted for r in rounds)
    tokens = sum(len(r.origins) for r in rounds)
    histogram = [0] * 9
    for r in rounds:
        histogram[min(r.k, 8)] += 1
    return Statistics(
        tokens=tokens, seconds=tokens / 58, ttft=0.2, tokens_per_second=58.0, plain_tokens_per_second=PLAIN_RATE,
        rounds=len(rounds), drafted=sum(r.drafted for r in rounds), tested=tested, accepted=accepted,
        acceptance=accepted / tested if tested else None, tokens_per_round=tokens / max(1, len(rounds)),
        accepted_by_depth=(), tested_by_depth=(), k_histogram=tuple(histogram), draft_ms=21.0, verify_ms=VERIFY_MS,
        prompt_tokens=64, reused=0, prefill_seconds=0.15, seed=7, rule="coupled", k="auto", mode="exact", width=2,
        drafter="twin", model="starter", bits=Bits(3.0, 4.0, 5.0), device="cpu", dtype="bfloat16", threads=2,
        identity="fake",
    )  # fmt: skip


def _permitted(permits: threading.Semaphore | None, cancel: threading.Event) -> bool:
    """Whether to go on; waits for a permit where the script holds the session, and answers a cancel meanwhile."""
    while not cancel.is_set():
        if permits is None or permits.acquire(timeout=0.01):
            return not cancel.is_set()
    return False
