"""Models for tests of the engine: a table of logits, and tiny random transformers of several families."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from inference.draft_length import RoundTimes
from inference.drafters.base import Draft
from inference.drafters.offered import Offer, Offered
from inference.drafting import Drafting, Learned
from inference.engine import Engine
from inference.exact import Width, fast_width
from inference.kv_cache import KVCache
from inference.measure import StepTimes
from inference.model import ReferenceForward
from inference.sampling import Sampler
from inference.settings import Control, Sampling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.drafters.base import Drafter
    from inference.engine import Outcome
    from inference.model import Forward
    from inference.rows import Rows

CPU = torch.device("cpu")
VOCABULARY = 128
GREEDY = Sampling(temperature=0)
WARM = Sampling(temperature=0.8, top_p=1.0)


class ToyForward:
    """Logits from a table: row depends on the last two tokens that the row can see. Writes the tokens as keys."""

    def __init__(self, vocabulary: int = 16, seed: int = 0, spread: float = 2.0) -> None:
        generator = np.random.default_rng(seed)
        self.table = (generator.standard_normal((vocabulary, vocabulary, vocabulary)) * spread).astype(np.float32)

    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        cache.aim(rows.slots, rows.span)
        written = rows.tokens.float()[None, None, :, None]
        keys, _ = cache.update(written, written, 0)
        seen = keys[0, 0, :, 0].long()
        logits = []
        for row in range(rows.used):
            visible = seen[rows.mask[row]]
            # The cache keeps tokens in order of their position along any path.
            before = int(visible[-2]) if len(visible) > 1 else 0
            logits.append(torch.from_numpy(self.table[before, int(rows.tokens[row])]))
        stacked = torch.stack(logits)
        return stacked[-1:] if last_only else stacked


class FixedK:
    """Plans the same K for each round and keeps the outcomes."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.outcomes: list[Outcome] = []

    def plan(self, ids: Sequence[int], largest: int) -> int:
        return min(self.k, largest)

    def record(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


class Poisoned:
    """A drafter whose tokens come from a rule of its own, whatever the model would say."""

    name = "poisoned"

    def __init__(self, rule: Callable[[Sequence[int], int], int]) -> None:
        self._rule = rule

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        tokens: list[int] = []
        for _ in range(k):
            tokens.append(self._rule([*ids, *tokens], len(tokens)))
        return Draft.chain(tokens)


def tiny_model(family: str, seed: int = 0, **changes: Any) -> Any:
    """A float32 model of a family with random weights: llama, qwen2, gemma3 (sliding layers, window 8)."""
    import transformers

    shape: dict[str, Any] = {
        "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 1024,
        "eos_token_id": None, "bos_token_id": None, "pad_token_id": 0,
    }
    if family == "gemma3":
        shape |= {
            "head_dim": 16, "num_hidden_layers": 4, "sliding_window": 8,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
        }
    kinds = {"llama": "Llama", "qwen2": "Qwen2", "gemma3": "Gemma3Text", "qwen3": "Qwen3", "mistral": "Mistral"}
    config = getattr(transformers, kinds[family] + "Config")(**{**shape, **changes})
    config._attn_implementation = "sdpa"
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.25)  # far from uniform, so that a wrong row changes the text
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.float().eval()


def automatic(
    *drafters: Drafter, preset: str = "", control: Control | None = None, trees: bool = False
) -> Drafting:
    """The real planner over these drafters, on made-up times in which drafts are cheap: it uses many lengths."""
    times = StepTimes((10.0, 11.0), tuple(10.0 + 0.1 * k for k in range(64 if trees else 9)), 0.0)
    offered = Offered()
    for drafter in drafters:
        offered.add(Offer(drafter, 1.0))
    learned = Learned(RoundTimes(times))
    return Drafting(offered, preset or drafters[0].name, learned, control or Control(), trees=trees)


def engine_for(forward: Forward, width: Width | None = None, context: int = 1024) -> Engine:
    return Engine(forward, KVCache(context, 160), width or fast_width(64), CPU)


def write(
    engine: Engine,
    prompt: Sequence[int],
    drafter: Drafter,
    planner: Any,
    sampling: Sampling = GREEDY,
    count: int = 200,
    ends: frozenset[int] = frozenset(),
    seed: int = 7,
) -> list[int]:
    """Prefill and decode; checks after each round that the cache is one behind the tokens."""
    for _ in engine.prefill(prompt, lambda: False):
        pass
    written: list[int] = []
    sampler = Sampler(sampling, seed, prompt)
    for outcome in engine.decode(
        prompt, sampler, drafter, planner, lambda token: "end" if token in ends else None, count
    ):
        written.extend(outcome.tokens)
        assert engine.cache.length == len(prompt) + len(written) - 1
        assert list(engine.ids) == [*prompt, *written][:-1]
    return written


def reference(model: Any) -> ReferenceForward:
    return ReferenceForward(model)
