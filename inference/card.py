"""A target and its twin as graphs on one NVIDIA card (designs D6, D9).

Where the kernels do not work the decoder runs as it is, and the reason is told. Knows nothing of files or replies.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

    from inference.device_rounds import GraphTwin
    from inference.graphs import GraphForward
    from inference.kv_cache import KVCache
    from inference.model import Forward

# Cards are counted as nvidia-smi counts them. CUDA reads this when it is first used, which is later.
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")

STEPS = 8
"""Drafted tokens of a measurement."""


def takes_graphs(device: torch.device) -> bool:
    """Whether this is a card that steps are captured on."""
    return device.type == "cuda"


class Card:
    """A target on a card over one cache. Raises ValueError with the reason where its step cannot be fused."""

    def __init__(self, model: Any, decoder: Forward, cache: KVCache, device: torch.device) -> None:
        from inference.fused import FusedStep, refusal

        if (reason := refusal(model, device)) is not None:
            raise ValueError(reason)
        from inference.device_rounds import Choice, DeviceRounds
        from inference.graphs import GraphForward, cuda_capture, plain_call

        self._cache = cache
        self._device = device
        self._capture = cuda_capture(device) if device.type == "cuda" else plain_call
        self._captures = True
        self._choice = Choice(device)
        self.forward: GraphForward = GraphForward(decoder, FusedStep(model, cache.slots), device, self._capture)
        self.rounds = DeviceRounds(self.forward, self._choice)
        self._twins: list[GraphTwin] = []

    def forward_of(self, twin: Any) -> GraphForward:
        """The forward of a low-bit copy."""
        from inference.decoder import Decoder
        from inference.fused import FusedStep
        from inference.graphs import GraphForward

        for _ in self.tune(twin):
            pass
        forward = GraphForward(Decoder(twin), FusedStep(twin, self._cache.slots), self._device, self._capture)
        forward.drafter_of = lambda: self.drafter(forward)
        return forward

    def drafter(self, forward: GraphForward) -> tuple[GraphTwin, float]:
        """The drafter of a twin's forward, and the milliseconds that a drafted token costs."""
        from inference.device_rounds import GraphTwin

        twin = GraphTwin(forward, self._cache, self._choice)
        self._twins = [twin]  # a better twin takes the place of the quick one
        if self._captures:
            twin.prepare()
        return twin, self._step_ms(twin)

    def prepare(self, counts: range) -> Iterator[tuple[int, int]]:
        """Capture all passes of the target; yields (done, total)."""
        if self._captures:
            yield from self.forward.prepare(counts, self._cache)

    def give_up_graphs(self) -> bool:
        """Let all graphs go and capture no more: passes run as they are. False where that was so already."""
        from inference.graphs import plain_call

        if not self._captures:
            return False
        self._captures, self._capture = False, plain_call
        self.forward.capture_no_more()
        for twin in self._twins:
            twin.capture_no_more()
        return True

    def forget_twin(self) -> None:
        """Hold no twin's graphs any more."""
        self._twins = []

    def begin_anew(self) -> None:
        """The cache has other buffers: what was captured over the old ones goes."""
        self.forward.forget(self._cache)
        for twin in self._twins:
            twin.forget()

    def tune(self, twin: Any) -> Iterator[tuple[int, int]]:
        """Measure the tiles of a twin's products; yields (done, total)."""
        from inference.quantize.triton_launch import LowBitProduct
        from inference.quantize.triton_tuning import tune

        found = [getattr(module, "product", None) for module in twin.modules()]
        yield from tune(product for product in found if isinstance(product, LowBitProduct))

    @property
    def graph_bytes(self) -> int:
        """What the graphs take of the card."""
        return self.forward.pass_bytes + sum(twin.graph_bytes for twin in self._twins)

    @property
    def statics(self) -> list[Any]:
        """What holds the tensors that passes read and write: rows, logits and drafts at one place for good."""
        return [*self.forward.statics, *(part for twin in self._twins for part in twin.statics), self._choice]

    def _step_ms(self, twin: GraphTwin) -> float:
        """Longer drafts less shorter ones: what each further token costs."""
        from inference.sampling import Sampler
        from inference.settings import Sampling

        sampler = Sampler(Sampling(temperature=0), 0, [0])
        spent = []
        for k in (STEPS, 1, STEPS, 1, STEPS, 1):
            begun = time.perf_counter()
            twin.launch([0] * (self._cache.length + 1), k, sampler)
            twin.chain[:1].tolist()
            spent.append((time.perf_counter() - begun) * 1e3)
        return max(1e-3, (min(spent[0::2]) - min(spent[1::2])) / (STEPS - 1))
