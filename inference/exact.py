"""Exact mode: every pass takes row counts whose bits agree, so speculation changes no bit of the answer (design D8).

Holds the rule for the width of a pass, the self-test at load that finds it, and the identity that names everything
the bits depend on. The width belongs to model, device, precision and kernels, never to a drafter or to K.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from inference.kv_cache import KVCache, whole_steps
from inference.native import noise
from inference.rows import Rows, tree_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.model import Forward

SELF_TEST_LENGTHS = (90, 700)
"""Context lengths of the self-test: one and several steps of the padded attention length."""


@dataclass(frozen=True, slots=True)
class Width:
    """How many rows a pass takes. Fast mode takes what it needs; exact mode pads to ``plain`` rows at the least.

    ``plain`` is the width of a step without draft; ``largest`` the widest pass, so K is at most ``largest - 1``.
    """

    exact: bool
    plain: int
    largest: int

    def largest_k(self, length: int) -> int:
        """The longest draft behind ``length`` valid slots.

        In exact mode a round ends at the border to the next attention length: beyond it the sums of attention are cut
        into other blocks than those of the plain step, and once in a while a last bit differs.
        """
        room = whole_steps(length + 1) - length - 1 if self.exact else self.largest - 1
        return min(self.largest - 1, room)

    def rows(self, tokens: Sequence[int], parents: Sequence[int] | None, cache: KVCache, device: torch.device) -> Rows:
        """The rows of a pass behind the cache's valid length."""
        return tree_rows(
            tokens,
            parents,
            cache.length,
            cache.slots,
            width=self.plain if self.exact else 0,
            padded_span=self.exact,
            device=device,
        )


def fast_width(largest_k: int) -> Width:
    """Fast mode: no padding."""
    return Width(False, 1, largest_k + 1)


@torch.inference_mode()
def find_width(forward: Forward, vocabulary: int, largest_k: int, device: torch.device) -> Width | None:
    """The narrowest exact width whose rows are bit-equal to verification at every width, or None when none is.

    Tries natural widths with the plain step padded to 1, 2, 3, ... rows, and last one width for every pass. Compared
    are logits and the keys and values written, at several context lengths, over a cache filled with noise.
    """
    generator = torch.Generator().manual_seed(20240731)
    tokens = torch.randint(0, vocabulary, (largest_k + 1,), generator=generator).tolist()
    tests = []
    for length in SELF_TEST_LENGTHS:
        cache = noisy_cache(forward, length, largest_k, device)
        drafts = {
            count: _run(forward, cache, tokens[:count], length, 0, device) for count in range(2, largest_k + 2)
        }
        tests.append((cache, length, drafts))
    for width in (*range(1, 5), largest_k + 1):
        if all(_agrees(forward, cache, tokens, length, width, drafts, device) for cache, length, drafts in tests):
            return Width(True, width, largest_k + 1)
    return None


@torch.inference_mode()
def noisy_cache(forward: Forward, length: int, largest_k: int, device: torch.device) -> KVCache:
    """A cache whose every slot holds noise, ``length`` of them valid."""
    generator = torch.Generator().manual_seed(length)
    cache = KVCache(length + largest_k + 1, 2 * largest_k + 2)
    forward(tree_rows([0], None, 0, cache.slots, device=device), cache)  # makes the buffers
    for layer in cache.layers:
        for buffer in cache.layer(layer):
            noise = torch.randn(buffer.shape, generator=generator, dtype=torch.float32)
            buffer.copy_(noise.to(buffer.dtype))
    cache.advance(length)
    return cache


Bits = list[tuple[torch.Tensor, ...]]


def _run(
    forward: Forward, cache: KVCache, tokens: list[int], length: int, width: int, device: torch.device
) -> Bits:
    """Logits, keys and values of each row of one exact pass."""
    rows = tree_rows(tokens, None, length, cache.slots, width=width, padded_span=True, device=device)
    logits = forward(rows, cache).clone()
    written = [buffer[0, :, length : length + len(tokens)].clone() for n in cache.layers for buffer in cache.layer(n)]
    return [(logits[i], *(part[:, i] for part in written)) for i in range(len(tokens))]


def _agrees(
    forward: Forward,
    cache: KVCache,
    tokens: list[int],
    length: int,
    width: int,
    drafts: dict[int, Bits],
    device: torch.device,
) -> bool:
    """Whether single steps at ``width`` give the bits of every draft's rows; the widest width is tried for all."""
    widest = len(tokens)
    if width == widest:
        drafts = {count: _run(forward, cache, tokens[:count], length, widest, device) for count in drafts}
    for position, token in enumerate(tokens):
        step = _run(forward, cache, [token], length + position, width, device)[0]
        for count, rows in drafts.items():
            if position < count and not all(
                torch.equal(mine, theirs) for mine, theirs in zip(step, rows[position], strict=True)
            ):
                return False
    return True


def identity(name: str, device: str, dtype: str, kernels: str, width: Width) -> str:
    """A short name for everything the bits of an answer depend on; equal identities give equal text."""
    parts = [
        name,
        device,
        dtype,
        kernels,
        f"threads {torch.get_num_threads()}",
        f"torch {torch.__version__}",
        f"noise {noise.version()}",
        platform.machine(),
        torch.backends.cpu.get_cpu_capability(),
        f"exact {width.plain} of {width.largest}" if width.exact else "fast",
    ]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:12]
