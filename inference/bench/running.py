"""Runs a comparison on a session, as a generator of events: settings in turns, each from an empty cache.

Between two events the caller may let other work pass. What was measured before a stop or a failure is kept. Knows
nothing of threads or windows.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from inference.bench.comparison import (
    Compared,
    CompareEvent,
    ComparePhase,
    Comparison,
    Difference,
    Plan,
    RoundRecord,
    Run,
    RunBegan,
    RunEnded,
    RunGrew,
    Setting,
    Side,
)
from inference.bench.figures import firsts
from inference.bench.meter import Meter
from inference.bench.report import first_difference
from inference.bench.suite import DEFAULT_SEED, WARM_UP_TOKENS
from inference.events import Failed, Finished, Round
from inference.messages import Notice, Problem
from inference.settings import Control, Message, Request

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator

    from inference.events import Event, Loaded


WITH_TWIN = ("twin", "hybrid", "auto")
"""Drafters for which the twin's recipe matters."""


class Writer(Protocol):
    """What is needed of a session."""

    def forget(self) -> None:
        """Empty cache and n-gram state."""

    def switch(self, mode: Any) -> Loaded:
        """Write in this mode from now on. Raises Problem."""

    def require_drafter(self, name: str) -> None:
        """Raises Problem when this drafter cannot be had."""

    def use_recipe(self, recipe: str | None, cancel: threading.Event) -> Iterable[object]:
        """Let the twin of this recipe draft, the loaded one for None; an event at each step. Raises Problem."""

    def drop_recipes(self) -> None:
        """Let the loaded twin draft again."""

    def reply(self, request: Request, control: Control) -> Iterable[Event]:
        """One reply."""

    def sides(self, mine: int, theirs: int, position: int) -> tuple[Side, Side, float]:
        """What the target saw where two replies part, and how far scores of a tie may lie apart. Raises Problem."""

    def describe(self, cancel: threading.Event) -> dict[str, Any]:
        """Model and machine, for the record. Raises Problem."""

    @property
    def mode(self) -> str | None:
        """The mode in force; None without a model."""


def compare(session: Writer, plan: Plan, cancel: threading.Event) -> Iterator[CompareEvent]:
    """Run a plan; ends with Compared. The session is then in the mode it was in, with an empty cache."""
    before = session.mode
    work = _Work(session, plan, cancel, before)
    failure: Notice | None = None
    try:
        yield from work.run()
    except Problem as problem:
        failure = problem.notice
    finally:
        session.drop_recipes()
        if before is not None and session.mode not in (None, before):
            session.switch(before)
        session.forget()
    whole = failure is None and not cancel.is_set()
    found = Comparison(plan, work.machine, tuple(work.runs), tuple(work.differences), whole, time.time())
    yield Compared(found, failure)


class _Work:
    """A plan being run."""

    def __init__(self, session: Writer, plan: Plan, cancel: threading.Event, before: str | None) -> None:
        self._session = session
        self._plan = plan
        self._cancel = cancel
        self._before = before
        self._has_recipes = False
        self._turn = 0
        self._number = 0
        self.machine: dict[str, Any] = {}
        self.runs: list[Run] = []
        self.differences: list[Difference] = []

    def run(self) -> Iterator[CompareEvent]:
        plan = self._plan
        if self._session.mode is None:
            raise Problem("error.no_model")
        for setting in plan.settings:
            self._go_over(setting)  # what cannot be had is refused before anything runs
        self._has_recipes = any(setting.on and setting.recipe is not None for setting in plan.settings)
        yield ComparePhase(Notice("compare.describing"))
        self.machine = self._session.describe(self._cancel)
        for setting in plan.settings:
            if self._cancel.is_set():
                return
            if setting.on and setting.recipe is not None:
                notice = ComparePhase(Notice("compare.recipe", {"recipe": setting.recipe}))
                yield notice
                for _ in self._session.use_recipe(setting.recipe, self._cancel):
                    yield notice
            yield ComparePhase(Notice("compare.warming", {"setting": setting.name}))
            self._warm_up(setting)
        for repeat in range(plan.repeats):
            for prompt in range(len(plan.prompts)):
                order = range(len(plan.settings))
                for at in order if (repeat + prompt) % 2 == 0 else reversed(order):
                    yield from self._answer(at, prompt, repeat)
                    if self._cancel.is_set():
                        return
                yield from self._look_into(prompt, repeat)

    def _go_over(self, setting: Setting) -> Loaded:
        session = self._session
        try:
            loaded = session.switch(setting.mode)
        except Problem as problem:
            if problem.notice.id == "error.setting":
                raise Problem("compare.no_mode", mode=setting.mode) from None
            raise
        if setting.on:
            session.require_drafter(setting.drafter)
            if self._has_recipes and setting.drafter in WITH_TWIN:
                for _ in session.use_recipe(setting.recipe, self._cancel):
                    pass  # it is here already, or was asked for before the warm-up
            if setting.k is not None and setting.k > loaded.largest_k:
                raise Problem("error.k_too_large", k=setting.k, largest=loaded.largest_k)
        return loaded

    def _warm_up(self, setting: Setting) -> None:
        self._go_over(setting)
        self._session.forget()
        plan = self._plan
        chat = (*plan.before, Message("user", plan.prompts[0].turns[0]))
        request = Request(self._next_turn(), chat, self._sampling(0), min(WARM_UP_TOKENS, plan.max_new_tokens))
        for event in self._session.reply(request, self._control(setting)):
            if isinstance(event, Failed):
                raise Problem(event.notice.id, **event.notice.values)

    def _answer(self, at: int, prompt: int, repeat: int) -> Iterator[CompareEvent]:
        """One setting on one prompt, all turns of it as one chat, from an empty cache."""
        plan, setting = self._plan, self._plan.settings[at]
        loaded = self._go_over(setting)
        self._session.forget()
        self._number += 1
        meter = Meter(loaded.device)
        chat: list[Message] = list(plan.before)
        for step, question in enumerate(plan.prompts[prompt].turns):
            chat.append(Message("user", question))
            turn = self._next_turn()
            began = RunBegan(self._number, plan.runs, at, prompt, repeat, step, turn)
            yield began
            request = Request(turn, tuple(chat), self._sampling(prompt), plan.max_new_tokens)
            finished: Finished | None = None
            rounds: list[RoundRecord] = []
            meter.begin()
            begun = time.perf_counter()
            for event in self._session.reply(request, self._control(setting)):
                if isinstance(event, Round):
                    rounds.append(_round(event, time.perf_counter() - begun))
                    yield RunGrew(at, "".join(piece.text for piece in event.pieces), rounds[-1])
                elif isinstance(event, Failed):
                    raise Problem(event.notice.id, **event.notice.values)
                elif isinstance(event, Finished):
                    finished = event
            memory, energy = meter.end()
            if finished is None or self._cancel.is_set():
                return
            run = _run(began, finished, rounds, memory, energy)
            self.runs.append(run)
            is_border = step == len(plan.prompts[prompt].turns) - 1
            if is_border and self._before is not None:
                self._session.switch(self._before)
            yield RunEnded(run, is_border)
            chat.append(Message("assistant", finished.text, finished.token_ids))

    def _look_into(self, prompt: int, repeat: int) -> Iterator[CompareEvent]:
        """Where each setting parts from its reference on this prompt, told once a prompt."""
        for at, setting in enumerate(self._plan.settings):
            known = any(one.setting == at and one.prompt == prompt for one in self.differences)
            if known or self._cancel.is_set():
                continue
            reference = self._plan.reference(at)
            wanted = firsts(self.runs, at if reference is None else reference)
            for run in self.runs:
                if (run.setting, run.prompt, run.repeat) != (at, prompt, repeat):
                    continue
                theirs = wanted.get((prompt, run.step))
                position = first_difference(run.token_ids, theirs.token_ids) if theirs else None
                if theirs is not None and position is not None:
                    yield ComparePhase(Notice("compare.looking", {"setting": setting.name}))
                    self.differences.append(self._difference(run, theirs, position))
                    break

    def _difference(self, mine: Run, theirs: Run, position: int) -> Difference:
        try:
            self._session.switch(self._plan.settings[mine.setting].mode)
            own, other, tie = self._session.sides(mine.turn, theirs.turn, position)
        except Problem:  # the texts differ all the same; only why cannot be told
            own, other = (Side(_at(run, position), "") for run in (mine, theirs))
            tie = 0.0
        return Difference(
            setting=mine.setting,
            reference=theirs.setting,
            prompt=mine.prompt,
            repeat=mine.repeat,
            step=mine.step,
            position=position,
            mine=own,
            theirs=other,
            tie=tie,
        )

    def _sampling(self, prompt: int) -> Any:
        seed = self._plan.sampling.seed
        return replace(self._plan.sampling, seed=(DEFAULT_SEED if seed is None else seed) + prompt)

    def _control(self, setting: Setting) -> Control:
        control = Control(setting.speculation)
        control.cancel = self._cancel
        return control

    def _next_turn(self) -> int:
        """Numbers below 0: those of chats are above."""
        self._turn -= 1
        return self._turn


def _round(event: Round, at: float) -> RoundRecord:
    return RoundRecord(
        k=event.k,
        drafted=event.drafted,
        tested=event.tested,
        accepted=event.accepted,
        tokens=len(event.origins),
        at=at,
        draft_ms=event.draft_ms,
        verify_ms=event.verify_ms,
    )


def _run(began: RunBegan, finished: Finished, rounds: list[RoundRecord], memory: int, energy: float | None) -> Run:
    figures = finished.statistics
    return Run(
        setting=began.setting,
        prompt=began.prompt,
        repeat=began.repeat,
        step=began.step,
        turn=began.turn,
        text=finished.text,
        token_ids=finished.token_ids,
        finish=finished.reason.id.removeprefix("finish."),
        seed=figures.seed,
        prompt_tokens=figures.prompt_tokens,
        seconds=figures.seconds,
        ttft=figures.ttft,
        decode_seconds=figures.seconds - figures.prefill_seconds,
        draft_ms=sum(one.draft_ms for one in rounds),
        verify_ms=sum(one.verify_ms for one in rounds),
        accepted_by_depth=figures.accepted_by_depth,
        tested_by_depth=figures.tested_by_depth,
        k_histogram=figures.k_histogram,
        identity=figures.identity,
        rounds=tuple(rounds),
        memory=memory,
        energy=energy,
    )


def _at(run: Run, position: int) -> int | None:
    return run.token_ids[position] if position < len(run.token_ids) else None
