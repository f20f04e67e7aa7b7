"""What stands between a step's products, launched: norms, rotary embedding and cache, attention, activation, rounding.

Shapes and meanings are those of the kernels in triton_rows, triton_attention and triton_noise. Knows nothing of models.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from inference.quantize import triton_choice
from inference.quantize.pack import GROUP
from inference.quantize.triton_attention import CHUNK, ROWS, attend, gather
from inference.quantize.triton_launch import Activations, power_of_two
from inference.quantize.triton_noise import keyed_noise
from inference.quantize.triton_rows import add_norm, gated, turn_and_write
from inference.quantize.triton_rows import round_rows as round_rows_kernel

TILE = 8
"""Groups of one program where a row is cut into several."""

NOISE_TILE = 256

CHOICE_TILE = 4096
"""Logits looked at together."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Who sees whom in a pass, on the device: ``first`` int64 [1], the others int64 [rows].

    Row r sees the slots below ``prefixes[r]`` and those rows of the pass, which begin at slot ``first``, whose bit is
    set in ``ancestors[r]``.
    """

    first: torch.Tensor
    prefixes: torch.Tensor
    ancestors: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor


def round_rows(x: torch.Tensor) -> Activations:
    """Rows [n, columns] of any float type as activations."""
    count, columns = x.shape
    rounded = Activations.room(count, columns, x.device)
    groups = rounded.scales.shape[1]
    round_rows_kernel[(count, -(-groups // TILE))](
        x.contiguous(), rounded.values, rounded.scales, rounded.sums, COLUMNS=columns, GROUPS=groups, TILE=TILE
    )
    return rounded


def norm(
    stream: torch.Tensor,
    added: torch.Tensor | None,
    bias: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    rounded: bool,
) -> torch.Tensor | Activations:
    """Add a product's parts [split, n, columns] to ``stream`` [n, columns] in place and give its norm."""
    count, columns = stream.shape
    groups = -(-columns // GROUP)
    tile = power_of_two(groups)
    normed, room = _room(count, columns, stream, rounded)
    add_norm[(count,)](
        stream, stream if added is None else added, weight if bias is None else bias, weight, normed,
        room.values, room.scales, room.sums, eps, count,
        COLUMNS=columns, GROUPS=groups, TILE=tile, SPLIT=0 if added is None else len(added),
        WITH_BIAS=bias is not None, ROUNDED=rounded, num_warps=8 if tile >= 64 else 4,
    )  # fmt: skip
    return room if rounded else normed


def gate(
    parts: torch.Tensor, bias: torch.Tensor | None, like: torch.Tensor, rounded: bool
) -> torch.Tensor | Activations:
    """silu(gate) * up of a gate-up product's parts [split, n, 2 columns], in the precision of ``like``."""
    split, count, both = parts.shape
    columns = both // 2
    groups = -(-columns // GROUP)
    gone, room = _room(count, columns, like, rounded)
    gated[(count, -(-groups // TILE))](
        parts, parts if bias is None else bias, gone, room.values, room.scales, room.sums, count,
        COLUMNS=columns, GROUPS=groups, TILE=TILE, SPLIT=split, WITH_BIAS=bias is not None, ROUNDED=rounded,
    )  # fmt: skip
    return room if rounded else gone


def turn(
    parts: torch.Tensor,
    bias: torch.Tensor | None,
    norms: tuple[torch.Tensor, torch.Tensor, float] | None,
    table: torch.Tensor,
    sight: Sight,
    keys: torch.Tensor,
    values: torch.Tensor,
    heads: int,
) -> torch.Tensor:
    """Queries [n, heads, head_dim] of a q-k-v product's parts; keys and values go to [heads, slots, head_dim]."""
    split, count, _ = parts.shape
    key_heads, buffer, head_dim = keys.shape
    queries = torch.empty(count, heads, head_dim, dtype=keys.dtype, device=keys.device)
    query_weight, key_weight, eps = norms or (queries, queries, 0.0)
    turn_and_write[(count, heads + 2 * key_heads)](
        parts, parts if bias is None else bias, query_weight, key_weight, table, sight.positions, sight.slots,
        queries, keys, values, eps, count, buffer,
        HEADS=heads, KEY_HEADS=key_heads, HEAD_DIM=head_dim, SPLIT=split, WITH_BIAS=bias is not None,
        WITH_NORMS=norms is not None, num_warps=1,
    )  # fmt: skip
    return queries


def attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    sight: Sight,
    span: int,
    window: int,
    scale: float,
    rounded: bool,
) -> torch.Tensor | Activations:
    """Attention of queries [n, heads, head_dim] over the buffers' first ``span`` slots: [n, heads * head_dim]."""
    count, heads, head_dim = queries.shape
    key_heads, buffer, _ = keys.shape
    chunks = -(-span // CHUNK)
    at_once, warps = attention_tile(queries.device)
    sums = torch.empty(chunks, count, heads, head_dim, dtype=torch.float32, device=queries.device)
    weights = torch.empty(chunks, 2, count, heads, dtype=torch.float32, device=queries.device)
    attend[(key_heads, chunks, -(-count * (heads // key_heads) // ROWS))](
        queries, keys, values, sight.first, sight.prefixes, sight.ancestors, sight.positions, sums, weights,
        count, buffer, scale,
        HEADS=heads, KEY_HEADS=key_heads, HEAD_DIM=head_dim, CHUNK=CHUNK, KEYS=at_once, WINDOW=window, num_warps=warps,
    )  # fmt: skip
    attended, room = _room(count, heads * head_dim, queries, rounded)
    gather[(count, heads)](
        sums, weights, attended, room.values, room.scales, room.sums, chunks, count,
        HEADS=heads, HEAD_DIM=head_dim, GROUPS=heads * head_dim // GROUP, ROUNDED=rounded, num_warps=1,
    )  # fmt: skip
    return room if rounded else attended


def attention_tile(device: torch.device) -> tuple[int, int]:
    """Keys at a time, and warps: cards without matrix units for the sums keep less in registers."""
    turing = device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0)
    return (16, 8) if turing else (64, 4)


def noise(seeds: torch.Tensor, positions: torch.Tensor, size: int) -> torch.Tensor:
    """Gumbel noise float32 [n, size] for a seed, int32 [2], and positions int64 [n]."""
    drawn = torch.empty(len(positions), size, dtype=torch.float32, device=positions.device)
    keyed_noise[(-(-size // (4 * NOISE_TILE)), len(positions))](drawn, seeds, positions, SIZE=size, TILE=NOISE_TILE)
    return drawn


def choose(
    logits: torch.Tensor, drawn: torch.Tensor, settings: torch.Tensor, *, tile: int = CHOICE_TILE
) -> torch.Tensor:
    """The token int64 [n] of each row of logits [n, vocabulary] with the noise drawn for it.

    ``settings`` are the kernel's: one over the temperature (0: the best logit), top-k, top-p, logarithm of min-p.
    """
    count, size = logits.shape
    tiles = -(-size // tile)
    chosen = torch.empty(count, dtype=torch.int64, device=logits.device)
    scaled = torch.empty(count, size, dtype=torch.float32, device=logits.device)
    peaks = torch.empty(count, tiles, dtype=torch.float32, device=logits.device)
    triton_choice.choose[(count,)](
        logits, drawn, settings, scaled, peaks, chosen, SIZE=size, TILES=tiles, TILE=tile, num_warps=8
    )
    return chosen


def _room(count: int, columns: int, like: torch.Tensor, rounded: bool) -> tuple[torch.Tensor, Activations]:
    """Where a kernel's result goes; what is not asked for is only a place in memory that it may be given."""
    if rounded:
        room = Activations.room(count, columns, like.device)
        return like, room
    return torch.empty(count, columns, dtype=like.dtype, device=like.device), Activations(like, like, like, count)
