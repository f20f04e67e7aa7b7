"""Runs prompts through contenders in turns, A B A B, so that a busy moment of the machine hits all alike.

A contender is this program in one setting, or a peer. Keeps what every reply gave; knows nothing of figures made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from inference.settings import Control, Message, Request, Sampling, Speculation
from inference.terminal import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from inference.bench.prompts import Prompt
    from inference.events import Finished
    from inference.session import Session

ModeName = Literal["exact", "fast"]

WARM_UP_TOKENS = 12

DEFAULT_SEED = 1
"""The seed of the first prompt when none is given; a benchmark is the same from run to run."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The program in one mode: speculation off (``drafter`` none), or a drafter at one K."""

    name: str
    mode: ModeName
    drafter: str
    speculation: Speculation


@dataclass(frozen=True, slots=True)
class Reply:
    """What one reply gave. Seconds of decoding are by the clock: from the end of the prefill to the last token.

    Names are those of ``events.Statistics``; ``draft_ms`` and ``verify_ms`` are totals. A peer has no rounds.
    """

    text: str
    token_ids: tuple[int, ...]
    finish: str
    decode_seconds: float
    ttft: float
    prompt_tokens: int
    seed: int
    timed_tokens: int
    rounds: int = 0
    drafted: int = 0
    accepted_by_depth: tuple[int, ...] = ()
    tested_by_depth: tuple[int, ...] = ()
    k_histogram: tuple[int, ...] = ()
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A reply with its place: ``prompt`` counts from 0, ``turn`` and ``repeat`` too."""

    contender: str
    prompt: int
    group: str
    turn: int
    repeat: int
    reply: Reply


class Contender(Protocol):
    """Answers the turns of a prompt, one after the other, beginning with an empty cache."""

    name: str

    def answer(self, prompt: Prompt, how: Sampling, max_new_tokens: int) -> Iterator[Reply]:
        """One reply a turn."""
        ...


class Ours:
    """A loaded session in one setting."""

    def __init__(self, session: Session, setting: Setting) -> None:
        self.name = setting.name
        self._session = session
        self._setting = setting

    def answer(self, prompt: Prompt, how: Sampling, max_new_tokens: int) -> Iterator[Reply]:
        """One reply a turn; a later turn continues the chat. Raises Problem."""
        self._session.switch(self._setting.mode)
        self._session.forget()
        chat: list[Message] = []
        for turn, question in enumerate(prompt.turns):
            chat.append(Message("user", question))
            request = Request(turn, tuple(chat), how, max_new_tokens)
            finished = write(self._session, request, Control(self._setting.speculation), show=False)
            yield as_reply(finished)
            chat.append(Message("assistant", finished.text, finished.token_ids))


def as_reply(finished: Finished) -> Reply:
    """A reply of ours with the figures that are kept."""
    figures = finished.statistics
    return Reply(
        text=finished.text,
        token_ids=finished.token_ids,
        finish=finished.reason.id.removeprefix("finish."),
        decode_seconds=figures.seconds - figures.prefill_seconds,
        ttft=figures.ttft,
        prompt_tokens=figures.prompt_tokens,
        seed=figures.seed,
        timed_tokens=figures.tokens,
        rounds=figures.rounds,
        drafted=figures.drafted,
        accepted_by_depth=figures.accepted_by_depth,
        tested_by_depth=figures.tested_by_depth,
        k_histogram=figures.k_histogram,
        draft_ms=figures.draft_ms * figures.rounds,
        verify_ms=figures.verify_ms * figures.rounds,
        identity=figures.identity,
    )


def measure(
    contenders: Sequence[Contender],
    prompts: Sequence[Prompt],
    how: Sampling,
    max_new_tokens: int,
    repeats: int,
    heard: Callable[[int, int], None],
) -> Iterator[Run]:
    """Every contender on every prompt, ``repeats`` times over, after a warm-up that is not counted.

    Prompt n is written with seed + n, by all contenders and in all repeats. ``heard(done, total)`` counts prompts.
    Raises Problem.
    """
    seed = DEFAULT_SEED if how.seed is None else how.seed
    for contender in contenders:
        for _ in contender.answer(prompts[0], replace(how, seed=seed), min(WARM_UP_TOKENS, max_new_tokens)):
            break
    total = repeats * len(prompts)
    for repeat in range(repeats):
        for index, prompt in enumerate(prompts):
            heard(repeat * len(prompts) + index, total)
            for contender in contenders:
                replies = contender.answer(prompt, replace(how, seed=seed + index), max_new_tokens)
                for turn, reply in enumerate(replies):
                    yield Run(contender.name, index, prompt.group, turn, repeat, reply)
    heard(total, total)
