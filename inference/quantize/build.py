"""Builds the twin: the target's modules over again with every matrix in 3 bits, norms and embeddings shared.

The build is a generator that yields after each matrix, so it shows progress and gives way. Knows nothing of drafts.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from torch import nn

from inference.linears import joined_bias
from inference.quantize.calibrate import input_importance
from inference.quantize.codebook import BLOCK, beside, quantize, uniform_levels
from inference.quantize.linear import LowBitLinear

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

SCALE_BITS = 16


@dataclass(frozen=True, slots=True)
class Twin:
    """``model`` is a transformers module like the target's. Bits a weight: of its levels, packed, resident here."""

    model: Any
    level_bits: float
    packed_bits: float
    resident_bits: float
    matrices: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Matrices of one module that become one layer called ``name``; ``paths`` are their names in the model."""

    parent: nn.Module
    name: str
    parts: tuple[str, ...]
    paths: tuple[str, ...]


def build_twin(
    target: Any, texts: Iterable[Sequence[int]], joined: Mapping[str, tuple[str, ...]] | None = None
) -> Generator[tuple[int, int], None, Twin]:
    """Yield (done, total) matrices; return the twin. The target is read, never changed.

    ``texts`` are token ids that the target reads for calibration. ``joined`` names layers to be made of several, whose
    outputs then lie side by side: the fast forward's; each part is quantized on its own, as without it. ValueError
    when the target has no linear layer. The output head is quantized too.
    """
    shared = {id(tensor): tensor for tensor in chain(target.parameters(), target.buffers())}
    model = copy.deepcopy(target, memo=dict(shared))
    places = [place for prefix, parent in model.named_modules() for place in _places(prefix, parent, joined or {})]
    total = sum(len(place.parts) for place in places)
    if not places:
        raise ValueError("no linear layers")
    yield 0, total
    importance = input_importance(target, texts)
    done = weights = 0
    resident = 0.0
    for place in places:
        layers: list[nn.Linear] = [getattr(place.parent, part) for part in place.parts]
        quantized = []
        for layer, path in zip(layers, place.paths, strict=True):
            yield done, total
            quantized.append(quantize(layer.weight.detach(), uniform_levels(), importance.get(path)))
            done += 1
        for part in place.parts:
            delattr(place.parent, part)
        weight = layers[0].weight
        low_bit = LowBitLinear(beside(quantized), joined_bias(layers), weight.dtype, weight.device)
        setattr(place.parent, place.name, low_bit)
        weights += sum(layer.weight.numel() for layer in layers)
        resident += low_bit.resident_bits * sum(layer.weight.numel() for layer in layers)
    yield total, total
    return Twin(model, 3.0, 3.0 + SCALE_BITS / BLOCK, resident / weights, total)


def _places(prefix: str, parent: nn.Module, joined: Mapping[str, tuple[str, ...]]) -> Iterator[_Place]:
    linears = [name for name, layer in parent.named_children() if type(layer) is nn.Linear]
    groups = {name: parts for name, parts in joined.items() if set(parts) <= set(linears)}
    taken = set(chain.from_iterable(groups.values()))
    groups |= {name: (name,) for name in linears if name not in taken}
    for name, parts in groups.items():
        yield _Place(parent, name, parts, tuple(f"{prefix}.{part}" if prefix else part for part in parts))
