"""The reference forward: transformers' own modules, called through public arguments only (design D5).

Loads a checked folder, and turns rows and a cache into logits. Knows nothing of drafts, sampling or text.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch

from inference import freeing, llama_like
from inference.models import contents
from inference.quantize import targets
from inference.rows import inside_window, slot_positions
from inference.transformers_loading import read_config, read_model, read_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inference.kv_cache import KVCache
    from inference.rows import Rows
    from inference.weights import Weights


class Forward(Protocol):
    """What the loop needs of a model: one pass over rows, through the cache."""

    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        """Logits [rows.used, vocabulary], or [1, vocabulary] of the last used row."""
        ...


@dataclass(frozen=True, slots=True)
class TextModel:
    """A loaded target with all that belongs to it. ``model`` is a module in evaluation mode, transformers' or like it.

    ``parameters`` is the number of weights, shared ones counted once; ``vocabulary`` the columns of the logits,
    padding included. The decoder takes the module apart, so they are counted at load. ``weights`` reads those that are
    not there yet; None when all are.
    """

    model: Any
    tokenizer: Any
    name: str
    device: torch.device
    dtype: torch.dtype
    parameters: int
    vocabulary: int
    weights: Weights | None = None

    @property
    def config(self) -> Any:
        """The configuration of the text part (a multimodal model nests it)."""
        return self.model.config.get_text_config()


class ReferenceForward:
    """Runs rows through a transformers model with 4-D masks, explicit positions and our cache."""

    kernels = "reference"

    def __init__(self, model: Any) -> None:
        parameters = inspect.signature(type(model).forward).parameters
        # The argument is called `cache` from transformers 5.24 on.
        self._cache_argument = "cache" if "cache" in parameters else "past_key_values"
        self._model = model
        config = model.config.get_text_config()
        self._window: int | None = getattr(config, "sliding_window", None)
        self._chunk: int | None = getattr(config, "attention_chunk_size", None)
        kinds = getattr(config, "layer_types", None) or []
        self._kinds = tuple(sorted(set(kinds)))
        self._additive = config._attn_implementation == "eager"  # noqa: SLF001 - no public name tells which is in use
        self._device = model.device
        self._dtype = model.dtype

    @torch.inference_mode()
    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        """Logits [rows.used, vocabulary] in the model's precision; ``last_only`` gives [1, vocabulary]."""
        cache.aim(rows.slots, rows.span)
        keep = rows.tokens.new_tensor([rows.used - 1]) if last_only else 0
        output = self._model(
            input_ids=rows.tokens[None],
            attention_mask=self._masks(rows),
            position_ids=rows.positions[None],
            use_cache=True,
            logits_to_keep=keep,
            **{self._cache_argument: cache},
        )
        logits: torch.Tensor = output.logits[0]
        return logits if last_only else logits[: rows.used]

    def _masks(self, rows: Rows) -> torch.Tensor | dict[str, torch.Tensor]:
        if len(self._kinds) > 1:
            return {kind: self._mask(rows, kind) for kind in self._kinds}
        # Models of one kind may leave layer_types out; a window then applies to every layer.
        only = self._kinds[0] if self._kinds else ("sliding_attention" if self._window else "full_attention")
        return self._mask(rows, only)

    def _mask(self, rows: Rows, kind: str) -> torch.Tensor:
        mask = rows.mask
        if kind == "sliding_attention" and self._window:
            mask = inside_window(rows, self._window)
        elif kind == "chunked_attention" and self._chunk:
            mask = mask & (rows.positions[:, None] // self._chunk == slot_positions(rows) // self._chunk)
            mask[:, 0] |= ~mask.any(1)  # a padding row must see something, or its softmax is NaN
        if self._additive:
            mask = torch.zeros_like(mask, dtype=self._dtype).masked_fill_(~mask, torch.finfo(self._dtype).min)
        return mask[None, None]


def is_recurrent(model: Any) -> bool:
    """Whether some layer keeps a running state that cannot be cut back to an earlier token."""
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or [])
    # transformers' own mark has no public name, and not every such model carries it.
    return bool(getattr(model, "_is_stateful", False) or kinds & {"linear_attention", "mamba", "recurrent", "conv"})


def load_text_model(
    folder: Path,
    name: str,
    dtype: torch.dtype,
    device: torch.device,
    weights: str = "full",
    is_filled_later: Callable[[Any], bool] = lambda _: False,
) -> TextModel:
    """Load a checked folder. Every failure is a Problem; no weight is left at its random start.

    With int8 ``weights`` it stays on the CPU, from where it is quantized onto the device; those of bitsandbytes are
    quantized here. On the CPU weights of full precision may be left to be read one by one, where ``is_filled_later``
    says so of the module.
    """
    quantized = targets.configuration(weights, dtype)
    empty = None
    if device.type == "cpu" and weights == "full":
        empty = llama_like.empty_model(folder, name, contents.read(folder / contents.CONFIG, name), dtype)
    if empty is not None and not is_filled_later(empty[0]):
        empty = None
    config = read_config(folder, name) if empty is None else None
    tokenizer = read_tokenizer(folder, name, config)
    freeing.trim()  # making a tokenizer takes several times what it keeps
    model, reader = empty or (read_model(folder, name, config, dtype, quantized, device), None)
    model = model.eval().requires_grad_(False)
    return TextModel(
        model=model if reader or quantized is not None or weights == targets.OURS else model.to(device),
        tokenizer=tokenizer,
        name=name,
        device=device,
        dtype=dtype,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        vocabulary=int(model.get_output_embeddings().weight.shape[0]),
        weights=reader,
    )
