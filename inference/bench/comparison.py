"""A comparison: what is to be run side by side, and what is heard of it, as values that cross every border.

Settings, runs, differences and events only; knows nothing of how they are run, counted or drawn. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from inference.messages import Problem
from inference.settings import Message, Sampling, Speculation

if TYPE_CHECKING:
    from inference.bench.prompts import Prompt
    from inference.events import Notice

ModeName = Literal["exact", "fast"]

FEWEST, MOST = 2, 4
"""How many settings a comparison can have."""
MOST_REPEATS = 50


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to write the same prompts. ``on`` False is plain decoding, whatever the rest says.

    ``k`` None is automatic; ``recipe`` names the twin's, None the one that is loaded.
    """

    mode: ModeName = "fast"
    on: bool = False
    drafter: str = "twin"
    k: int | None = None
    rule: str = "coupled"
    recipe: str | None = None

    @property
    def name(self) -> str:
        """What it is called in records and tables."""
        if not self.on:
            return f"off {self.mode}"
        drafter = self.drafter if self.recipe is None else f"{self.drafter} {self.recipe}"
        rule = "" if self.rule == "coupled" else f" {self.rule}"
        return f"{drafter} K {'auto' if self.k is None else self.k}{rule} {self.mode}"

    @property
    def speculation(self) -> Speculation:
        """The same as a reply is asked for."""
        return Speculation(on=self.on, k=self.k, rule=self.rule, drafter=self.drafter)

    @property
    def is_bound(self) -> bool:
        """Whether its text is promised to be that of plain decoding of the same mode, token for token."""
        return not self.on or self.rule == "coupled"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a comparison runs. Raises Problem when it makes no sense.

    Prompt n is written with seed + n by every setting in every repeat; ``sampling.seed`` None is seed 1. ``before`` is
    what stands in the chat before each prompt; it is read, not written.
    """

    settings: tuple[Setting, ...]
    prompts: tuple[Prompt, ...]
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0))
    max_new_tokens: int = 128
    repeats: int = 3
    before: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        if not FEWEST <= len(self.settings) <= MOST:
            raise Problem("compare.settings", fewest=FEWEST, most=MOST)
        names = [setting.name for setting in self.settings]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Problem("compare.twice", setting=twice)
        if not any(turn.strip() for prompt in self.prompts for turn in prompt.turns):
            raise Problem("error.empty_prompt")
        for name, value, most in (
            ("repeats", self.repeats, MOST_REPEATS),
            ("max_new_tokens", self.max_new_tokens, 2**24),
        ):
            if not 1 <= value <= most:
                raise Problem("error.setting", field=name, value=value, allowed=f"a whole number from 1 to {most}")

    @property
    def runs(self) -> int:
        """How many runs are counted, later turns of a prompt not included."""
        return self.repeats * len(self.prompts) * len(self.settings)

    def reference(self, setting: int) -> int | None:
        """The setting whose text this one's is held to: plain decoding of its mode, else the first; None for itself."""
        mine = self.settings[setting]
        plain = next((at for at, one in enumerate(self.settings) if not one.on and one.mode == mine.mode), 0)
        return None if plain == setting else plain

    @property
    def baselines(self) -> tuple[int, ...]:
        """The settings that speed-ups are given against: those without drafts, fast ones first; else the first."""
        plain = [at for at, one in enumerate(self.settings) if not one.on]
        return tuple(sorted(plain, key=lambda at: self.settings[at].mode != "fast")) or (0,)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round of a run. ``at`` counts seconds from the asking; ``tokens`` were emitted."""

    k: int
    drafted: int
    tested: int
    accepted: int
    tokens: int
    at: float
    draft_ms: float
    verify_ms: float


@dataclass(frozen=True, slots=True)
class Run:
    """One reply. ``setting``, ``prompt``, ``repeat`` and ``step`` (its turn of the prompt) count from 0.

    ``turn`` is the number by which the session knows the reply. ``decode_seconds`` runs from the end of the prefill to
    the last token; ``draft_ms`` and ``verify_ms`` are totals; ``energy`` is in joules, None where nothing measures it.
    """

    setting: int
    prompt: int
    repeat: int
    step: int
    turn: int
    text: str
    token_ids: tuple[int, ...]
    finish: str
    seed: int
    prompt_tokens: int
    seconds: float
    ttft: float
    decode_seconds: float
    draft_ms: float
    verify_ms: float
    accepted_by_depth: tuple[int, ...]
    tested_by_depth: tuple[int, ...]
    k_histogram: tuple[int, ...]
    identity: str
    rounds: tuple[RoundRecord, ...] = ()
    memory: int | None = None
    energy: float | None = None

    @property
    def rate(self) -> float:
        """Tokens a second of decoding; 0 without a timed token."""
        return len(self.token_ids) / self.decode_seconds if self.decode_seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Side:
    """What one setting wrote at a difference: the token, and the target's logit and noise of both candidates there.

    ``score`` is what decided: the warped logit plus noise, or the logit itself at temperature 0. Token None is the end.
    """

    token: int | None
    text: str
    logits: tuple[float, float] | None = None
    scores: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a setting's text first parts from its reference's: ``position`` counts the reply's tokens from 0.

    In the pairs of a side the setting's own candidate comes first, the reference's second.
    """

    setting: int
    reference: int
    prompt: int
    repeat: int
    step: int
    position: int
    mine: Side
    theirs: Side
    tie: float = 0.0

    @property
    def gap(self) -> float | None:
        """By how much the target preferred the reference's token as the reference saw it: the logit gap."""
        return None if self.theirs.logits is None else self.theirs.logits[1] - self.theirs.logits[0]

    @property
    def own_gap(self) -> float | None:
        """The same gap as the setting's own pass saw it; above 0, the setting wrote what its target did not prefer."""
        return None if self.mine.logits is None else self.mine.logits[1] - self.mine.logits[0]

    @property
    def is_near_tie(self) -> bool | None:
        """Whether rounding alone explains it: the deciding scores lie within ``tie`` in both passes."""
        if self.mine.scores is None or self.theirs.scores is None:
            return None
        return all(abs(side[0] - side[1]) <= self.tie for side in (self.mine.scores, self.theirs.scores))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that came of a plan. ``machine`` is plain JSON: model, hash, device, driver, versions.

    ``is_whole`` is False when it was stopped or failed; what was measured before that is here.
    """

    plan: Plan
    machine: dict[str, Any]
    runs: tuple[Run, ...]
    differences: tuple[Difference, ...]
    is_whole: bool = True
    created: float = 0.0


# What is heard while it runs


@dataclass(frozen=True, slots=True)
class ComparePhase:
    """What is done between the runs: hashing the model, warming up, looking into a difference."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class RunBegan:
    """A run begins: the ``number``-th of ``total`` from 1 on."""

    number: int
    total: int
    setting: int
    prompt: int
    repeat: int
    step: int
    turn: int


@dataclass(frozen=True, slots=True)
class RunGrew:
    """A round of the run at hand: its text, and when it came."""

    setting: int
    text: str
    round: RoundRecord


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run is over and counted. At a border the session may write other replies: it is in the mode it was in."""

    run: Run
    is_border: bool = True


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison is over; ``failure`` says why, when it ended before its time."""

    comparison: Comparison
    failure: Notice | None = None


CompareEvent = ComparePhase | RunBegan | RunGrew | RunEnded | Compared
