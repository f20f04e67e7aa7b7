"""Builds the twin: the target's modules over again with every matrix in low bits, norms and embeddings shared.

First the matrices are quantized, one layer after the other, by a generator that gives way between them; then a module
is put together from the packed ones, be they new or kept. Knows nothing of drafts.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from inference.linears import DenseLinear, joined_bias
from inference.quantize.calibrate import joins, layer_inputs
from inference.quantize.codebook import quantize
from inference.quantize.feedback import quantize_with_feedback
from inference.quantize.linear import LowBitLinear
from inference.quantize.pack import GROUP, Packed, round_levels

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from inference.quantize.calibrate import Inputs
    from inference.quantize.codebook import Quantized
    from inference.quantize.recipes import Recipe
    from inference.quantize.texts import Text


_PATTERN = 0x1B4E72D5
"""Words of placeholders; memory that is only zeros may not be there at all."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far a build is: layers (the head is the last), and the part of all weights."""

    done: int
    total: int
    fraction: float


@dataclass(frozen=True, slots=True)
class Twin:
    """``model`` is a transformers module like the target's. Bits a weight: of its levels, packed, resident here."""

    model: Any
    level_bits: float
    packed_bits: float
    resident_bits: float
    matrices: int
    bytes: int
    kernel: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Matrices of one module that become one layer called ``name``; ``paths`` are their names in the model."""

    parent: nn.Module
    name: str
    parts: tuple[str, ...]
    paths: tuple[str, ...]


def quantize_matrices(
    target: Any, texts: Sequence[Text], joined: Mapping[str, tuple[str, ...]], recipe: Recipe, *, feedback: bool
) -> Generator[Step, None, dict[str, Packed]]:
    """Every matrix of the target packed, by its name in the model. The target is read, never changed.

    With ``feedback`` errors are fed back (GPTQ), else weights go to the nearest levels, weighed by their inputs. Layers
    that the texts do not reach are rounded as they are. ValueError when the target has no matrices.
    """
    places = {path: place for place in _places(target, joined) for path in place.paths}
    if not places:
        raise ValueError("no linear layers")
    total = sum(_shape(place, path).numel() for path, place in places.items())
    found: dict[str, Packed] = {}
    done = 0
    layers = 0
    try:
        layers = len(target.get_decoder().layers) + 1
        inputs = layer_inputs(target, texts, joined, whole=feedback)
    except (AttributeError, ValueError):
        inputs = iter(())
    number = 0
    yield Step(0, layers, 0.0)
    while True:
        seen = next(inputs, None)
        if seen is None:
            break
        for path in seen.moments:
            yield Step(number, layers, done / total)
            for quantized in _quantized(places[path], path, seen, recipe, feedback):
                if quantized is None:
                    yield Step(number, layers, done / total)
                else:
                    found[path] = quantized.packed()
            done += _shape(places[path], path).numel()
        number += 1
    for path, place in places.items():
        if path not in found:
            yield Step(number, layers, done / total)
            found[path] = quantize(_weight(place, path), recipe.format(path)).packed()
    yield Step(layers, layers, 1.0)
    return found


def _quantized(place: _Place, path: str, seen: Inputs, recipe: Recipe, feedback: bool) -> Iterator[Quantized | None]:
    """None between parts of the work, then the matrix."""
    weight, moments = _weight(place, path), seen.moments[path]
    with torch.inference_mode():
        if not feedback:
            yield quantize(weight, recipe.format(path), moments / max(1, seen.rows))
            return
    work = quantize_with_feedback(weight, moments, recipe.format(path))
    while True:
        try:
            with torch.inference_mode():
                next(work)
        except StopIteration as end:
            yield end.value
            return
        yield None


def assemble(
    target: Any, matrices: dict[str, Packed], joined: Mapping[str, tuple[str, ...]], *, keeps: bool = True
) -> Twin:
    """A twin of packed matrices, norms and embeddings shared with the target. KeyError when one is missing.

    Unless it ``keeps`` them, each is taken out of ``matrices`` and let go as soon as it is laid out for its kernel.
    """
    shared: dict[int, Any] = {id(tensor): tensor for tensor in chain(target.parameters(), target.buffers())}
    shared |= {id(module): module for module in target.modules() if isinstance(module, DenseLinear)}
    model = copy.deepcopy(target, memo=shared)
    resident = bits = 0.0
    weights = size = 0
    kernels = set()
    number = len(matrices)
    example = next(iter(target.parameters()))
    for place in list(_places(model, joined)):
        layers: list[Any] = [getattr(place.parent, part) for part in _present(place)]
        packed = [matrices[path] if keeps else matrices.pop(path) for path in place.paths]
        bias = layers[0].bias if len(layers) == 1 else joined_bias(layers)
        for part in _present(place):
            delattr(place.parent, part)
        low_bit = LowBitLinear(packed, bias, example.dtype, example.device)
        setattr(place.parent, place.name, low_bit)
        count = sum(part.rows * part.columns for part in packed)
        weights += count
        resident += low_bit.resident_bits * count
        bits += sum(part.bits * part.rows * part.columns for part in packed)
        size += sum(part.bytes for part in packed)
        kernels.add(low_bit.kernel)
    kernel = kernels.pop() if len(kernels) == 1 else "mixed"
    return Twin(model, bits / weights, 8 * size / weights, resident / weights, number, size, kernel)


def placeholders(target: Any, joined: Mapping[str, tuple[str, ...]], recipe: Recipe) -> dict[str, Packed]:
    """Packed matrices like a twin's in size and format, by name; what they hold means nothing. To be timed."""
    found: dict[str, Packed] = {}
    for place in _places(target, joined):
        for path in place.paths:
            (rows, columns), format = _shape(place, path), recipe.format(path)
            width = columns + -columns % format.block
            words = torch.full((rows, format.bits, width // GROUP), _PATTERN, dtype=torch.int32)
            scales = torch.full((rows, width // format.block), 0.01, dtype=torch.bfloat16)
            offsets = torch.zeros_like(scales) if format.affine else None
            found[path] = Packed(words, scales, offsets, *round_levels(format.levels()), format.bits, columns)
    return found


def build_twin(
    target: Any,
    texts: Sequence[Text],
    recipe: Recipe,
    joined: Mapping[str, tuple[str, ...]] | None = None,
    *,
    feedback: bool = False,
) -> Generator[Step, None, Twin]:
    """Both at once: yields steps, returns the twin.

    ``joined`` names layers to be made of several, whose outputs then lie side by side: the fast forward's; each part is
    quantized on its own, as without it.
    """
    matrices = yield from quantize_matrices(target, texts, joined or {}, recipe, feedback=feedback)
    return assemble(target, matrices, joined or {})


def _places(model: Any, joined: Mapping[str, tuple[str, ...]]) -> Iterator[_Place]:
    for prefix, parent in model.named_modules():
        if isinstance(parent, DenseLinear):
            continue
        names = [name for name, layer in parent.named_children() if joins(layer)]
        groups = {name: parts for name, parts in joined.items() if set(parts) <= set(names)}
        taken = set(chain.from_iterable(groups.values()))
        groups |= {name: joined.get(name, (name,)) for name in names if name not in taken}
        for name, parts in groups.items():
            yield _Place(parent, name, parts, tuple(f"{prefix}.{part}" if prefix else part for part in parts))


def _present(place: _Place) -> tuple[str, ...]:
    """The names under which the matrices lie in the module: their own, or the one they are joined under."""
    return (place.name,) if hasattr(place.parent, place.name) else place.parts


def _rows(place: _Place, path: str) -> tuple[Any, int, int]:
    """The module of a matrix and its rows there."""
    index = place.paths.index(path)
    present = _present(place)
    if len(present) > 1 or len(place.parts) == 1:
        layer = getattr(place.parent, present[index])
        return layer, 0, layer.out_features
    layer = getattr(place.parent, place.name)
    return layer, sum(layer.sizes[:index]), sum(layer.sizes[: index + 1])


def _shape(place: _Place, path: str) -> torch.Size:
    layer, begin, end = _rows(place, path)
    return torch.Size((end - begin, layer.in_features))


def _weight(place: _Place, path: str) -> torch.Tensor:
    layer, begin, end = _rows(place, path)
    weight: torch.Tensor = layer.dense() if isinstance(layer, DenseLinear) else layer.weight.detach()
    return weight[begin:end]
