"""The rows of one pass: tokens, positions, slots and who sees whom. A chain is a tree without branches.

Padding rows (exact mode) write to the last slots of the buffer and see slot 0 only. Knows nothing of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from inference.kv_cache import whole_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Interrupted(Exception):
    """A pass was given up between two layers; what it wrote lies in slots that are not valid."""


@dataclass(frozen=True, slots=True)
class Rows:
    """``tokens``, ``positions``, ``slots`` int64 [rows]; ``mask`` bool [rows, span]; the first ``used`` rows count.

    Those write to the slots from ``first`` on. ``whole``: one row that sees all of the span, so no mask is needed.
    ``given_up`` is asked between layers, by forwards that can; true raises Interrupted.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor
    mask: torch.Tensor
    used: int
    first: int
    whole: bool = False
    given_up: Callable[[], bool] | None = None

    @property
    def span(self) -> int:
        """How many slots attention looks at."""
        return self.mask.shape[1]


def tree_rows(
    tokens: Sequence[int],
    parents: Sequence[int] | None,
    length: int,
    total_slots: int,
    *,
    width: int = 0,
    padded_span: bool = False,
    device: torch.device | str = "cpu",
    given_up: Callable[[], bool] | None = None,
) -> Rows:
    """Rows for ``tokens`` behind ``length`` valid slots; ``parents[i]`` is the row that token i follows, -1 the text.

    ``parents`` None is a chain. ``width`` adds padding rows up to that many; ``padded_span`` rounds the attention
    length up to whole steps. ValueError when the rows do not fit into the buffer.
    """
    count = len(tokens)
    rows = max(count, width)
    span = length + count
    if span + rows - count > total_slots:
        raise ValueError(f"{rows} rows behind {length} tokens do not fit into {total_slots} slots")
    if padded_span:
        span = min(whole_steps(span), total_slots)
    seen = np.zeros((rows, span), dtype=bool)
    seen[:count, :length] = True
    positions = list(range(length, length + count))
    if parents is None:
        seen[:count, length : length + count] = np.tri(count, dtype=bool)
    else:
        own = seen[:, length:]
        for row, parent in enumerate(parents):
            if not -1 <= parent < row:
                raise ValueError(f"row {row} cannot follow row {parent}")
            if parent >= 0:
                own[row] = own[parent]
                positions[row] = positions[parent] + 1
            else:
                positions[row] = length
            own[row, row] = True
    padding = rows - count
    seen[count:, 0] = True
    mask = torch.from_numpy(seen)
    slots = [*range(length, length + count), *range(total_slots - padding, total_slots)]
    return Rows(
        tokens=torch.tensor([*tokens, *[0] * padding], device=device),
        positions=torch.tensor([*positions, *[0] * padding], device=device),
        slots=torch.tensor(slots, device=device),
        mask=mask.to(device),
        used=count,
        first=length,
        # Exact mode never leaves the mask out: the kernel without one has other last bits.
        whole=rows == 1 and not padded_span,
        given_up=given_up,
    )


def inside_window(rows: Rows, window: int) -> torch.Tensor:
    """The mask of a layer that sees the last ``window`` positions only, bool [rows, span]."""
    keys = slot_positions(rows)
    mask = rows.mask & (rows.positions[:, None] - keys < window)
    mask[:, 0] |= ~mask.any(1)  # a padding row must see something, or its softmax is NaN
    return mask


def slot_positions(rows: Rows) -> torch.Tensor:
    """The position of the token in each slot of the span: slot i holds token i, but for the rows of a tree."""
    keys = torch.arange(rows.span, device=rows.mask.device)
    keys[rows.first : rows.first + rows.used] = rows.positions[: rows.used]
    return keys
