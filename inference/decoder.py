"""The fast forward: one short decoder for the Llama-like families, the same code for target and twin (design D5).

Takes a module of a known family apart once, transformers' or ours, joins the matrices that share an input, and runs
rows through our cache with few, large operations. Tests hold it to the reference forward. Knows nothing of drafts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from inference.linears import StoredRows, join, packed_rows
from inference.llama_like import LlamaLike
from inference.native import layers, products
from inference.rows import Interrupted, inside_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from inference.kv_cache import KVCache
    from inference.rows import Rows
    from inference.weights import Weights

FAMILIES = frozenset({"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"})
"""Models whose blocks this decoder computes. Others look alike and differ: scaled residuals, norms elsewhere."""

JOINED: Mapping[str, tuple[str, ...]] = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
}
"""What the joined matrices are called in the module, and the ones they are made of."""


FEW_ROWS = 16
"""Passes of up to this many rows are drafts and steps, where the number of operations is what counts."""


def is_of_family(model: Any) -> bool:
    """Whether this is a module of one of the families, ours or transformers' own."""
    # A class of that name from a model's own code may compute something else.
    is_theirs = type(model).__name__ in FAMILIES and type(model).__module__.startswith("transformers.")
    return is_theirs or type(model) is LlamaLike


def refusal(model: Any) -> str | None:
    """Which part of a model only the reference forward can compute, in a word; None when there is none."""
    if not is_of_family(model):
        return "architecture"
    if any(type(layer) is not nn.Linear for layer in _matrices(model)):
        return "matrices"
    # Frequencies that depend on the length of the text cannot be tabled by position.
    rotary = model.model.rotary_emb
    if rotary.rope_type in ("dynamic", "longrope"):
        return "rotary"
    if 2 * rotary.inv_freq.numel() != model.model.layers[0].self_attn.head_dim:
        return "rotary"
    return None


def _matrices(model: Any) -> Iterator[nn.Module]:
    for layer in model.model.layers:
        attention, mlp = layer.self_attn, layer.mlp
        yield from (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
        yield from (mlp.gate_proj, mlp.up_proj, mlp.down_proj)
    yield model.lm_head


@torch.inference_mode()
def pack(model: Any, weights: Weights | None = None) -> Iterator[tuple[int, int]]:
    """Turn a model's matrices into joined and packed ones, in place, layer by layer; yield (done, total).

    Each layer's own copies are let go as soon as they are packed; ``weights`` reads those that are not there yet.
    A head that is the embedding becomes it too. transformers cannot run the model afterwards.
    """
    is_embedding = model.lm_head.weight is model.model.embed_tokens.weight
    dtype = model.model.norm.weight.dtype
    if weights is not None:
        weights.fill(model.lm_head)
    head = model.lm_head.weight
    model.lm_head = join([model.lm_head], dtype)
    if is_embedding and head.dtype != dtype:
        model.model.embed_tokens = StoredRows(head, dtype)
    elif is_embedding and (rows := packed_rows(model.lm_head, head)) is not None:
        model.model.embed_tokens = rows
    del head
    places = [part for layer in model.model.layers for part in (layer.self_attn, layer.mlp)]
    for done, part in enumerate(places):
        yield done, len(places)
        if weights is not None:
            weights.fill(part)
        for name, parts in JOINED.items():
            if hasattr(part, parts[0]):
                setattr(part, name, join([getattr(part, old) for old in parts], dtype))
                for old in parts:
                    delattr(part, old)
        last = "o_proj" if hasattr(part, "o_proj") else "down_proj"
        setattr(part, last, join([getattr(part, last)], dtype))
    if weights is not None:
        weights.fill(model)
    embedding = model.model.embed_tokens
    if type(embedding) is nn.Embedding and embedding.weight.dtype != dtype:
        model.model.embed_tokens = StoredRows(embedding.weight, dtype)
    # The file that was loaded stays in memory while one tensor of it lives: the others get memory of their own.
    for tensor in chain(model.parameters(), model.buffers()) if weights is None else ():
        if tensor.device.type == "cpu":
            tensor.data = tensor.data.clone()
    yield len(places), len(places)


class _Norm:
    """Root mean square norm over the last dimension."""

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        self._weight = weight
        self._eps = eps
        # On the CPU PyTorch makes a root mean square norm of nine operations and a layer norm of one. A row beside its
        # negative has mean zero, so its layer norm is the row's root mean square norm.
        self._both = torch.stack([weight, weight]) if weight.device.type == "cpu" else None
        self._signs = weight.new_tensor([[1.0], [-1.0]])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self._both is None or x.shape[0] > FEW_ROWS:
            return torch.rms_norm(x, self._weight.shape, self._weight, self._eps)
        both = x.unsqueeze(-2) * self._signs
        return torch.layer_norm(both, self._both.shape, self._both, None, self._eps).select(-2, 0)


@dataclass(frozen=True, slots=True)
class _Layer:
    """One block. ``window`` is how many positions it sees, None all; norms of queries and keys may be missing."""

    window: int | None
    before_attention: _Norm
    qkv: Callable[[torch.Tensor], torch.Tensor]
    query_norm: _Norm | None
    key_norm: _Norm | None
    output: Callable[[torch.Tensor], torch.Tensor]
    before_mlp: _Norm
    gate_up: Callable[[torch.Tensor], torch.Tensor]
    down: Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Features:
    """What heads draft from, [rows, hidden] each.

    ``last`` is the last hidden state behind the final norm; ``entering`` what enters the watched layers, in the order
    in which they were named.
    """

    last: torch.Tensor
    entering: tuple[torch.Tensor, ...]


def eagle3_layers(count: int) -> tuple[int, int, int]:
    """The layers of a target with ``count`` layers whose inputs EAGLE-3 takes."""
    return 2, count // 2, count - 3


class Decoder:
    """Runs rows through a model whose matrices are joined, by ``pack`` or by the build of the twin.

    ``kernels`` names what its bits depend on.
    """

    def __init__(self, model: Any) -> None:
        body, config = model.model, model.config
        attention = body.layers[0].self_attn
        self._heads = config.num_attention_heads
        self._key_heads = config.num_key_value_heads
        self._head_dim = attention.head_dim
        self._embed = body.embed_tokens.forward
        self._like = body.norm.weight
        self._rotary = body.rotary_emb
        self._activation = body.layers[0].mlp.act_fn.forward
        self._norm = _norm(body.norm)
        self._head = model.lm_head.forward
        self._head_alone = _alone(model.lm_head)
        self.kernels = _kernels(model.lm_head)
        self._layers = [_layer(layer, _window(config, index)) for index, layer in enumerate(body.layers)]
        # For the one row of a plain step in exact mode, whose bits must be those it has in a draft.
        self._layers_alone = [_with_rows_alone(*both) for both in zip(self._layers, body.layers, strict=True)]
        self._windows = {layer.window for layer in self._layers}
        self._table = self._like.new_zeros(0, 2, self._head_dim)
        self._compiled = None
        if layers.taken(model):
            self._compiled = layers.Layers(model, [layer.window for layer in self._layers])
            self.kernels += ", compiled"
        self._watched: tuple[int, ...] | None = None
        self.features: Features | None = None

    def watch(self, layers: Sequence[int] | None) -> None:
        """Keep the ``features`` of each pass from now on, with what enters these layers; None keeps none."""
        for layer in layers or ():
            if not 0 <= layer < len(self._layers):
                raise ValueError(f"there is no layer {layer} among {len(self._layers)}")
        self._watched = None if layers is None else tuple(layers)
        self.features = None

    def reserve(self, cache: KVCache) -> None:
        """Make the cache's buffers."""
        like = self._like
        cache.reserve(len(self._layers), self._key_heads, self._head_dim, like.dtype, like.device)

    @torch.inference_mode()
    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        """Logits [rows.used, vocabulary] in the model's precision; ``last_only`` gives [1, vocabulary]."""
        heads, key_heads, used = self._heads, self._key_heads, rows.used
        self.reserve(cache)
        if self._compiled is not None and self._watched is None:
            return self._compiled(
                self._embed(rows.tokens),
                self._turns(rows),
                {window: self._seen(rows, window) for window in self._windows},
                cache,
                used=used,
                first=rows.first,
                span=rows.span,
                last_only=last_only,
                given_up=rows.given_up,
            )
        cos, sin = torch.split(self._turns(rows), 1, 1)
        rotary = cos, sin
        masks = {window: self._mask(rows, window) for window in self._windows}
        x = self._embed(rows.tokens)
        count = x.shape[0]
        alone = count == 1 and not rows.whole
        watched = self._watched
        entering: dict[int, torch.Tensor] = {}
        for index, (layer, (new_keys, new_values, keys, values)) in enumerate(
            zip(
                self._layers_alone if alone else self._layers, cache.layers_at(rows.first, used, rows.span), strict=True
            )
        ):
            if watched is not None and index in watched:
                entering[index] = x[:used].clone()
            if rows.given_up is not None and rows.given_up():
                raise Interrupted
            # Queries and keys of a row lie side by side and are turned together.
            qkv = layer.qkv(layer.before_attention(x)).view(count, heads + 2 * key_heads, self._head_dim)
            turned = self._turn(qkv[:, : heads + key_heads], layer, rotary)
            new_keys.copy_(turned[:used, heads:].transpose(0, 1))
            new_values.copy_(qkv[:used, heads + key_heads :].transpose(0, 1))
            queries, mask = turned[:, :heads], masks[layer.window]
            if last_only and count > FEW_ROWS and watched is None and layer is self._layers[-1]:
                # Of a chunk of the prompt only the last row goes on; the others have left their keys and values.
                x, queries = x[used - 1 : used], queries[used - 1 : used]
                mask = None if mask is None else mask[used - 1 : used]
            x = layer.output(self._attend(queries, keys, values, mask)).add_(x)
            gate, up = layer.gate_up(layer.before_mlp(x)).chunk(2, -1)
            x = layer.down(self._activation(gate).mul_(up)).add_(x)
        head = self._head_alone if alone else self._head
        if watched is not None:
            last = self._norm(x[:used])
            self.features = Features(last, tuple(entering[index] for index in watched))
            x = last[-1:] if last_only else last
        else:
            x = self._norm(x[:used][-1:] if last_only else x[:used])
        logits: torch.Tensor = head(x)
        return logits

    def _turn(self, both: torch.Tensor, layer: _Layer, rotary: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Rotary embedding of queries and keys [rows, heads, head_dim], behind their norms where there are some."""
        if layer.query_norm is not None and layer.key_norm is not None:
            heads = self._heads
            both = torch.cat([layer.query_norm(both[:, :heads]), layer.key_norm(both[:, heads:])], 1)
        cos, sin = rotary
        return torch.addcmul(both * cos, both.roll(self._head_dim // 2, -1), sin)

    def _attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Attention of queries [rows, heads, head_dim] over [key heads, span, head_dim]: [rows, heads * head_dim].

        Heads that share keys are rows of one query, so that keys and values are read once. With many rows that no
        longer pays.
        """
        count = queries.shape[0]
        if count > FEW_ROWS:
            heads = queries.transpose(0, 1)[None]
            attended = functional.scaled_dot_product_attention(heads, keys[None], values[None], mask, enable_gqa=True)
            return attended[0].transpose(0, 1).reshape(count, -1)
        grouped = queries.reshape(count, self._key_heads, -1, self._head_dim).transpose(0, 1)
        grouped = grouped.reshape(1, self._key_heads, -1, self._head_dim)
        attended = functional.scaled_dot_product_attention(grouped, keys[None], values[None], mask)
        return attended.view(self._key_heads, count, -1, self._head_dim).transpose(0, 1).reshape(count, -1)

    def _mask(self, rows: Rows, window: int | None) -> torch.Tensor | None:
        """What each query may see, [queries, span] to be added to its scores; None for all."""
        seen = self._seen(rows, window)
        if seen is None:
            return None
        added = torch.zeros(seen.shape, dtype=self._like.dtype, device=seen.device)
        added.masked_fill_(~seen, float("-inf"))
        return added if len(added) > FEW_ROWS else added.repeat_interleave(self._heads // self._key_heads, 0)

    @staticmethod
    def _seen(rows: Rows, window: int | None) -> torch.Tensor | None:
        """What each row may see, bool [rows, span]; None for all."""
        hides = window is not None and rows.span > window
        if rows.whole and not hides:
            return None
        return inside_window(rows, window) if window is not None and hides else rows.mask

    def _turns(self, rows: Rows) -> torch.Tensor:
        """Cosines and sines of the rows' positions, [rows, 2, head_dim].

        The sine's first half is negative, so that turning a pair needs no sign but a swap of the halves.
        """
        needed = rows.first + rows.used
        if needed > len(self._table):
            positions = torch.arange(1 << needed.bit_length(), device=self._like.device)
            cos, sin = (part[0] for part in self._rotary(self._like, positions[None]))
            half = self._head_dim // 2
            self._table = torch.stack([cos, torch.cat([-sin[:, :half], sin[:, half:]], -1)], 1)
        found: torch.Tensor = self._table[rows.positions]
        return found


def _kernels(head: Any) -> str:
    """What the products' bits depend on, as far as it is not PyTorch."""
    if getattr(head, "is_native", False):
        return f"decoder native {products.version()}"
    return "decoder packed" if getattr(head, "is_packed", False) else "decoder"


def _window(config: Any, index: int) -> int | None:
    """How many positions a layer sees; a window applies to all layers where their kinds are not given."""
    kinds = getattr(config, "layer_types", None)
    window: int | None = getattr(config, "sliding_window", None)
    return window if kinds is None or kinds[index] == "sliding_attention" else None


def _norm(module: Any) -> _Norm:
    return _Norm(module.weight, module.variance_epsilon)


def _layer(layer: Any, window: int | None) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    query_norm, key_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return _Layer(
        window=window,
        before_attention=_norm(layer.input_layernorm),
        qkv=attention.qkv_proj.forward,
        query_norm=None if query_norm is None else _norm(query_norm),
        key_norm=None if key_norm is None else _norm(key_norm),
        output=attention.o_proj.forward,
        before_mlp=_norm(layer.post_attention_layernorm),
        gate_up=mlp.gate_up_proj.forward,
        down=mlp.down_proj.forward,
    )


def _with_rows_alone(layer: _Layer, module: Any) -> _Layer:
    attention, mlp = module.self_attn, module.mlp
    return replace(
        layer,
        qkv=_alone(attention.qkv_proj),
        output=_alone(attention.o_proj),
        gate_up=_alone(mlp.gate_up_proj),
        down=_alone(mlp.down_proj),
    )


def _alone(linear: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    """The product of a single row in exact mode; a draft's own bits are free, so the twin's matrices have none."""
    product: Callable[[torch.Tensor], torch.Tensor] = getattr(linear, "alone", linear.forward)
    return product
