"""A pass through all layers in one call of the compiled code, for models whose products are all ours.

``taken`` says whether it takes a model. Holds the memory that the compiled side points into.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from inference.native import library
from inference.native.products import KINDS, LowBit
from inference.rows import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from inference.kv_cache import KVCache

LARGEST_HEAD = 512

_long, _float, _pointer = ctypes.c_long, ctypes.c_float, ctypes.c_void_p


class _Part(ctypes.Structure):
    _fields_ = [
        *((name, _long) for name in ("kind", "outs", "groups", "per")),
        *((name, _pointer) for name in ("weights", "scales", "offsets", "table")),
        ("divisor", _float),
    ]


class _Matrix(ctypes.Structure):
    _fields_ = [
        *((name, _long) for name in ("count", "outs", "into")),
        ("parts", ctypes.POINTER(_Part)),
        ("bias", _pointer),
    ]


class _Layer(ctypes.Structure):
    _fields_ = [
        *((name, _Matrix) for name in ("qkv", "output", "gate_up", "down")),
        *((name, _pointer) for name in ("before_attention", "before_mlp", "query_norm", "key_norm")),
        ("mask", _long),
    ]


class _Model(ctypes.Structure):
    _fields_ = [
        *((name, _long) for name in ("layers", "hidden", "heads", "key_heads", "head_dim", "inner")),
        *((name, _float) for name in ("eps", "norm_eps", "query_eps", "scale")),
        ("layer", ctypes.POINTER(_Layer)),
        ("norm", _pointer),
        ("head", _Matrix),
    ]


_question = ctypes.CFUNCTYPE(ctypes.c_int)


class _Pass(ctypes.Structure):
    _fields_ = [
        *((name, _long) for name in ("rows", "used", "first", "span", "slots")),
        *((name, _pointer) for name in ("x", "keys", "values", "turn")),
        ("masks", ctypes.POINTER(_pointer)),
        *((name, ctypes.c_int) for name in ("threads", "last_only")),
        ("given_up", _question),
    ]


def taken(model: Any) -> bool:
    """Whether the compiled pass computes this model, whose matrices are joined: our products, float32, SiLU."""
    layer = model.model.layers[0]
    matrices = [model.lm_head, layer.self_attn.qkv_proj, layer.self_attn.o_proj]
    matrices += [layer.mlp.gate_up_proj, layer.mlp.down_proj]
    head_dim = layer.self_attn.head_dim
    return (
        all(parts(matrix) is not None for matrix in matrices)
        and model.model.norm.weight.dtype == torch.float32
        and (type(layer.mlp.act_fn) is nn.SiLU or type(layer.mlp.act_fn) is _silu())
        and head_dim % 8 == 0
        and head_dim <= LARGEST_HEAD
    )


def parts(matrix: Any) -> Sequence[torch.Tensor | LowBit] | None:
    """What the products of a layer take, in the order of its outputs; None where they are not ours."""
    if getattr(matrix, "is_native", False):
        dense: torch.Tensor = matrix.dense()
        return [dense]
    return getattr(matrix, "native", None) or None


class Layers:
    """The layers of one model. ``windows`` is what each layer sees, None all; a mask is needed for each."""

    def __init__(self, model: Any, windows: Sequence[int | None]) -> None:
        body, config = model.model, model.config
        attention, mlp = body.layers[0].self_attn, body.layers[0].mlp
        self._keep: list[Any] = []
        self._windows = list(dict.fromkeys(windows))
        self._vocabulary: int = model.lm_head.out_features
        self._key_heads, self._head_dim = config.num_key_value_heads, attention.head_dim
        layers = (_Layer * len(windows))(
            *(self._layer(*both) for both in zip(body.layers, map(self._windows.index, windows), strict=True))
        )
        query_norm = getattr(attention, "q_norm", None)
        self._model = _Model(
            len(windows),
            config.hidden_size,
            config.num_attention_heads,
            config.num_key_value_heads,
            attention.head_dim,
            mlp.down_proj.in_features,
            body.layers[0].input_layernorm.variance_epsilon,
            body.norm.variance_epsilon,
            query_norm.variance_epsilon if query_norm is not None else 0.0,
            attention.scaling,
            layers,
            self._at(body.norm.weight),
            self._matrix(model.lm_head),
        )
        self._keep.append(layers)

    def __call__(
        self,
        x: torch.Tensor,
        turn: torch.Tensor,
        masks: Mapping[int | None, torch.Tensor | None],
        cache: KVCache,
        *,
        used: int,
        first: int,
        span: int,
        last_only: bool,
        given_up: Callable[[], bool] | None = None,
    ) -> torch.Tensor:
        """Logits float32 [used rows, or 1; vocabulary] of embeddings ``x`` [rows, hidden], which are overwritten.

        ``turn`` [rows, 2, head_dim] holds cosines and sines with their signs, ``masks`` what rows may see of the first
        ``span`` slots, by window, bool [rows, span], None for all. ``given_up`` is asked between layers; where it says
        yes, Interrupted is raised. Raises MemoryError.
        """
        keys, values = cache.stacks
        logits = torch.empty(1 if last_only else used, self._vocabulary)
        pointers = [masks[window] for window in self._windows]
        seen = (_pointer * len(pointers))(*(None if mask is None else mask.data_ptr() for mask in pointers))
        what = _Pass(
            len(x),
            used,
            first,
            span,
            cache.slots,
            x.data_ptr(),
            keys.data_ptr(),
            values.data_ptr(),
            turn.data_ptr(),
            seen,
            torch.get_num_threads(),
            last_only,
            _question() if given_up is None else _question(given_up),
        )
        done = _forward()(ctypes.byref(self._model), ctypes.byref(what), logits.data_ptr())
        if done < 0:
            raise Interrupted
        if not done:
            raise MemoryError(f"a pass of {len(x)} rows over {span} slots")
        return logits

    def _layer(self, layer: Any, mask: int) -> _Layer:
        attention, mlp = layer.self_attn, layer.mlp
        norms = [getattr(attention, name, None) for name in ("q_norm", "k_norm")]
        return _Layer(
            *map(self._matrix, (attention.qkv_proj, attention.o_proj, mlp.gate_up_proj, mlp.down_proj)),
            self._at(layer.input_layernorm.weight),
            self._at(layer.post_attention_layernorm.weight),
            *(None if norm is None else self._at(norm.weight) for norm in norms),
            mask,
        )

    def _matrix(self, matrix: Any) -> _Matrix:
        found = parts(matrix)
        assert found is not None
        made = (_Part * len(found))(*map(self._part, found))
        self._keep.append(made)
        bias = None if matrix.bias is None else self._at(matrix.bias.float())
        return _Matrix(len(made), matrix.out_features, matrix.in_features, made, bias)

    def _part(self, part: torch.Tensor | LowBit) -> _Part:
        if isinstance(part, torch.Tensor):
            kind = list(KINDS).index(part.dtype)
            return _Part(kind, len(part), 0, 0, self._at(part), None, None, None, 1.0)
        words, scales, offsets, table = (None if one is None else self._at(one) for one in part.parts)
        kind = (32 if part.is_even else 16) + part.bits
        return _Part(kind, part.rows, part.groups, part.per, words, scales, offsets, table, part.divisor)

    def _at(self, tensor: torch.Tensor) -> int:
        """Where a tensor's numbers lie, which are kept there."""
        tensor = tensor.detach().contiguous()
        self._keep.append(tensor)
        return tensor.data_ptr()


@cache
def _silu() -> type:
    """Transformers' own name for it."""
    from transformers.activations import ACT2FN

    return type(ACT2FN["silu"])


@cache
def _forward() -> Any:
    function = library.loaded().forward
    function.argtypes = [_pointer] * 3
    function.restype = ctypes.c_int
    return function
