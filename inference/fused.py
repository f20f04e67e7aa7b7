"""A step of few rows for CUDA: the fast forward with everything between its products fused, ten kernels a layer.

Takes a module that is taken apart (by decoder.pack or the build of the twin) and computes what the decoder computes,
with nothing that depends on the length of the text on the host, so that a graph can hold it (design D9). Knows
nothing of graphs, drafts or sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch.nn import functional

from inference.decoder import is_of_family
from inference.quantize.triton_launch import LARGEST_ROWS, trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference.kv_cache import KVCache
    from inference.quantize.triton_steps import Sight

HEAD_DIMS = (32, 64, 128, 256)
"""Sizes of a head that the kernels' tiles take."""

__all__ = ["LARGEST_ROWS", "FusedStep", "refusal"]


class Product(Protocol):
    """A matrix as a step uses it: rounded or plain rows in, parts to be added up out. ``bias`` is not yet in them."""

    rounded: bool
    bias: torch.Tensor | None

    def parts(self, x: Any) -> torch.Tensor:
        """[split, n, out] of rows [n, in], or of Activations where the matrix wants them rounded."""
        ...


class _Module:
    """A layer of full precision, bitsandbytes' included: its own product, bias and all, in one part."""

    rounded = False
    bias: torch.Tensor | None = None

    def __init__(self, module: Any) -> None:
        self._forward: Callable[[torch.Tensor], torch.Tensor] = module.forward

    def parts(self, x: Any) -> torch.Tensor:
        return self._forward(x)[None]


class _LowBit:
    """A layer of packed matrices: rounded rows in, the bias left to whoever adds the parts up."""

    rounded = True

    def __init__(self, module: Any) -> None:
        self.bias: torch.Tensor | None = module.bias
        self.parts: Callable[[Any], torch.Tensor] = module.product.parts


def refusal(model: Any, device: torch.device) -> str | None:
    """Why this model's step cannot be fused here, in a few words; None when it can."""
    if (missing := trouble(device)) is not None:
        return missing
    if not is_of_family(model):
        return "another architecture"
    attention, mlp = model.model.layers[0].self_attn, model.model.layers[0].mlp
    if not hasattr(attention, "qkv_proj") or not hasattr(mlp, "gate_up_proj"):
        return "its matrices are not joined"
    if attention.head_dim not in HEAD_DIMS or model.config.hidden_size % 32:
        return "sizes that the kernels do not take"
    if type(mlp.act_fn).__name__ not in ("SiLU", "SiLUActivation"):
        return "another activation"
    return None


@dataclass(frozen=True, slots=True)
class _Layer:
    window: int
    norm: torch.Tensor
    qkv: Product
    head_norms: tuple[torch.Tensor, torch.Tensor, float] | None
    output: Product
    mlp_norm: torch.Tensor
    gate_up: Product
    down: Product


class FusedStep:
    """Runs up to LARGEST_ROWS rows. ``positions`` is how many the table of the rotary embedding holds."""

    def __init__(self, model: Any, positions: int) -> None:
        body, config = model.model, model.config
        attention = body.layers[0].self_attn
        self.vocabulary: int = model.lm_head.out_features
        self.heads: int = config.num_attention_heads
        self.key_heads: int = config.num_key_value_heads
        self.head_dim: int = attention.head_dim
        self._scale = float(getattr(attention, "scaling", None) or self.head_dim**-0.5)
        self._embedding: torch.Tensor = body.embed_tokens.weight
        self._eps = float(body.norm.variance_epsilon)
        self._norm: torch.Tensor = body.norm.weight
        self._head = _product(model.lm_head)
        self._layers = [_layer(layer, _window(config, index)) for index, layer in enumerate(body.layers)]
        self._table = _rotary_table(body.rotary_emb, self._embedding.device, positions)

    def reserve(self, cache: KVCache) -> None:
        """Make the cache's buffers."""
        embedding = self._embedding
        cache.reserve(len(self._layers), self.key_heads, self.head_dim, embedding.dtype, embedding.device)

    @torch.inference_mode()
    def __call__(self, tokens: torch.Tensor, sight: Sight, span: int, cache: KVCache) -> torch.Tensor:
        """Logits [n, vocabulary] of tokens int64 [n]; attention looks at the first ``span`` slots at most."""
        from inference.quantize import triton_steps as steps

        x = functional.embedding(tokens, self._embedding)
        parts: torch.Tensor | None = None
        bias: torch.Tensor | None = None
        for index, layer in enumerate(self._layers):
            keys, values = (buffer[0] for buffer in cache.layer(index))
            normed = steps.norm(x, parts, bias, layer.norm, self._eps, layer.qkv.rounded)
            queries = steps.turn(
                layer.qkv.parts(normed), layer.qkv.bias, layer.head_norms, self._table, sight, keys, values, self.heads
            )
            attended = steps.attention(
                queries, keys, values, sight, span, layer.window, self._scale, layer.output.rounded
            )
            normed = steps.norm(
                x, layer.output.parts(attended), layer.output.bias, layer.mlp_norm, self._eps, layer.gate_up.rounded
            )
            gone = steps.gate(layer.gate_up.parts(normed), layer.gate_up.bias, x, layer.down.rounded)
            parts, bias = layer.down.parts(gone), layer.down.bias
        head = self._head
        logits = head.parts(steps.norm(x, parts, bias, self._norm, self._eps, head.rounded))
        whole = logits[0] if len(logits) == 1 else logits.sum(0)
        return whole if head.bias is None else whole + head.bias


def _product(module: Any) -> Product:
    if getattr(module, "product", None) is not None:
        return _LowBit(module)
    own: Product | None = getattr(module, "step_product", None)
    return _Module(module) if own is None else own


def _layer(layer: Any, window: int) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    query, key = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return _Layer(
        window=window,
        norm=layer.input_layernorm.weight,
        qkv=_product(attention.qkv_proj),
        head_norms=None if query is None or key is None else (query.weight, key.weight, float(query.variance_epsilon)),
        output=_product(attention.o_proj),
        mlp_norm=layer.post_attention_layernorm.weight,
        gate_up=_product(mlp.gate_up_proj),
        down=_product(mlp.down_proj),
    )


def _window(config: Any, index: int) -> int:
    """How many positions a layer sees, 0 for all."""
    kinds = getattr(config, "layer_types", None)
    window: int | None = getattr(config, "sliding_window", None)
    return (window or 0) if kinds is None or kinds[index] == "sliding_attention" else 0


@torch.inference_mode()
def _rotary_table(rotary: Any, device: torch.device, positions: int) -> torch.Tensor:
    """Cosines and sines float32 [positions, 2, head_dim / 2]."""
    like = torch.zeros(1, dtype=torch.float32, device=device)
    cos, sin = (part[0] for part in rotary(like, torch.arange(positions, device=device)[None]))
    half = cos.shape[-1] // 2
    return torch.stack([cos[:, :half], sin[:, :half]], 1).contiguous()
