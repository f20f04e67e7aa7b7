"""Models with a running state (Mamba, linear attention, convolutions): plain decoding through transformers' own cache.

Such a state cannot be cut back to an earlier token, so nothing is drafted, and a chat is read anew unless it goes on
exactly where the state stands (design D5). Knows nothing of tokens' meaning or of sampling.
"""

from __future__ import annotations

import inspect
import statistics
import time
from typing import TYPE_CHECKING, Any

import torch

from inference.exact import Width
from inference.kv_cache import KVCache
from inference.measure import StepTimes
from inference.messages import Problem
from inference.rows import tree_rows

if TYPE_CHECKING:
    from inference.rows import Rows

CACHE_ARGUMENTS = ("cache", "past_key_values", "cache_params")
"""What transformers calls a model's state: the first from 5.24 on, the others before."""

WIDTH = Width(exact=False, plain=1, largest=1)
"""One row a pass: nothing is drafted."""

TRIAL = (7, 4)
"""Tokens of the trial at load, and how many of them its first part holds."""

CLOSE = 0.02
"""How far two ways to the same logits may be apart, as a share of their spread, for rounding alone."""


class RunningCache(KVCache):
    """A cache that is one state: valid for exactly the tokens it has read, or for none."""

    def __init__(self, context: int) -> None:
        super().__init__(context, 1)
        self.state: Any = None
        self._read = 0

    def truncate(self, length: int) -> None:
        """Keep the state when it stands at ``length`` tokens; else everything has to be read again."""
        if length != self._read:
            self.state = None
            self._read = 0
            length = 0
        super().truncate(length)

    def begin(self, first: int) -> None:
        """A pass of tokens from ``first`` on begins; until `read` the state belongs to no length."""
        if first != self._read:
            raise ValueError(f"the state stands at {self._read} tokens, not at {first}")
        self._read = -1

    def read(self, length: int) -> None:
        """The state has taken in the first ``length`` tokens."""
        self._read = length


class RunningForward:
    """Runs chains of tokens through a transformers model and the state that it keeps itself."""

    kernels = "reference"

    def __init__(self, model: Any) -> None:
        parameters = inspect.signature(type(model).forward).parameters
        names = [name for name in CACHE_ARGUMENTS if name in parameters]
        if not names:
            raise Problem("error.recurrent", model=type(model).__name__)
        self._cache_argument = names[0]
        self._takes_positions = "position_ids" in parameters
        self._takes_logits = "logits_to_keep" in parameters
        self._model = model
        self._makes_state = False
        self._goes_on = True
        try:
            self._goes_on = self._tries_parts()
        except (RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise Problem("error.recurrent", model=f"{type(model).__name__} ({error})".replace("\n", " ")) from error

    @torch.inference_mode()
    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        """Logits [rows.used, vocabulary] of a chain behind the state, or [1, vocabulary] of its last row."""
        if not isinstance(cache, RunningCache):
            raise TypeError("a model with a running state needs a RunningCache")
        cache.begin(rows.first)
        tokens = rows.tokens[: rows.used]
        whole = self._goes_on or cache.state is None
        parts = [tokens] if whole else list(torch.split(tokens, 1))
        found = []
        first = rows.first
        for part in parts:
            found.append(self._part(part, first, cache, last_only))
            first += len(part)
        cache.read(first)
        return found[-1] if last_only else torch.cat(found)

    def _part(self, tokens: torch.Tensor, first: int, cache: RunningCache, last_only: bool) -> torch.Tensor:
        arguments: dict[str, Any] = {}
        if self._takes_positions:
            arguments["position_ids"] = torch.arange(first, first + len(tokens), device=tokens.device)[None]
        if self._takes_logits:
            arguments["logits_to_keep"] = 1 if last_only else 0
        if cache.state is None and self._makes_state:
            from transformers import DynamicCache

            cache.state = DynamicCache(config=self._model.config)
        if cache.state is not None:
            arguments[self._cache_argument] = cache.state
        output = self._model(input_ids=tokens[None], use_cache=True, **arguments)
        if cache.state is None:
            cache.state = output.get(self._cache_argument)
            if cache.state is None:
                # The architecture fills a state that it is given, but gives none back (RecurrentGemma).
                self._makes_state = True
                return self._part(tokens, first, cache, last_only)
        logits: torch.Tensor = output.logits[0]
        return logits[-1:] if last_only else logits

    @torch.inference_mode()
    def _tries_parts(self) -> bool:
        """Whether tokens may follow a state several at once: some architectures then forget what came before."""
        count, cut = TRIAL
        tokens = list(range(1, count + 1))
        whole = self(tree_rows(tokens, None, 0, count, device=self._model.device), RunningCache(count), last_only=True)
        cache = RunningCache(count)
        self(tree_rows(tokens[:cut], None, 0, count, device=self._model.device), cache)
        parts = self(tree_rows(tokens[cut:], None, cut, count, device=self._model.device), cache, last_only=True)
        spread = whole.float().std().clamp_min(1e-12)
        return bool(((whole - parts).float().abs().max() / spread) < CLOSE)


@torch.inference_mode()
def running_times(forward: RunningForward, device: torch.device, repeats: int = 7) -> StepTimes:
    """Times of a step; its length of context hardly matters to a running state."""
    cache = RunningCache(256)
    times = []
    for position in range(repeats + 1):
        begun = time.perf_counter()
        forward(tree_rows([0], None, position, cache.slots, device=device), cache).to("cpu")
        times.append((time.perf_counter() - begun) * 1e3)
    plain = statistics.median(times[1:])  # the first call prepares kernels
    return StepTimes((plain, plain), (plain,), 0.0)
