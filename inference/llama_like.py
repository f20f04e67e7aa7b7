"""The Llama-like families without transformers' modules, whose imports take longer than all else of a load.

Modules with the names of the files' weights, for the decoder to take apart; ``forward`` computes what transformers
does, to the bit (tests). Whatever is not plainly of a family here is left to transformers, faults included.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn
from torch.nn import functional

from inference.linears import keeps_stored
from inference.messages import Problem
from inference.models import contents
from inference.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GENERATION = "generation_config.json"

SIZES = (
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "max_position_embeddings",
)
"""What a configuration must say itself."""

ELSEWHERE = (
    "auto_map", "quantization_config", "partial_rotary_factor", "original_max_position_embeddings", "per_layer_config",
)
"""What a configuration must not have: it makes another model of it, one that only transformers computes."""

ROTARY = ("default", "linear", "llama3", "yarn")
"""Frequencies that do not depend on the length of the text."""


@dataclass(frozen=True, slots=True)
class Family:
    """What a kind of model does with its configuration, as transformers' own class of it does.

    Biases are of queries, keys and values; of the output; of the MLP: always, never, or by the key that is named.
    ``windows`` says which layers may see a part only; ``end`` is the token that ends a reply where none is named.
    """

    inputs_bias: bool | str
    output_bias: bool | str
    mlp_bias: bool | str
    has_head_norms: bool = False
    windows: Literal["none", "all", "some"] = "none"
    end: int | None = None


FAMILIES = {
    "llama": Family("attention_bias", "attention_bias", "mlp_bias", end=2),
    "mistral": Family(False, False, False, windows="all", end=2),
    "qwen2": Family(True, False, False, windows="some"),
    "qwen3": Family("attention_bias", "attention_bias", False, has_head_norms=True, windows="some"),
}
"""By ``model_type``."""


@dataclass(slots=True)
class Config:
    """What a folder's config.json says, under transformers' names, what it leaves out filled in."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    tie_word_embeddings: bool
    inputs_bias: bool
    output_bias: bool
    mlp_bias: bool
    has_head_norms: bool
    sliding_window: int | None
    rope_parameters: dict[str, Any]
    eos_token_id: int | list[int] | None

    def get_text_config(self) -> Config:
        """Of the part that writes text: all of it."""
        return self

    def standardize_rope_params(self) -> None:
        """Transformers' functions ask for it first; it is done."""


def read_config(content: Mapping[str, Any]) -> Config | None:
    """From the content of a config.json; None where it is not plainly one of these families."""
    family = FAMILIES.get(str(content.get("model_type")))
    if family is None or any(content.get(key) is not None for key in ELSEWHERE):
        return None
    try:
        return _config(content, family)
    except (KeyError, TypeError, ValueError):
        return None


def empty_model(folder: Path, name: str, content: Mapping[str, Any], dtype: torch.dtype) -> tuple[Any, Weights] | None:
    """The folder's module in ``dtype`` without its weights, and what reads them; None where transformers must.

    That is also where the files hold more or less than its weights, or numbers that are none of a model's.
    """
    config = read_config(content)
    if config is None:
        return None
    try:
        model = LlamaLike(config, dtype)
        written = contents.read(folder / GENERATION, name) if (folder / GENERATION).is_file() else {}
        model.generation_config = SimpleNamespace(eos_token_id=_ends(written.get("eos_token_id")))
        return model, Weights(folder, name, model, keeps_stored)
    except (KeyError, TypeError, ValueError, Problem):
        return None


class LlamaLike(nn.Module):
    """The whole model, its matrices and norms on the meta device. ``generation_config`` names tokens that end."""

    generation_config: Any

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = config
        self.model = Body(config, dtype)
        self.lm_head = _linear(config.hidden_size, config.vocab_size, False, dtype)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

    def get_decoder(self) -> Body:
        """All but the head."""
        return self.model

    def get_output_embeddings(self) -> nn.Module:
        """The head."""
        return self.lm_head

    def forward(self, input_ids: torch.Tensor) -> Any:
        """``logits`` [texts, tokens, vocabulary]."""
        return SimpleNamespace(logits=self.lm_head(self.model(input_ids).last_hidden_state))


class Body(nn.Module):
    """Embeddings, layers and the last norm."""

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(
            config.vocab_size,
            config.hidden_size,
            _weight=torch.empty(config.vocab_size, config.hidden_size, dtype=dtype, device="meta"),
        )
        self.layers = nn.ModuleList(Layer(config, dtype) for _ in range(config.num_hidden_layers))
        self.norm = Norm(config.hidden_size, config.rms_norm_eps, dtype)
        self.rotary_emb = Rotary(config)

    def forward(self, input_ids: torch.Tensor, use_cache: bool = False) -> Any:
        """``last_hidden_state`` [texts, tokens, hidden] of whole texts of one length; nothing is cached."""
        hidden = self.embed_tokens(input_ids)
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        turns = self.rotary_emb(hidden, positions)
        mask = self._mask(positions[0])
        for layer in self.layers:
            hidden = layer(hidden, turns=turns, mask=mask)
        return SimpleNamespace(last_hidden_state=self.norm(hidden))

    def _mask(self, positions: torch.Tensor) -> torch.Tensor | None:
        """What each token sees; None for all before it."""
        window = self.config.sliding_window
        if window is None or len(positions) < window:
            return None
        back = positions[:, None] - positions
        return (back >= 0) & (back < window)


class Layer(nn.Module):
    """One block."""

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.self_attn = Attention(config, dtype)
        self.mlp = Mlp(config, dtype)
        self.input_layernorm = Norm(config.hidden_size, config.rms_norm_eps, dtype)
        self.post_attention_layernorm = Norm(config.hidden_size, config.rms_norm_eps, dtype)

    def forward(
        self, hidden: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor | None
    ) -> torch.Tensor:
        """[texts, tokens, hidden], as what comes in."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), turns, mask)
        added: torch.Tensor = self.mlp(self.post_attention_layernorm(hidden))
        return hidden + added


class Attention(nn.Module):
    """Grouped attention, with norms of queries and keys where the family has them."""

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.scaling = config.head_dim**-0.5
        self._groups = config.num_attention_heads // config.num_key_value_heads
        queries, keys = (count * config.head_dim for count in (config.num_attention_heads, config.num_key_value_heads))
        self.q_proj = _linear(config.hidden_size, queries, config.inputs_bias, dtype)
        self.k_proj = _linear(config.hidden_size, keys, config.inputs_bias, dtype)
        self.v_proj = _linear(config.hidden_size, keys, config.inputs_bias, dtype)
        self.o_proj = _linear(queries, config.hidden_size, config.output_bias, dtype)
        if config.has_head_norms:
            self.q_norm = Norm(config.head_dim, config.rms_norm_eps, dtype)
            self.k_norm = Norm(config.head_dim, config.rms_norm_eps, dtype)

    def forward(
        self, hidden: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor | None
    ) -> torch.Tensor:
        """[texts, tokens, hidden], as what comes in."""
        texts, tokens, _ = hidden.shape
        queries, keys, values = (
            part(hidden).view(texts, tokens, -1, self.head_dim) for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        if hasattr(self, "q_norm"):
            queries, keys = self.q_norm(queries), self.k_norm(keys)
        queries, keys = (_turn(part.transpose(1, 2), *turns) for part in (queries, keys))
        values = values.transpose(1, 2)
        grouped = self._groups > 1 and mask is None and self.head_dim <= 256
        if not grouped:
            keys, values = (part.repeat_interleave(self._groups, 1) for part in (keys, values))
        attended = functional.scaled_dot_product_attention(
            queries,
            keys,
            values,
            mask,
            is_causal=mask is None and tokens > 1,
            scale=self.scaling,
            enable_gqa=grouped,
        )
        output: torch.Tensor = self.o_proj(attended.transpose(1, 2).reshape(texts, tokens, -1))
        return output


class Mlp(nn.Module):
    """The gated one."""

    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        hidden, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = _linear(hidden, inner, config.mlp_bias, dtype)
        self.up_proj = _linear(hidden, inner, config.mlp_bias, dtype)
        self.down_proj = _linear(inner, hidden, config.mlp_bias, dtype)
        self.act_fn = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """As much as comes in."""
        output: torch.Tensor = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return output


class Norm(nn.Module):
    """Root mean square norm, reckoned in float32."""

    def __init__(self, size: int, eps: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, dtype=dtype, device="meta"), requires_grad=False)
        self.variance_epsilon = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """In the precision of what comes in."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * wide.to(x.dtype)


class Rotary(nn.Module):
    """Frequencies of the rotary embedding: no weights, so they are there from the start."""

    inv_freq: torch.Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.rope_type = config.rope_parameters["rope_type"]
        self._scaling = 1.0
        if self.rope_type == "default":
            exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float) / config.head_dim
            frequencies = 1.0 / config.rope_parameters["rope_theta"] ** exponents
        else:
            from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

            reckon: Any = ROPE_INIT_FUNCTIONS[self.rope_type]
            frequencies, self._scaling = reckon(config, None)
        self.register_buffer("inv_freq", frequencies, persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines [texts, tokens, head_dim] in the precision of ``x``."""
        angles = positions[..., None].float() * self.inv_freq
        both = torch.cat((angles, angles), -1)
        return (both.cos() * self._scaling).to(x.dtype), (both.sin() * self._scaling).to(x.dtype)


def _linear(inputs: int, outputs: int, bias: bool, dtype: torch.dtype) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias, device="meta", dtype=dtype)


def _turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of [texts, heads, tokens, head_dim]."""
    first, second = x.chunk(2, -1)
    return x * cos[:, None] + torch.cat((-second, first), -1) * sin[:, None]


def _config(content: Mapping[str, Any], family: Family) -> Config:
    """KeyError, TypeError or ValueError where something is left out, or is not what it should be."""
    sizes = {key: _size(content[key]) for key in SIZES}
    hidden, heads, layers = (sizes[key] for key in ("hidden_size", "num_attention_heads", "num_hidden_layers"))
    eps, tied = content["rms_norm_eps"], content.get("tie_word_embeddings", False)
    if type(eps) not in (int, float) or type(tied) is not bool or content.get("hidden_act", "silu") != "silu":
        raise ValueError("another kind")
    key_heads = heads if content["num_key_value_heads"] is None else _size(content["num_key_value_heads"])
    head_dim = content["head_dim"] if family.has_head_norms else content.get("head_dim", hidden // heads)
    head_dim = hidden // heads if head_dim is None else _size(head_dim)
    if hidden % heads or heads % key_heads or head_dim % 2:
        raise ValueError("sizes")
    return Config(
        **sizes,
        num_key_value_heads=key_heads,
        head_dim=head_dim,
        rms_norm_eps=eps,
        tie_word_embeddings=tied,
        inputs_bias=_bias(content, family.inputs_bias),
        output_bias=_bias(content, family.output_bias),
        mlp_bias=_bias(content, family.mlp_bias),
        has_head_norms=family.has_head_norms,
        sliding_window=_window(content, family, layers),
        rope_parameters=_rotary(content),
        eos_token_id=_ends(content.get("eos_token_id", family.end)),
    )


def _size(number: Any) -> int:
    if type(number) is not int or number < 1:
        raise ValueError(number)
    return number


def _bias(content: Mapping[str, Any], rule: bool | str) -> bool:
    found = content.get(rule, False) if isinstance(rule, str) else rule
    if type(found) is not bool:
        raise ValueError(found)
    return found


def _window(content: Mapping[str, Any], family: Family, layers: int) -> int | None:
    """How far back all layers see, None for all of the text; layers that differ are left to transformers."""
    if content.get("layer_types") not in (None, ["full_attention"] * layers):
        raise ValueError("kinds")
    if family.windows == "all":
        if content.get("layer_types") is not None:
            raise ValueError("kinds")
        return None if content["sliding_window"] is None else _size(content["sliding_window"])
    key = "use_sliding_window" if family.windows == "some" else "sliding_window"
    if content.get(key):
        raise ValueError("a window")
    return None


def _rotary(content: Mapping[str, Any]) -> dict[str, Any]:
    """Under the names of today; older files have the base and the scaling apart."""
    found = content.get("rope_scaling") or content.get("rope_parameters") or {}
    found = {"rope_theta": content.get("rope_theta", 10_000.0), **found}
    found.setdefault("rope_type", found.get("type", "default"))
    if found["rope_type"] not in ROTARY or "partial_rotary_factor" in found:
        raise ValueError("rotary")
    if type(found["rope_theta"]) not in (int, float) or found["rope_theta"] <= 0:
        raise ValueError("base")
    if found["rope_type"] in ("llama3", "yarn"):
        found.setdefault("original_max_position_embeddings", content["max_position_embeddings"])
    return found


def _ends(found: Any) -> int | list[int] | None:
    """The tokens that end a reply, as they are written."""
    if found is not None and not all(type(one) is int for one in (found if isinstance(found, list) else [found])):
        raise ValueError(found)
    ends: int | list[int] | None = found
    return ends
