"""Builds the twin: the target's modules over again with every matrix in 3 bits, norms and embeddings shared.

The build is a generator that yields after each matrix, so it shows progress and gives way. Knows nothing of drafts.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from inference.quantize.calibrate import input_importance
from inference.quantize.codebook import BLOCK, quantize, uniform_levels
from inference.quantize.linear import LowBitLinear

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

SCALE_BITS = 16


@dataclass(frozen=True, slots=True)
class Twin:
    """``model`` is a transformers module like the target's. Bits a weight: of its levels, packed, resident here."""

    model: Any
    level_bits: float
    packed_bits: float
    resident_bits: float
    matrices: int


@torch.inference_mode()
def quantize_matrix(linear: nn.Linear, importance: torch.Tensor | None) -> LowBitLinear:
    """One layer in 3 bits; its bias stays the target's own."""
    weight = linear.weight
    quantized = quantize(weight, uniform_levels(), importance)
    return LowBitLinear(quantized, linear.bias, weight.dtype, weight.device)


def build_twin(target: Any, texts: Iterable[Sequence[int]]) -> Generator[tuple[int, int], None, Twin]:
    """Yield (done, total) matrices; return the twin. The target is read, never changed.

    ``texts`` are token ids that the target reads for calibration. ValueError when it has no linear layer. The output
    head is quantized too.
    """
    shared = {id(tensor): tensor for tensor in chain(target.parameters(), target.buffers())}
    model = copy.deepcopy(target, memo=dict(shared))
    places = [
        (parent, f"{prefix}.{name}" if prefix else name, name, layer)
        for prefix, parent in model.named_modules()
        for name, layer in parent.named_children()
        if type(layer) is nn.Linear
    ]
    if not places:
        raise ValueError("no linear layers")
    yield 0, len(places)
    importance = input_importance(target, texts)
    weights = 0
    resident = 0.0
    for done, (parent, path, name, layer) in enumerate(places):
        yield done, len(places)
        quantized = quantize_matrix(layer, importance.get(path))
        setattr(parent, name, quantized)
        weights += layer.weight.numel()
        resident += quantized.resident_bits * layer.weight.numel()
    yield len(places), len(places)
    return Twin(model, 3.0, 3.0 + SCALE_BITS / BLOCK, resident / weights, len(places))
