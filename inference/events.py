"""What comes out of the engine: frozen events that hold no tensor, tokenizer or Qt object.

Sentences are notices (an id and values). Every event of a reply carries its turn, so a stale one can be dropped.
Knows nothing of torch or Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from inference.messages import Notice, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Bits",
    "DraftersChanged",
    "Event",
    "Failed",
    "Finished",
    "GivenUp",
    "LoadFailed",
    "LoadProgress",
    "Loaded",
    "Notice",
    "Origin",
    "Piece",
    "Prefill",
    "Problem",
    "Round",
    "Started",
    "Statistics",
    "TwinProgress",
]

Origin = Literal["plain", "accepted", "correction", "bonus"]
"""Where a token came from: a plain step (K = 0), a draft that survived, the target after a miss, after a full hit."""


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """Loading goes on. ``fraction`` 0..1 of this step, None while unknown."""

    notice: Notice
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model is ready. ``drafters`` can be used with it, ``refused`` cannot, for a reason each.

    ``drafter`` drafts where Speculation names none, unless ``no_drafter`` says why it cannot. ``largest_k`` is the
    longest draft in the mode in force. ``taken`` are the bytes of each part: target, twin, heads (a smaller model that
    drafts), cache, graphs. ``given_up`` is what had to go for want of memory. ``draft_model`` is the smaller model,
    empty for none. ``recipes`` says what the twin's recipe was measured to give, then what the others were.
    """

    model: str
    name: str
    parameters: int
    context: int
    device: str
    device_name: str
    dtype: str
    threads: int
    drafter: str
    drafters: tuple[str, ...]
    no_drafter: Notice | None
    mode: Literal["exact", "fast"]
    mode_notice: Notice
    width: int
    largest_k: int
    identity: str
    memory_bytes: int
    thinking: tuple[str, ...] = ()
    refused: Mapping[str, Notice] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)
    given_up: tuple[Notice, ...] = ()
    draft_model: str = ""
    recipes: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Memory ran out in a reply, which goes on: what had to go, and the model as it is now."""

    notice: Notice
    loaded: Loaded


@dataclass(frozen=True, slots=True)
class DraftersChanged:
    """Other drafters than before can be used with the loaded model, from the next round on; the rest as in Loaded."""

    drafters: tuple[str, ...]
    refused: Mapping[str, Notice] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)
    recipes: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class TwinProgress:
    """The twin of the loaded model is being made; ``fraction`` 0..1. DraftersChanged tells the end."""

    notice: Notice
    fraction: float


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """Loading ended without a model; the notice says why and what to do."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class Started:
    """A reply begins. ``reused`` of ``prompt_tokens`` were still in the cache.

    ``opens_thinking`` says that the prompt itself opened the thinking, so that only its closing tag will come.
    """

    turn: int
    prompt_tokens: int
    reused: int
    seed: int
    notes: tuple[Notice, ...] = ()
    opens_thinking: bool = False


@dataclass(frozen=True, slots=True)
class Prefill:
    """The prompt is being read: ``done`` of ``total`` tokens."""

    turn: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that is safe to show, with the origin and the round (index from 0) of the token that carried it."""

    text: str
    origin: Origin
    round: int


@dataclass(frozen=True, slots=True)
class Round:
    """One round: propose, verify, commit.

    ``pieces`` is the text that became safe to show in this round; some of it may stem from tokens of earlier rounds.
    ``origins`` has one entry per emitted token. ``k`` was planned, ``drafted`` proposed, ``tested`` reached by
    verification, ``accepted`` survived. ``tokens_per_second`` covers the last rounds; ``plain_tokens_per_second`` is
    estimated from the plain step in fast mode at this context length. ``status`` says what speculation does and why.
    ``drafter`` is what drafted, none for a plain step.
    """

    turn: int
    index: int
    pieces: tuple[Piece, ...]
    origins: tuple[Origin, ...]
    drafted: int
    tested: int
    accepted: int
    k: int
    draft_ms: float
    verify_ms: float
    tokens: int
    acceptance: float | None
    tokens_per_round: float
    tokens_per_second: float
    plain_tokens_per_second: float
    status: Notice
    drafter: str = "none"


@dataclass(frozen=True, slots=True)
class Bits:
    """Of the twin: bits that its levels carry, bits a weight takes packed with scales, bits it takes in memory here."""

    levels: float
    packed: float
    resident: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of one reply. Times in seconds or milliseconds as named; ``tokens_per_second`` is decode only.

    ``acceptance`` is accepted / tested, None when nothing was tested. ``accepted_by_depth[j]`` and
    ``tested_by_depth[j]`` count drafted tokens j + 1 deep. ``k_histogram[k]`` counts rounds planned at k.
    ``draft_ms`` and ``verify_ms`` are means per round. ``plain_tokens_per_second`` is the estimate without
    speculation, in fast mode. ``drafter`` was set at the end; ``rounds_by_drafter`` counts who drafted
    (none for plain steps), ``tokens_per_second_by_drafter`` is what it gave; ``why`` is the status of the last round.
    ``memory`` are the bytes of each part of the model, as in Loaded.
    """

    tokens: int
    seconds: float
    ttft: float
    tokens_per_second: float
    plain_tokens_per_second: float
    rounds: int
    drafted: int
    tested: int
    accepted: int
    acceptance: float | None
    tokens_per_round: float
    accepted_by_depth: tuple[int, ...]
    tested_by_depth: tuple[int, ...]
    k_histogram: tuple[int, ...]
    draft_ms: float
    verify_ms: float
    prompt_tokens: int
    reused: int
    prefill_seconds: float
    seed: int
    rule: str
    k: str
    mode: str
    width: int
    drafter: str
    model: str
    bits: Bits | None
    device: str
    dtype: str
    threads: int
    identity: str
    versions: dict[str, str] = field(default_factory=dict)
    rounds_by_drafter: dict[str, int] = field(default_factory=dict)
    tokens_per_second_by_drafter: dict[str, float] = field(default_factory=dict)
    why: Notice | None = None
    memory: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """A reply ended, however it ended. ``pieces`` is the rest of the text that was held back.

    ``reason`` is one of the ``finish.`` notices; ``token_ids`` includes the end token when there was one.
    """

    turn: int
    text: str
    token_ids: tuple[int, ...]
    pieces: tuple[Piece, ...]
    reason: Notice
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Failed:
    """A reply could not be written or went wrong; what was shown before stays. The chat can go on."""

    turn: int
    notice: Notice


Event = (
    LoadProgress
    | Loaded
    | LoadFailed
    | GivenUp
    | DraftersChanged
    | TwinProgress
    | Started
    | Prefill
    | Round
    | Finished
    | Failed
)
