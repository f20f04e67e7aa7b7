"""What a model will take of a memory, before it is loaded or fetched: from its configuration and file sizes alone.

In parts that can be drawn (target, twin, heads, cache, work space, graphs), against what others have and what is free;
where it does not fit, what would. Held to what loading really takes by tests. Free of torch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inference.messages import Notice, sentence
from inference.models import contents, folders
from inference.models.library import is_recurrent, text_part
from inference.native import library
from inference.settings import LARGEST_K

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BITS: Mapping[str, float] = {
    "float64": 64, "float32": 32, "bfloat16": 16, "float16": 16, "int8": 8.25, "nf4": 4.127, "float8": 8,
}
"""Of a weight in a matrix; int8 and nf4 with their scales. Embeddings and norms of those two keep 16 bits."""

TWIN_BITS: Mapping[str, float] = {
    "nf2": 2.25, "nf3": 3.25, "mixed3": 3.6, "affine3": 4.0, "nf4": 4.25, "affine4": 5.0,
}
"""Packed bits of each recipe, as they lie on a card."""

EVEN = ("affine3", "affine4")
"""Recipes that PyTorch's CPU kernel holds; it keeps four bits, a scale and a zero for each 32 weights of them."""

FAST = ("llama", "mistral", "qwen2", "qwen3")
"""What configurations call the families that our own decoder runs (decoder.py)."""

PRECISION, PRODUCTS = "precision", "products"
"""In the file of what was measured on this machine: what it works in, and which compiled products it has (native/)."""

SPARE = 130
STEP = 128
"""Slots behind the context, and what they are rounded up to (kv_cache.py)."""

CHUNK = 256
SHORTEST_CONTEXT = 1024
WORK_CPU = 15_000_000
"""Bytes for PyTorch's kernels and threads beside what a pass needs; measured on the starter and five tiny models."""
WORK_CUDA = 600_000_000
"""The driver's context, libraries and their work spaces."""
GRAPH_NODE = 40_000
"""Bytes of a layer in one captured pass."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What memory depends on. Counts of weights: ``embedding`` once, ``linear`` all matrices but embedding and head."""

    parameters: int
    embedding: int
    linear: int
    tied: bool
    layers: int
    cached_layers: int
    row: int
    """Numbers that a token leaves in the cache of one layer, keys and values together."""
    hidden: int
    widest: int
    vocabulary: int
    stored: str
    longest: int
    quantized: bool = False
    recurrent: bool = False
    head: int = 128
    """Numbers of one head's query, which the rotary table holds for each position."""
    fast: bool = False
    """Whether our own decoder runs it, which may keep matrices as they are stored."""

    @property
    def read(self) -> int:
        """Weights that a step multiplies with."""
        return self.linear + self.embedding


@dataclass(frozen=True, slots=True)
class Plan:
    """How it would be loaded. ``dtype`` as settings.ModelChoice or int8, nf4; ``twin`` a recipe, None without one.

    ``heads`` are the bytes of heads or a small model that drafts.
    """

    dtype: str = "bfloat16"
    twin: str | None = "nf3"
    context: int = 8192
    heads: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory models are loaded into, bytes: ``kind`` gpu or ram; ``index`` in the order of the bus."""

    kind: str
    name: str
    whole: int
    free: int
    index: int = 0


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a plan fits a memory. ``segments`` bytes by name: target, twin, heads, cache, work, graphs.

    ``others`` is what other programs have, ``left`` what would stay free (negative when it does not fit);
    ``remedies`` are plans that would fit, each with the sentence that offers it.
    """

    plan: Plan
    memory: Memory
    segments: tuple[tuple[str, int], ...]
    others: int
    left: int
    remedies: tuple[tuple[Notice, Plan], ...] = ()

    @property
    def needed(self) -> int:
        """Bytes in all."""
        return sum(size for _, size in self.segments)

    @property
    def fits(self) -> bool:
        """Whether it fits into what is free."""
        return self.left >= 0

    @property
    def notice(self) -> Notice:
        """The sentence that says so, with figures."""
        free = self.needed + self.left
        lacks = "" if self.fits else "_lacks"
        return Notice(f"fit.{self.memory.kind}{lacks}", {"needed_gb": self.needed / 1e9, "free_gb": free / 1e9})


def shape(config: Mapping[str, Any], size: int | None = None, stored: str | None = None) -> Shape:
    """From a config.json and the bytes of the weight files; ``stored`` is their precision where it is known better.

    Without ``size`` (or for weights that are quantized) the weights are counted from the configuration.
    """
    text = {**config, **text_part(dict(config))}
    hidden, layers = _number(text, "hidden_size", "n_embd", "d_model"), _number(text, "num_hidden_layers", "n_layer")
    vocabulary = _number(text, "vocab_size")
    heads = _number(text, "num_attention_heads", "n_head") or 1
    key_heads = _number(text, "num_key_value_heads") or heads
    head = _number(text, "head_dim") or hidden // heads
    widest = _number(text, "intermediate_size", "n_inner") or 4 * hidden
    kind = str(text.get("model_type", ""))
    tied = text.get("tie_word_embeddings", config.get("tie_word_embeddings"))
    tied = kind.startswith(("gemma", "gpt2", "bloom", "falcon")) if tied is None else bool(tied)
    embedding = vocabulary * hidden
    counted = _counted(text, hidden, layers, heads, key_heads, head, widest) + embedding * (1 if tied else 2)
    stored = stored or str(text.get("dtype") or text.get("torch_dtype") or config.get("torch_dtype") or "float32")
    quantized = contents.quantized_with(dict(config)) is not None
    parameters = counted if size is None or quantized else round(size * 8 / BITS.get(stored, 16))
    if tied and not quantized and abs(parameters - counted - embedding) < 0.02 * parameters:
        parameters -= embedding  # the file holds the tied head a second time
    small = layers * 2 * hidden + hidden
    keys = _number(text, "qk_nope_head_dim") + _number(text, "qk_rope_head_dim")
    row = heads * (keys + _number(text, "v_head_dim")) if keys else 2 * key_heads * head
    kinds = [str(entry) for entry in text.get("layer_types") or ()]
    recurrent = is_recurrent(dict(config))
    cached = sum(entry.endswith("attention") and entry != "linear_attention" for entry in kinds) if kinds else layers
    return Shape(
        parameters=parameters,
        embedding=embedding,
        linear=max(0, parameters - embedding * (1 if tied else 2) - small),
        tied=tied,
        layers=layers,
        cached_layers=0 if recurrent and not kinds else cached,
        row=row,
        hidden=hidden,
        widest=max(widest, (heads + 2 * key_heads) * head),
        vocabulary=vocabulary,
        stored=stored,
        longest=_number(text, "max_position_embeddings", "n_positions") or 2**24,
        quantized=quantized,
        recurrent=recurrent,
        head=head,
        fast=kind in FAST,
    )


def segments(model: Shape, plan: Plan, kind: str) -> tuple[tuple[str, int], ...]:
    """Bytes of each part in a memory of this kind, gpu or ram; parts that are not there are left out."""
    width = _width(plan.dtype)
    context = min(plan.context, model.longest)
    has_products = kind == "ram" and model.fast and plan.dtype == "float32" and _has_products()
    slots = -(-(context + SPARE) // STEP) * STEP
    once = float(model.parameters * width)
    if plan.dtype == "int8":  # the head is a matrix like others, of its own where it is tied
        once = (model.parameters - model.linear - (0 if model.tied else model.embedding)) * width
        once += model.read * BITS["int8"] / 8
    elif plan.dtype == "nf4":  # bitsandbytes leaves the head as it is
        once = (model.parameters - model.linear) * width + model.linear * BITS["nf4"] / 8
    elif has_products and model.stored in ("bfloat16", "float16"):  # matrices stay as they are stored
        matrices = model.read + (0 if model.tied else model.embedding)
        once = (model.parameters - matrices) * width + matrices * BITS[model.stored] / 8
    parts = {
        "target": once,
        "twin": 0.0 if plan.twin is None or model.recurrent else model.read * twin_bits(plan.twin, kind, width) / 8,
        "heads": float(plan.heads),
        "cache": float(model.cached_layers * model.row * slots * width),
        "work": _work(model, width, context) + (WORK_CUDA if kind == "gpu" else 0 if has_products else WORK_CPU),
        "graphs": float(_graphs(model, slots)) if kind == "gpu" else 0.0,
    }
    return tuple((name, round(size)) for name, size in parts.items() if size)


def fit(model: Shape, plan: Plan, memory: Memory, releases: int = 0) -> Fit:
    """Whether the plan fits; ``releases`` bytes are given back first, by the model that is loaded now."""
    found = _fit(model, plan, memory, releases)
    if found.fits:
        return found
    remedies = [
        (notice, other) for notice, other in _others(model, plan, memory.kind)
        if _fit(model, other, memory, releases).fits
    ]
    return replace(found, remedies=tuple(remedies))


def as_json(found: Fit) -> dict[str, Any]:
    """For the window and ``--json``: segments with others and free behind them, the sentence, and what would fit."""
    listed = [*found.segments, ("others", found.others), *([("free", found.left)] if found.left > 0 else [])]
    return {
        "segments": [{"name": name, "bytes": size} for name, size in listed],
        "memory": found.memory.kind,
        "device": found.memory.name,
        "whole": found.memory.whole,
        "needed": found.needed,
        "fits": found.fits,
        "notice": _said(found.notice),
        "remedies": [
            {**_said(notice), "dtype": plan.dtype, "twin": plan.twin, "context": plan.context}
            for notice, plan in found.remedies
        ],
    }


def memories() -> tuple[Memory, ...]:
    """What there is to load into: GPUs by name in the order of their bus, then the machine's memory."""
    import psutil
    import pynvml

    found = []
    try:
        pynvml.nvmlInit()
        for index in range(pynvml.nvmlDeviceGetCount()):
            card = pynvml.nvmlDeviceGetHandleByIndex(index)
            told = pynvml.nvmlDeviceGetMemoryInfo(card)
            found.append(Memory("gpu", str(pynvml.nvmlDeviceGetName(card)), int(told.total), int(told.free), index))
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:  # no driver or no card
        found = []
    machine = psutil.virtual_memory()
    return (*found, Memory("ram", "", machine.total, machine.available))


def usual(model: Shape, kind: str, context: int = 8192) -> Plan:
    """What is chosen when nothing is: the precision this machine works in, the twin of the device."""
    if kind == "gpu":
        return Plan(context=context)
    dtype = "float32" if model.stored == "float32" else _kept().get(PRECISION) or "bfloat16"
    return Plan(dtype, "affine4", context)


def twin_bits(recipe: str, kind: str, width: int) -> float:
    """Bits that a twin's weight takes in a memory of this kind, for activations of ``width`` bytes."""
    if kind == "gpu" or _has_products():
        return TWIN_BITS.get(recipe, 5.0)
    return 4 + 2 * 8 * width / 32 if recipe in EVEN else 8.0 * width


def fewer_bits(recipe: str, kind: str, width: int) -> str | None:
    """The next recipe that takes less in a memory of this kind, None where this one takes no more."""
    known = ("nf3", "nf2") if kind == "gpu" or _has_products() else ("affine3",)
    bits = twin_bits(recipe, kind, width)
    return next((fewer for fewer in known if twin_bits(fewer, kind, width) < bits), None)


def _fit(model: Shape, plan: Plan, memory: Memory, releases: int) -> Fit:
    parts = segments(model, plan, memory.kind)
    free = min(memory.whole, memory.free + releases)
    return Fit(plan, memory, parts, memory.whole - free, free - sum(size for _, size in parts))


def _others(model: Shape, plan: Plan, kind: str) -> Iterator[tuple[Notice, Plan]]:
    """Plans that take less, from the one that gives up least."""
    if plan.twin is not None:
        if (fewer := fewer_bits(plan.twin, kind, _width(plan.dtype))) is not None:
            yield Notice("fit.try_recipe", {"recipe": fewer}), replace(plan, twin=fewer)
        plan = replace(plan, twin=None)
        yield Notice("fit.try_no_twin"), plan
    context = min(plan.context, model.longest) // 2
    while context >= SHORTEST_CONTEXT:
        yield Notice("fit.try_context", {"context": context}), replace(plan, context=context)
        context //= 2
    if plan.dtype == "float32":
        yield Notice("fit.try_half"), replace(plan, dtype="bfloat16")
    if kind == "gpu" and plan.dtype not in ("int8", "nf4"):
        yield Notice("fit.try_int8"), replace(plan, dtype="int8")
    if kind == "gpu" and plan.dtype != "nf4":
        yield Notice("fit.try_nf4"), replace(plan, dtype="nf4")


def _work(model: Shape, width: int, context: int) -> float:
    """A chunk of the prompt on its way through, the logits of a step and of its sampling, the rotary table."""
    chunk = CHUNK * (4 * model.hidden + 4 * model.widest) * width
    return chunk + 12.0 * model.vocabulary * 4 + 4.0 * context * model.head * width


def _graphs(model: Shape, slots: int) -> int:
    """One captured pass for each number of rows and each bucket of the attention length (graphs.py)."""
    buckets = max(1, (slots // 512).bit_length())
    return (LARGEST_K + 2) * buckets * model.layers * GRAPH_NODE


def _counted(
    text: Mapping[str, Any], hidden: int, layers: int, heads: int, key_heads: int, head: int, widest: int
) -> int:
    """Weights of all layers and norms of a decoder with gated MLPs, experts included."""
    attention = hidden * head * (2 * heads + 2 * key_heads)
    mlp = 3 * hidden * widest
    experts = _number(text, "num_local_experts", "num_experts", "n_routed_experts")
    if experts:
        dense = _number(text, "first_k_dense_replace")
        one = 3 * hidden * (_number(text, "moe_intermediate_size") or widest)
        shared = 3 * hidden * _number(text, "shared_expert_intermediate_size")
        return layers * (attention + 2 * hidden) + dense * mlp + (layers - dense) * (experts * one + shared)
    return layers * (attention + mlp + 2 * hidden) + hidden


def _width(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def _has_products() -> bool:
    """Whether this machine has compiled products of this program, as its last load found."""
    return _kept().get(PRODUCTS) == library.key()


def _kept() -> dict[str, str]:
    """What was measured on this machine."""
    try:
        kept = json.loads(folders.tuning_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in kept.items() if isinstance(value, str)} if isinstance(kept, dict) else {}


def _number(config: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = config.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0


def _said(notice: Notice) -> dict[str, Any]:
    return {"id": notice.id, "values": dict(notice.values), "text": sentence(notice)}
