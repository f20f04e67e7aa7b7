"""One KV cache for target and twin: fixed buffers, explicit slots, and the only place that knows the valid length.

Slot i holds the key and value of token i. Slots past the valid length are scratch: drafts and verification write
there, and the next pass overwrites them, so a rejected draft needs no repair. Knows nothing of models or tokens.
"""

from __future__ import annotations

import math
import mmap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPAN_STEP = 128
"""Attention lengths are padded to multiples of this in exact mode; buffers are whole multiples of it."""


def whole_steps(length: int) -> int:
    """The next multiple of SPAN_STEP at or above ``length``."""
    return -(-length // SPAN_STEP) * SPAN_STEP


def lazy_zeros(shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Zeros that take memory only where they are written, on the CPU: torch.zeros writes them all."""
    if device.type != "cpu":
        return torch.zeros(*shape, dtype=dtype, device=device)
    # Not numpy's zeros: it asks for huge pages, and a first token would then touch them all.
    memory = mmap.mmap(-1, math.prod(shape) * dtype.itemsize)
    return torch.frombuffer(memory, dtype=dtype).view(*shape)


class KVCache:
    """Per layer two buffers [1, heads, slots, head_dim] of zeros, made at the layer's first write or by ``reserve``.

    ``context`` is the number of tokens that may become valid; ``spare`` slots lie behind them for the rows of a pass
    and its padding. Handed to transformers as its cache object: it calls ``update`` for each layer, which writes at
    the slots set by ``aim`` and returns the first ``span`` slots.
    """

    is_compileable = True  # keeps transformers from assuming that the buffers grow

    def __init__(self, context: int, spare: int) -> None:
        self.context = context
        self.slots = whole_steps(context + spare)
        self._spare = spare
        self._length = 0
        self._keys: dict[int, torch.Tensor] = {}
        self._values: dict[int, torch.Tensor] = {}
        self._stacks: tuple[torch.Tensor, ...] = ()
        self._aim: torch.Tensor | None = None
        self._span = 0

    @property
    def length(self) -> int:
        """How many slots are valid: one less than the tokens of the chat."""
        return self._length

    @property
    def bytes(self) -> int:
        """Memory of all buffers made so far."""
        return sum(b.nbytes for b in (*self._keys.values(), *self._values.values()))

    def resize(self, context: int) -> None:
        """Hold so many tokens from now on, none of them yet; the old buffers are let go."""
        self.context = context
        self.slots = whole_steps(context + self._spare)
        self._length = 0
        self._keys, self._values, self._stacks = {}, {}, ()

    def truncate(self, length: int) -> None:
        """Forget all slots from ``length`` on. ValueError when that is more than is valid."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot cut a cache of {self._length} to {length}")
        self._length = length

    def advance(self, count: int) -> None:
        """The next ``count`` slots hold what they should: they become valid."""
        if self._length + count > self.context:
            raise ValueError(f"{self._length} + {count} tokens do not fit into {self.context}")
        self._length += count

    @torch.inference_mode()
    def commit(self, path: Sequence[int]) -> None:
        """Keep these rows of the last pass (row i was written to slot length + i), in this order.

        A chain keeps a prefix and moves nothing. Of a tree, what does not lie in its place yet is moved together: in
        one copy for all layers where their buffers are one, else in one a layer.
        """
        moved = next((at for at, row in enumerate(path) if row != at), len(path))
        if moved < len(path):
            source = torch.tensor([self._length + row for row in path[moved:]])
            first = self._length + moved
            for buffer in self._stacks or (*self._keys.values(), *self._values.values()):
                found = buffer.index_select(2, source.to(buffer.device))
                buffer[:, :, first : first + len(source)] = found
        self.advance(len(path))

    @contextmanager
    def set_back(self, length: int, rows: int) -> Iterator[None]:
        """Work at an earlier valid length; afterwards length and contents are as before.

        Passes inside may write up to ``rows`` slots from ``length`` on. ValueError when it is more than is valid.
        """
        before = self._length
        self.truncate(length)
        end = min(before, length + rows)
        kept = [buffer[:, :, length:end].clone() for name in self.layers for buffer in self.layer(name)]
        try:
            yield
        finally:
            with torch.inference_mode():
                for old, buffer in zip(kept, (b for name in self.layers for b in self.layer(name)), strict=False):
                    buffer[:, :, length:end] = old
            self._length = before

    def reserve(self, layers: int, heads: int, head_dim: int, dtype: torch.dtype, device: torch.device) -> None:
        """Make the buffers of all layers at once, for ``layers_at``; nothing happens when there are some."""
        if not self._keys:
            shape = (layers, heads, self.slots, head_dim)
            self._stacks = tuple(lazy_zeros(shape, dtype, device) for _ in range(2))
            self._keys, self._values = (
                {layer: stack[layer : layer + 1] for layer in range(layers)} for stack in self._stacks
            )

    @property
    def stacks(self) -> tuple[torch.Tensor, ...]:
        """Keys and values of all layers of a reserved cache, [layers, heads, slots, head_dim] each."""
        return self._stacks

    def layers_at(self, first: int, count: int, span: int) -> Iterator[tuple[torch.Tensor, ...]]:
        """For each layer of a reserved cache four views [heads, slots, head_dim].

        Where ``count`` rows write their keys and values, from slot ``first`` on, and the keys and values of the first
        ``span`` slots.
        """
        written = (stack.narrow(2, first, count).unbind() for stack in self._stacks)
        seen = (stack.narrow(2, 0, span).unbind() for stack in self._stacks)
        return zip(*written, *seen, strict=True)

    def aim(self, slots: torch.Tensor, span: int) -> None:
        """The next pass writes its rows at ``slots`` [rows] and sees the first ``span`` slots."""
        self._aim = slots
        self._span = span

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write a layer's new keys and values [1, heads, rows, head_dim]; return all that the rows may attend to."""
        if layer not in self._keys:
            for new, buffers in ((keys, self._keys), (values, self._values)):
                shape = (*new.shape[:2], self.slots, new.shape[3])
                buffers[layer] = lazy_zeros(shape, new.dtype, new.device)
        assert self._aim is not None, "aim() comes before a pass"
        self._keys[layer].index_copy_(2, self._aim, keys)
        self._values[layer].index_copy_(2, self._aim, values)
        return self._keys[layer][:, :, : self._span], self._values[layer][:, :, : self._span]

    def layer(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A layer's whole buffers, for tests and the self-test of exact mode."""
        return self._keys[index], self._values[index]

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that have buffers."""
        return tuple(sorted(self._keys))

    def get_seq_length(self, *_: Any, **__: Any) -> int:
        """For transformers: positions are always given, so nothing is derived from this."""
        return 0
