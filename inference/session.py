"""One loaded model and the replies it writes: joins text, tokens, engine and events.

``load``, ``reply``, ``compare`` and ``explain`` are generators of events, run on one thread. What goes wrong becomes an
event with a sentence; the next reply works. torch is imported by the first load, not with this module.
"""

from __future__ import annotations

import gc
import os
import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from inference import freeing
from inference.events import (
    Event,
    Failed,
    Finished,
    GivenUp,
    Loaded,
    LoadFailed,
    LoadProgress,
    Notice,
    Prefill,
    Problem,
    Round,
    Started,
    TwinProgress,
)
from inference.explained import Explained, ExplainFailed
from inference.models import interrupted
from inference.trails import Trail, Trails

if TYPE_CHECKING:
    import threading
    from collections.abc import Generator, Iterator

    from inference.bench.comparison import CompareEvent, Plan, Side
    from inference.drafters.offered import Offer
    from inference.drafting import Drafting, Learned
    from inference.engine import Outcome
    from inference.ready import Ready
    from inference.reply_text import ReplyText
    from inference.settings import Control, ModelChoice, Request
    from inference.statistics import Tally
    from inference.twin_swap import TwinSwap


class Session:
    """Holds at most one model. Not to be shared between threads, but for the events and the caller's Control."""

    def __init__(self) -> None:
        self._ready: Ready | None = None
        self._learned: dict[str, Learned] = {}
        self._trails = Trails()
        self._swap: TwinSwap | None = None

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        """Let the old model go and load another; ends with Loaded or LoadFailed."""
        self.close()
        if (notice := interrupted.died(choice.model)) is not None:
            yield LoadFailed(notice)
            return
        yield LoadProgress(Notice("load.libraries"))
        # Read by OpenMP when torch is imported: how long a thread spins at a barrier before it sleeps. Its own 300,000
        # makes decoding several times slower as soon as anything else wants one of few cores; measured, 10,000 loses
        # nothing on a quiet machine, where sleeping at once loses 40 %.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
        os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # cards are numbered as the driver's tools do
        with freeing.uncollected():
            from inference.loading import prepare

        try:
            self._ready = yield from prepare(choice, cancel)
        except Exception as error:
            failed = LoadFailed(_notice(error))
        else:
            interrupted.end()
            yield self._ready.loaded
            return
        interrupted.end()
        # The error is gone here, and with it the frames that hold what had been loaded.
        freeing.release()
        yield LoadFailed(freeing.anew(failed.notice))

    @property
    def ready(self) -> Ready | None:
        """The loaded model, for measuring; None without one."""
        return self._ready

    def forget(self) -> None:
        """Empty the cache, so that the next reply reads its whole prompt."""
        if self._ready is not None:
            self._ready.engine.reuse(())

    def switch(self, mode: Literal["exact", "fast"]) -> Loaded:
        """Write in another mode from now on; nothing is loaded anew. Raises Problem when it does not work here."""
        if self._ready is None:
            raise Problem("error.no_model")
        if mode not in self._ready.modes:
            raise Problem("error.setting", field="mode", value=mode, allowed=" or ".join(self._ready.modes))
        if mode != self._ready.loaded.mode:
            self._ready = self._ready.in_mode(mode)
        return self._ready.loaded

    @property
    def mode(self) -> Literal["exact", "fast"] | None:
        """The mode in force; None without a model."""
        return self._ready.loaded.mode if self._ready is not None else None

    def require_drafter(self, name: str) -> None:
        """Raises Problem when the loaded model cannot have this drafter."""
        from inference.settings import Speculation

        Speculation(drafter=name)
        if self._ready is None:
            raise Problem("error.no_model")
        offered = self._ready.offered
        if name not in offered.names:
            model, reason = self._ready.loaded.name, offered.reason(name).id
            raise Problem("error.drafter_unavailable", drafter=name, model=model, reason=reason)

    def count(self, text: str) -> int:
        """How many tokens a text is, without those that a template puts around it. Raises Problem without a model."""
        if self._ready is None:
            raise Problem("error.no_model")
        return len(self._ready.model.tokenizer.encode(text, add_special_tokens=False))

    def close(self) -> None:
        """Let the model go and give its memory back."""
        if self._ready is not None:
            self._ready = None
            self._trails.clear()
            self._swap = None
            freeing.release()

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        """Write one reply; ends with Finished or Failed. ``control`` is read at every round."""
        try:
            if self._ready is None:
                raise Problem("error.no_model")
            yield from self._write(self._ready, request, control)
            return
        except Exception as error:
            failed = Failed(request.turn, _notice(error))
        freeing.release()
        yield Failed(request.turn, freeing.anew(failed.notice))

    def make_twin(self, cancel: threading.Event, *, quick: bool = False) -> Generator[Event, None, None]:
        """Make the loaded model's twin and keep it: TwinProgress, then DraftersChanged. It drafts from then on.

        Between two events replies may be written. Nothing happens where no twin is possible.
        """
        ready = self._ready
        if ready is None or ready.maker is None:
            return
        relief = ready.relief

        def made() -> Generator[Event, None, Offer | None]:
            """None where the twin was given up, here or for a reply meanwhile."""
            maker = relief.maker
            offer = None if maker is None else (yield from maker.make(quick=quick, is_cancelled=cancel.is_set))
            return offer if relief.maker is not None else None

        try:
            offer = yield from relief.until_it_fits(made, lambda notice: TwinProgress(notice, 1.0))
        except Exception as error:
            notice = Notice("drafter.no_linear") if isinstance(error, ValueError) else _notice(error)
            if notice.id != "error.cancelled":
                yield TwinProgress(notice, 1.0)
            if ready.offered.find("twin") is None:
                ready.offered.refuse("twin", notice if notice.id == "drafter.no_linear" else Notice("drafter.not_made"))
        else:
            if offer is not None:
                ready.offered.add(offer)
        gc.collect()
        yield ready.drafters_changed()

    @property
    def wants_twin(self) -> bool:
        """Whether the loaded model could have a better twin than it has."""
        maker = self._ready.maker if self._ready is not None else None
        return maker is not None and maker.wants_better

    def compare(self, plan: Plan, cancel: threading.Event) -> Iterator[CompareEvent]:
        """Run settings side by side; ends with Compared. The chat's cache is empty afterwards."""
        from inference.bench.running import compare

        yield from compare(self, plan, cancel)

    def use_recipe(self, recipe: str | None, cancel: threading.Event) -> Iterator[TwinProgress]:
        """Let the twin of another recipe draft, made quickly where none is kept; None is the loaded one.

        ``drop_recipes`` ends it. Raises Problem when it cannot be had.
        """
        from inference.twin_swap import TwinSwap

        if self._ready is None:
            raise Problem("error.no_model")
        self._swap = self._swap or TwinSwap(self._ready)
        yield from self._swap.use(recipe, cancel)

    def drop_recipes(self) -> None:
        """Only the twin that was loaded stays."""
        if self._swap is not None:
            self._swap.end()
            self._swap = None

    def describe(self, cancel: threading.Event) -> dict[str, Any]:
        """Model, device and versions as plain JSON. Raises Problem without a model."""
        from inference.bench.machine import machine

        if self._ready is None:
            raise Problem("error.no_model")
        return machine(self._ready, cancel)

    def explain(self, turn: int, round: int) -> Iterator[Explained | ExplainFailed]:
        """One event: a past round of a reply laid open. The chat goes on as if nothing had been."""
        try:
            with self._as_then(turn) as (ready, trail):
                from inference.explain import explain

                found: Explained | ExplainFailed = explain(ready, trail, turn, round)
        except Exception as error:
            found = ExplainFailed(turn, round, _notice(error))
        yield found

    def sides(self, mine: int, theirs: int, position: int) -> tuple[Side, Side, float]:
        """What the target saw in two replies where they part: each one's token there, and logits of both tokens.

        The third value is how far scores may lie apart for rounding alone to tip them. Raises Problem.
        """
        tokens = [self._trails.find(turn).token_at(position) for turn in (mine, theirs)]
        found, ties = [], []
        for turn in (mine, theirs):
            with self._as_then(turn) as (ready, trail):
                from inference.explain import part, tie

                found.append(part(ready, trail, position, *tokens))
                ties.append(tie(ready, trail, found))
        return found[0], found[1], max(ties)

    @contextmanager
    def _as_then(self, turn: int) -> Iterator[tuple[Ready, Trail]]:
        """The model in the mode in which a reply was written, and its trail. Raises Problem."""
        trail, before = self._trails.find(turn), self.mode
        self.switch(trail.mode)
        try:
            if self._ready is None:
                raise Problem("error.no_model")
            yield self._ready, trail
        finally:
            if before is not None:
                self.switch(before)

    def _write(self, ready: Ready, request: Request, control: Control) -> Generator[Event, None, None]:
        from inference import demands, priors
        from inference.draft_length import RoundTimes
        from inference.drafting import Drafting, Learned
        from inference.reply_text import ReplyText
        from inference.sampling import Sampler
        from inference.statistics import Tally
        from inference.text.context import fit

        begun = time.perf_counter()
        demands.check_k(ready, control)
        if not any(message.content.strip() for message in request.messages if message.role == "user"):
            raise Problem("error.empty_prompt")
        limit = ready.engine.cache.context
        template = ready.template.asking(request.thinking)
        prompt = fit(template, request.messages, limit, min(request.max_new_tokens, limit // 4))
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(32)
        reused = ready.engine.reuse(prompt.ids)
        yield Started(request.turn, len(prompt.ids), reused, seed, prompt.notes, prompt.opens_thinking)

        tally = Tally(begun, len(prompt.ids), reused, seed)
        begun_ids = prompt.ids[len(prompt.ids) - prompt.begun :]
        text = ReplyText(ready.model.tokenizer, ready.ends, (*request.stop, *ready.template.stops), begun_ids)
        rule = control.speculation.rule
        bias = demands.bias(ready, request.sampling.logit_bias)
        sampler = Sampler(request.sampling, seed, prompt.ids, rule=rule, bias=bias, ends=ready.ends)
        learned = self._learned.get(ready.loaded.identity)
        if learned is None:
            learned = self._learned[ready.loaded.identity] = Learned(RoundTimes(ready.times))
            priors.recall(ready.loaded.identity, learned)
        is_fast = ready.loaded.mode == "fast"
        drafting = Drafting(ready.offered, ready.loaded.drafter, learned, control, trees=is_fast)
        trail = Trail(ready.loaded.mode, tuple(prompt.ids), request.sampling, seed, rule, bias)
        self._trails.keep(request.turn, trail)
        reason = "cancelled"
        end = min(len(prompt.ids) + request.max_new_tokens, limit)
        while True:
            ids = [*prompt.ids, *tally.token_ids]
            try:
                for done in ready.engine.prefill(ids, control.cancel.is_set):
                    yield Prefill(request.turn, done, len(ids) - 1)
                if not tally.rounds:
                    tally.prefilled()
                if control.cancel.is_set():
                    break
                rounds = ready.engine.decode(ids, sampler, drafting, drafting, text.push, end - len(ids), text.foresee)
                try:
                    for outcome in rounds:
                        tally.add(outcome)
                        trail.add(outcome)
                        yield self._round(ready, request, tally, drafting, text, outcome)
                        if outcome.stopped is not None:
                            reason = outcome.stopped
                        elif control.cancel.is_set():
                            break
                    else:
                        reason = reason if tally.rounds else "context"
                finally:
                    rounds.close()
                break
            except Exception as error:
                if not freeing.is_out_of_memory(error):
                    raise
                lack = freeing.told(error)
            # The error is gone here, and with it the frames that hold what had been taken.
            ready = yield from self._relieved(ready, end, lack)
        drafting.end()
        priors.keep(ready.loaded.identity, learned)
        pieces = text.finish()
        values = {"length": {"limit": request.max_new_tokens}, "context": {"limit": limit}}.get(reason, {})
        yield Finished(
            request.turn,
            text.shown,
            tuple(tally.token_ids),
            pieces,
            Notice(f"finish.{reason}", values),
            tally.statistics(ready, control.speculation, rule, drafting.chosen, drafting.said),
        )

    def _relieved(self, ready: Ready, needed: int, lack: Notice) -> Generator[Event, None, Ready]:
        """The model with one thing less, so that a reply of ``needed`` tokens with its prompt can go on.

        Raises Problem when there is nothing left to give up.
        """
        freeing.release()
        notice = ready.relief.step(needed, at_once=True)
        if notice is None:
            raise Problem(lack.id, **lack.values)
        if ready.maker is None:
            self._swap = None
        self._ready = ready = ready.relieved()
        freeing.release()
        yield GivenUp(notice, ready.loaded)
        return ready

    def _round(
        self,
        ready: Ready,
        request: Request,
        tally: Tally,
        drafting: Drafting,
        text: ReplyText,
        outcome: Outcome,
    ) -> Round:
        return Round(
            turn=request.turn,
            index=tally.rounds - 1,
            pieces=text.take(outcome.origins),
            origins=outcome.origins,
            drafted=outcome.drafted,
            tested=outcome.tested,
            accepted=outcome.accepted,
            k=outcome.k,
            draft_ms=outcome.draft_ms,
            verify_ms=outcome.verify_ms,
            tokens=len(tally.token_ids),
            acceptance=tally.acceptance,
            tokens_per_round=len(tally.token_ids) / tally.rounds,
            tokens_per_second=drafting.tokens_per_second(),
            plain_tokens_per_second=1e3 / ready.times.plain(outcome.length),
            status=drafting.status(outcome),
            drafter=outcome.drafter,
        )


def _notice(error: Exception) -> Notice:
    """What a person hears of an error."""
    if isinstance(error, Problem):
        return error.notice
    if freeing.is_out_of_memory(error):
        return freeing.told(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        return Notice("error.file", {"file": str(error.filename), "detail": error.strerror})
    return Notice("error.unexpected", {"detail": f"{type(error).__name__}: {error}".split("\n")[0]})
