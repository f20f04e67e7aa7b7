"""CUDA graphs of the fused step: one for each number of rows and each bucket of the attention length (design D9).

A pass writes its rows into static tensors with one copy and replays. What capturing means is given from outside, so
that the same code runs where there is no card. Knows nothing of drafts or sampling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from inference.freeing import is_out_of_memory
from inference.fused import LARGEST_ROWS, FusedStep
from inference.quantize.triton_steps import Sight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from inference.decoder import Features
    from inference.drafters.base import Drafter
    from inference.kv_cache import KVCache
    from inference.model import Forward
    from inference.rows import Rows

    Work = Callable[[], None]
    Capture = Callable[[Work], Work]

SMALLEST_BUCKET = 512


def bucket(span: int, slots: int) -> int:
    """The attention length that a graph for ``span`` slots allows for: 512, 1024, 2048, ... or the whole buffer."""
    size = SMALLEST_BUCKET
    while size < span:
        size *= 2
    return min(size, slots)


def buckets(slots: int) -> list[int]:
    """All of a buffer's, ascending."""
    found = [bucket(1, slots)]
    while found[-1] < slots:
        found.append(bucket(found[-1] + 1, slots))
    return found


def plain_call(work: Work) -> Work:
    """No graph: the work itself, each time."""
    return work


def cuda_capture(device: torch.device) -> Capture:
    """Captures work as a graph; all graphs of one capture share their memory, as no two run at once."""
    pool = torch.cuda.graph_pool_handle()

    def capture(work: Work) -> Work:
        side = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):  # kernels are compiled and libraries made ready before a graph may see them
            work()
        torch.cuda.current_stream(device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            work()
        return graph.replay

    return capture


class StaticRows:
    """The rows of a pass at one place in memory for good: tokens, positions, slots, prefixes and ancestors.

    ``numbers`` int64 [6, rows + 1] on the device: those five, and positions in the text, which key the noise; in the
    column behind the last row stands the first row's slot.
    """

    def __init__(self, count: int, device: torch.device) -> None:
        self.count = count
        self.numbers = torch.zeros(6, count + 1, dtype=torch.int64, device=device)
        self._host = torch.zeros(6, count + 1, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._copied = torch.cuda.Event() if device.type == "cuda" else None  # type: ignore[no-untyped-call]
        tokens, positions, slots, prefixes, ancestors, noise = self.numbers[:, :count].unbind()
        self.tokens = tokens
        self.noise_positions = noise
        self.sight = Sight(self.numbers[0, count:], prefixes, ancestors, positions, slots)

    def write(self, rows: Rows, position: int = 0) -> None:
        """These rows, best on the host; ``position`` is that in the text of the token behind the first row."""
        if self._copied is not None:
            self._copied.synchronize()  # the last copy may still be reading
        host, used, first = self._host, rows.used, rows.first
        host[0, :-1] = rows.tokens
        host[1, :-1] = rows.positions
        host[2, :-1] = rows.slots
        host[3, :used] = first
        host[3, used:-1] = 1  # padding sees slot 0
        own = rows.mask[:used, first : first + used].to("cpu", torch.int64)
        host[4, :used] = (own << torch.arange(used)).sum(1)
        host[4, used:-1] = 0
        host[5, :-1] = host[1, :-1] - first + position
        host[0, -1] = first
        self.numbers.copy_(host, non_blocking=True)
        if self._copied is not None:
            self._copied.record()


@dataclass(frozen=True, slots=True)
class Pass:
    """A captured pass: write ``rows``, ``run``, and read ``logits`` float32 [rows, vocabulary] before the next one."""

    rows: StaticRows
    run: Work
    logits: torch.Tensor


class GraphForward:
    """The target's or the twin's forward on a card: graphs for few rows, ``prefill`` for chunks of a prompt.

    Rows are expected on the host. ``kernels`` names what the bits depend on.
    """

    def __init__(self, prefill: Forward, step: FusedStep, device: torch.device, capture: Capture) -> None:
        self._prefill = prefill
        self.step = step
        self.device = device
        self._capture = capture
        self.uncaptured: str | None = None
        self.kernels = "fused " + str(getattr(prefill, "kernels", ""))
        self.logits = torch.zeros(LARGEST_ROWS, step.vocabulary, dtype=torch.float32, device=device)
        self._passes: dict[tuple[int, int], dict[int, Pass]] = {}
        self._caches: dict[int, KVCache] = {}
        self.pass_bytes = 0
        self._watching = False
        self.drafter_of: Callable[[], tuple[Drafter, float]] | None = None
        """Of a low-bit copy: its drafter on the card, and the milliseconds of a drafted token."""

    def watch(self, layers: Sequence[int] | None) -> None:
        """Keep the hidden states of each pass for heads: every pass then goes the way that prompts go."""
        self._prefill.watch(layers)  # type: ignore[attr-defined]  # only a decoder is handed here where heads are
        self._watching = layers is not None

    @property
    def features(self) -> Features | None:
        """What the last pass kept for heads."""
        found: Features | None = getattr(self._prefill, "features", None)
        return found

    @torch.inference_mode()
    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        """Logits [rows.used, vocabulary] float32, valid until the next pass; ``last_only`` gives [1, vocabulary]."""
        if last_only or self._watching or len(rows.tokens) > LARGEST_ROWS:
            return self._prefill(self._moved(rows), cache, last_only=last_only)
        prepared = self.prepared(len(rows.tokens), rows.span, cache)
        prepared.rows.write(rows)
        prepared.run()
        return prepared.logits[: rows.used]

    @property
    def whole_rounds(self) -> bool:
        """Whether rounds may be done on the card; not while heads want what each pass leaves."""
        return not self._watching

    def prepared(self, count: int, span: int, cache: KVCache) -> Pass:
        """The pass for so many rows that sees ``span`` slots, captured when it is first asked for."""
        of_cache = self._passes.setdefault((id(cache), count), {})
        size = bucket(span, cache.slots)
        if size not in of_cache:
            self._caches[id(cache)] = cache  # graphs write to its buffers, and its id must stay its own
            of_cache[size] = self._captured(count, size, cache)
        return of_cache[size]

    def prepare(self, counts: Iterable[int], cache: KVCache) -> Iterator[tuple[int, int]]:
        """Capture every pass of these numbers of rows; yields (done, total)."""
        wanted = [(count, size) for count in counts for size in buckets(cache.slots)]
        for done, (count, size) in enumerate(wanted):
            yield done, len(wanted)
            self.prepared(count, size, cache)
        yield len(wanted), len(wanted)

    def reserve(self, cache: KVCache) -> None:
        """Make the cache's buffers."""
        self.step.reserve(cache)

    @property
    def statics(self) -> list[Any]:
        """What holds the tensors that passes read and write."""
        return [self.logits, *(one.rows for passes in self._passes.values() for one in passes.values())]

    def capture_no_more(self) -> None:
        """Let all graphs go; from now on passes run as they are."""
        self._capture = plain_call
        self._passes.clear()
        self._caches.clear()
        self.pass_bytes = 0

    def forget(self, cache: KVCache) -> None:
        """Let the graphs over a cache go, and the cache with them."""
        self._caches.pop(id(cache), None)
        for key in [key for key in self._passes if key[0] == id(cache)]:
            del self._passes[key]

    def forget_others(self, cache: KVCache) -> None:
        """Let all graphs go but those over this cache."""
        for other in [known for known in self._caches.values() if known is not cache]:
            self.forget(other)

    @torch.inference_mode()
    def _captured(self, count: int, size: int, cache: KVCache) -> Pass:
        self.step.reserve(cache)
        rows = StaticRows(count, self.device)
        # Capturing runs the pass: until its rows are written, they go to the scratch slots at the buffer's end.
        rows.sight.slots.copy_(torch.arange(cache.slots - count, cache.slots))
        rows.sight.prefixes.fill_(1)
        logits = self.logits[:count]

        def work() -> None:
            logits.copy_(self.step(rows.tokens, rows.sight, size, cache))

        return Pass(rows, self.captured(work), logits)

    def captured(self, work: Work) -> Work:
        """The work as a graph; where this machine cannot capture it, as it is, and ``uncaptured`` says why."""
        before = reserved(self.device)
        try:
            run = self._capture(work)
        except RuntimeError as error:
            # Behind memory that ran out, the end of the capture fails as well: the first error tells.
            for one in (error, error.__context__):
                if one is not None and is_out_of_memory(one):
                    raise one from None
            self.uncaptured = str(error).split("\n")[0]
            self._capture = plain_call
            return work
        self.pass_bytes += max(0, reserved(self.device) - before)
        return run

    def _moved(self, rows: Rows) -> Rows:
        return replace(
            rows,
            tokens=rows.tokens.to(self.device),
            positions=rows.positions.to(self.device),
            slots=rows.slots.to(self.device),
            mask=rows.mask.to(self.device),
        )


def reserved(device: torch.device) -> int:
    """Bytes that this process holds of the card."""
    return torch.cuda.memory_reserved(device) if device.type == "cuda" else 0
