"""What the target's matrices read: second moments of each one's inputs over texts, layer by layer.

Works on transformers' modules and on those whose matrices are joined and packed; only one layer's moments are in memory
at a time. Knows nothing of levels or formats.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from inference.linears import DenseLinear

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from inference.quantize.texts import Text


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a layer's matrices read, by their names in the model: the sum of x x^T, float32 [in, in], or its diagonal.

    Matrices that read the same share one tensor. ``rows`` is the number of inputs summed over.
    """

    moments: Mapping[str, torch.Tensor]
    rows: int


def joins(layer: nn.Module) -> bool:
    """Whether this is a matrix that can be read, alone or joined."""
    return type(layer) is nn.Linear or isinstance(layer, DenseLinear)


@torch.inference_mode()
def layer_inputs(
    target: Any, texts: Sequence[Text], joined: Mapping[str, tuple[str, ...]], *, whole: bool = True
) -> Iterator[Inputs]:
    """The inputs of each decoder layer, then of the output head. The target is read, never changed.

    Only rows that predict what a model wrote count. ``joined`` names the parts of joined matrices; ``whole`` wants all
    moments, not only the diagonal [in]. ValueError for a model whose layers are not one list.
    """
    body = target.get_decoder() if hasattr(target, "get_decoder") else None
    layers = getattr(body, "layers", None)
    if not isinstance(layers, nn.ModuleList) or not layers:
        raise ValueError("no list of layers")
    prefix = next(name for name, module in target.named_modules() if module is layers)
    starts = [max(0, text.begin - 1) for text in texts]
    count = sum(len(text.ids) - start for text, start in zip(texts, starts, strict=True))
    with _replaced(body, [_Passing(layer) for layer in layers]) as passing:
        hidden = [_run(body, text) for text in texts]
        calls = [list(layer.calls) for layer in passing]
        states = [call[0] for call in calls[0]]
    for index, layer in enumerate(layers):
        shadow = _shadow(layer, joined)
        moments: dict[str, torch.Tensor] = {}
        with _watched(shadow, f"{prefix}.{index}", moments, whole=whole) as watch:
            for number, start in enumerate(starts):
                watch.start = start
                output = shadow(states[number], **calls[index][number][1])
                states[number] = output[0] if isinstance(output, tuple) else output
        yield Inputs(moments, count)
    with _replaced(body, [_Passing(layer, states) for layer in layers[:1]]):
        hidden = [_run(body, text) for text in texts]
    head = next((name for name, module in target.named_modules() if module is target.get_output_embeddings()), None)
    if head is not None:
        rows = torch.cat([text[0, start:].float() for text, start in zip(hidden, starts, strict=True)])
        yield Inputs({head: rows.T @ rows if whole else rows.square().sum(0)}, count)


def _run(body: Any, text: Text) -> torch.Tensor:
    ids = torch.tensor([text.ids], device=next(iter(body.parameters())).device)
    output: torch.Tensor = body(input_ids=ids, use_cache=False).last_hidden_state
    return output


class _Passing(nn.Module):
    """Stands for a layer: keeps what it is called with and hands on its input, or the outputs given."""

    def __init__(self, layer: nn.Module, outputs: Sequence[torch.Tensor] | None = None) -> None:
        super().__init__()
        self.calls: list[tuple[torch.Tensor, dict[str, Any]]] = []
        self._outputs = outputs
        for name in ("attention_type", "layer_type", "is_sliding"):
            if hasattr(layer, name):
                setattr(self, name, getattr(layer, name))

    def forward(self, hidden: torch.Tensor, **options: Any) -> torch.Tensor:
        """What comes in, or the next output."""
        self.calls.append((hidden, options))
        return hidden if self._outputs is None else self._outputs[len(self.calls) - 1]


@contextmanager
def _replaced(body: Any, layers: list[_Passing]) -> Iterator[list[_Passing]]:
    kept = body.layers
    count = getattr(body.config, "num_hidden_layers", None)
    body.layers = nn.ModuleList(layers)
    if count is not None:
        body.config.num_hidden_layers = len(layers)
    try:
        yield layers
    finally:
        body.layers = kept
        if count is not None:
            body.config.num_hidden_layers = count


class _Once:
    """A joined product that several parts read: computed once for an input."""

    def __init__(self, linear: DenseLinear) -> None:
        self._linear = linear
        self._input: torch.Tensor | None = None
        self._output = torch.empty(0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x is not self._input:
            self._input, self._output = x, self._linear(x.flatten(0, -2)).view(*x.shape[:-1], -1)
        return self._output


class _Part(nn.Module):
    """The rows of a joined matrix that once were a matrix of their own."""

    def __init__(self, product: _Once, begin: int, end: int) -> None:
        super().__init__()
        self._product, self._begin, self._end = product, begin, end

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Their part of the product."""
        return self._product(x)[..., self._begin : self._end]


def _shadow(layer: nn.Module, joined: Mapping[str, tuple[str, ...]]) -> nn.Module:
    """The layer over again with shared weights, joined matrices taken apart, as transformers calls them."""
    shared: dict[int, Any] = {id(tensor): tensor for tensor in chain(layer.parameters(), layer.buffers())}
    shared |= {id(module): module for module in layer.modules() if joins(module)}
    shadow = copy.deepcopy(layer, memo=shared)
    for parent in list(shadow.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, DenseLinear):
                begin, once = 0, _Once(part)
                delattr(parent, name)
                for small, size in zip(joined.get(name, (name,)), part.sizes, strict=True):
                    setattr(parent, small, _Part(once, begin, begin + size))
                    begin += size
    return shadow


class _Watch:
    """Adds up the moments of inputs; matrices that are given the same tensor share theirs."""

    def __init__(self, moments: dict[str, torch.Tensor], *, whole: bool) -> None:
        self.start = 0
        self._whole = whole
        self._moments = moments
        self._last: torch.Tensor | None = None
        self._last_path = ""

    def __call__(self, path: str, x: torch.Tensor) -> None:
        if x is self._last:
            self._moments.setdefault(path, self._moments[self._last_path])
            return
        self._last, self._last_path = x, path
        rows = x[0, self.start :].float()
        if not self._whole:
            self._moments[path] = self._moments.get(path, 0.0) + rows.square().sum(0)
        elif path in self._moments:
            self._moments[path].addmm_(rows.T, rows)
        else:
            self._moments[path] = rows.T @ rows


@contextmanager
def _watched(shadow: nn.Module, prefix: str, moments: dict[str, torch.Tensor], *, whole: bool) -> Iterator[_Watch]:
    watch = _Watch(moments, whole=whole)
    hooks = []
    for name, module in shadow.named_modules():
        if joins(module) or type(module) is _Part:

            def before(_: nn.Module, inputs: tuple[torch.Tensor, ...], path: str = f"{prefix}.{name}") -> None:
                watch(path, inputs[0])

            hooks.append(module.register_forward_pre_hook(before))
    try:
        yield watch
    finally:
        for hook in hooks:
            hook.remove()
