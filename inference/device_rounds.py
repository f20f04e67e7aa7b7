"""Rounds on a card: draft, verification and choice without the host in between, which waits once a round (design D9).

The noise is made on the device by one kernel for drafter and target. What the kernels do not know (penalties, the
textbook rule) goes the usual way; which way a reply goes depends on its sampling only, never on drafter or K.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from inference.drafters.base import Draft
from inference.drafters.twin import TwinDrafter
from inference.graphs import StaticRows, bucket, buckets
from inference.quantize.triton_steps import choose, noise
from inference.rows import tree_rows
from inference.verify import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.base import Drafter
    from inference.engine import Foresight
    from inference.exact import Width
    from inference.graphs import GraphForward, Work
    from inference.kv_cache import KVCache
    from inference.sampling import Row, Sampler

LONGEST = 64
"""Longest draft of the twin."""


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round, and the milliseconds of its two halves."""

    draft: Draft
    verdict: Verdict
    draft_ms: float
    verify_ms: float


def follow(draft: Draft, chosen: Sequence[int]) -> Verdict:
    """Walk a draft by the target's tokens: ``chosen[0]`` behind the root, ``chosen[i + 1]`` behind node i."""
    path: list[int] = []
    here = -1
    while True:
        offered = [node for node, parent in enumerate(draft.parents) if parent == here]
        token = chosen[here + 1]
        hit = next((node for node in offered if draft.tokens[node] == token), None)
        if hit is None:
            return Verdict(tuple(path), token, len(path) + bool(offered), not offered)
        path.append(hit)
        here = hit


class Choice:
    """How tokens are chosen on a device for one reply: its seed and sampling, copied there once."""

    def __init__(self, device: torch.device) -> None:
        self.seeds = torch.zeros(2, dtype=torch.int32, device=device)
        self.settings = torch.zeros(4, dtype=torch.float32, device=device)
        self._of: tuple[object, int] | None = None

    def set(self, sampler: Sampler) -> None:
        """From now on as this reply wants it."""
        if self._of == (sampler.sampling, sampler.seed):
            return
        self._of = (sampler.sampling, sampler.seed)
        sampling = sampler.sampling
        words = np.array([sampler.seed & 0xFFFFFFFF, sampler.seed >> 32], dtype=np.uint32).view(np.int32)
        self.seeds.copy_(torch.from_numpy(words))
        self.settings.copy_(
            torch.tensor(
                [
                    1 / sampling.temperature if sampling.temperature else 0.0,
                    float(sampling.top_k),
                    sampling.top_p,
                    math.log(sampling.min_p) if sampling.min_p else -math.inf,
                ]
            )
        )

    def tokens(self, logits: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """The token of each row [n, vocabulary] at these positions in the text."""
        return choose(logits, noise(self.seeds, positions, logits.shape[1]), self.settings)

    def draws(self, seed: int, position: int, size: int) -> Row:
        """What the noise is made of, on the host, for drafters that choose there: exponential draws [size]."""
        words = np.array([seed & 0xFFFFFFFF, seed >> 32], dtype=np.uint32).view(np.int32)
        device = self.seeds.device
        drawn = noise(torch.from_numpy(words).to(device), torch.tensor([position], device=device), size)
        row: Row = np.exp(-drawn[0].cpu().numpy())
        return row


class _Clock:
    """Marks of time, on the card where there is one: the host runs ahead of it."""

    def __init__(self, device: torch.device) -> None:
        self._on_card = device.type == "cuda"
        self._marks: list[float | torch.cuda.Event] = []

    def mark(self) -> None:
        if self._on_card:
            event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            event.record()
            self._marks.append(event)
        else:
            self._marks.append(time.perf_counter())

    def between(self) -> list[float]:
        """Milliseconds from mark to mark; the card must have passed the last one."""
        found = []
        for before, after in zip(self._marks, self._marks[1:], strict=False):
            if isinstance(before, float) or isinstance(after, float):
                assert isinstance(before, float)
                assert isinstance(after, float)
                found.append((after - before) * 1e3)
            else:
                found.append(before.elapsed_time(after))
        return found


class _Late:
    """Marks behind each step; the host waits for the one before the last, which the card has mostly passed."""

    def __init__(self, device: torch.device) -> None:
        self._on_card = device.type == "cuda"
        self._last: torch.cuda.Event | None = None
        self._count = 0

    def passed(self) -> bool:
        """Mark the end of what was launched, and wait for the mark before; False when there is none."""
        before = self._last
        self._count += 1
        if self._on_card:
            self._last = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._last.record()
        if before is not None:
            before.synchronize()
        return self._count > 1


class GraphTwin(TwinDrafter):
    """The twin on a card: its steps follow each other there, each taking the token that the last one chose.

    What was drafted is looked at one step late, so that the card never waits for the host.
    """

    def __init__(self, forward: GraphForward, cache: KVCache, choice: Choice) -> None:
        super().__init__(forward, cache, torch.device("cpu"))
        device = forward.device
        self.graphs = forward
        self._choice = choice
        self._rows = StaticRows(1, device)
        # Behind each step everything of a row but its token and ancestors, and the place in the chain, is one more.
        self._advance = torch.tensor([[0, 0], [1, 0], [1, 0], [1, 0], [0, 0], [1, 0]], device=device)
        self._advance[0, 1] = 1  # the slot of the first row
        self._place = torch.zeros(1, dtype=torch.int64, device=device)
        self.chain = torch.zeros(LONGEST + 1, dtype=torch.int64, device=device)
        self._read = torch.zeros(LONGEST + 1, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._steps: dict[int, Work] = {}

    @property
    def graph_bytes(self) -> int:
        """What its graphs take of the card."""
        return self.graphs.pass_bytes

    def prepare(self) -> None:
        """Capture the step for the buckets at hand, before a reply needs it."""
        for size in buckets(self._cache.slots):
            self._step(size)

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """A chain of ``k`` tokens or fewer, each chosen as the target would choose it."""
        if not sampler.on_device:
            return super().propose(ids, k, sampler)
        count = self.launch(ids, k, sampler)
        return Draft.chain(self.chain[1 : count + 1].tolist())

    @torch.inference_mode()
    def launch(self, ids: Sequence[int], k: int, sampler: Sampler, foresee: Foresight | None = None) -> int:
        """Start a draft without waiting for it: ``chain`` will hold the root and so many tokens behind it.

        It ends where the reply will, by ``foresee``: the step that was launched meanwhile is not part of it.
        """
        self._choice.set(sampler)
        first = self._cache.length
        step = self._step(bucket(first + k + 1, self._cache.slots))  # capturing it uses the rows
        self._rows.write(tree_rows([ids[-1]], None, first, self._cache.slots), len(ids))
        self._place.zero_()
        self.chain[:1].copy_(self._rows.tokens)
        late = _Late(self.graphs.device)
        for depth in range(k):
            step()
            if foresee is None:
                continue
            self._read[depth : depth + 1].copy_(self.chain[depth + 1 : depth + 2], non_blocking=True)
            if late.passed() and (end := foresee(self._read[:depth].tolist())) is not None:
                return end
        return k

    @property
    def statics(self) -> list[Any]:
        """What holds the tensors that its steps read and write."""
        return [self._rows, self.chain, self._place, self._advance, *self.graphs.statics]

    def forget(self) -> None:
        """Let the steps go: the cache has other buffers."""
        self._steps.clear()
        self.graphs.forget(self._cache)

    def capture_no_more(self) -> None:
        """Let all graphs go; from now on steps run as they are."""
        self._steps.clear()
        self.graphs.capture_no_more()

    @torch.inference_mode()
    def _step(self, size: int) -> Work:
        if size in self._steps:
            return self._steps[size]
        rows, graphs = self._rows, self.graphs
        graphs.step.reserve(self._cache)
        rows.numbers.zero_()
        rows.sight.slots.fill_(self._cache.slots - 1)
        rows.sight.prefixes.fill_(1)
        logits = graphs.logits[:1]

        def work() -> None:
            logits.copy_(graphs.step(rows.tokens, rows.sight, size, self._cache))
            token = self._choice.tokens(logits, rows.noise_positions)
            self._place.add_(1)
            self.chain.index_copy_(0, self._place, token)
            rows.tokens.copy_(token)
            rows.numbers.add_(self._advance)

        self._steps[size] = graphs.captured(work)
        return self._steps[size]


class DeviceRounds:
    """Whole rounds of a target on a card, for the loop; ``choice`` is shared with its twin."""

    def __init__(self, target: GraphForward, choice: Choice) -> None:
        self._target = target
        self._choice = choice

    def adopt(self, sampler: Sampler) -> None:
        """A reply begins: its noise is the device's, on whichever side it is used."""
        sampler.draws_of = self._choice.draws

    @torch.inference_mode()
    def run(
        self,
        ids: Sequence[int],
        k: int,
        sampler: Sampler,
        drafter: Drafter,
        cache: KVCache,
        width: Width,
        foresee: Foresight | None = None,
    ) -> Round | None:
        """One round behind ``ids``, or None where the usual way has to be taken."""
        if not sampler.on_device or not self._target.whole_rounds:
            return None
        self._choice.set(sampler)
        clock = _Clock(self._target.device)
        clock.mark()
        twin = drafter if isinstance(drafter, GraphTwin) else None
        draft = Draft()
        count = 0
        if k and twin is not None:
            count = twin.launch(ids, k, sampler, foresee)
            tokens = [ids[-1], *[0] * count]  # only their places; the card has the tokens
        else:
            draft = drafter.propose(ids, k, sampler) if k else draft
            tokens = [ids[-1], *draft.tokens]
        clock.mark()
        chain = draft.parents == tuple(range(-1, len(draft.parents) - 1))
        parents = None if chain else [-1, *(parent + 1 for parent in draft.parents)]
        rows = width.rows(tokens, parents, cache, torch.device("cpu"))
        used = rows.used
        if len(rows.tokens) > len(self._target.logits):
            logits = self._target(rows, cache).float()
            positions = (rows.positions[:used] - rows.first + len(ids)).to(logits.device)
        else:
            prepared = self._target.prepared(len(rows.tokens), rows.span, cache)
            prepared.rows.write(rows, len(ids))
            if count and twin is not None:
                prepared.rows.tokens[: count + 1].copy_(twin.chain[: count + 1])
            prepared.run()
            logits, positions = prepared.logits[:used], prepared.rows.noise_positions[:used]
        chosen = self._choice.tokens(logits, positions)
        clock.mark()
        if count and twin is not None:
            both = torch.cat([twin.chain[1 : count + 1], chosen]).tolist()  # the one time that the host waits
            draft, found = Draft.chain(both[:count]), both[count:]
        else:
            found = chosen.tolist()
        draft_ms, verify_ms = clock.between()
        return Round(draft, follow(draft, found), draft_ms, verify_ms)
