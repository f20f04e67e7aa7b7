"""Recipes: which format each kind of weight takes in the twin, and what a format is.

Bits are told apart: those of the levels, and those a weight takes packed, with its share of scales and offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING

import torch

from inference.quantize.pack import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

SCALE_BITS = 16
"""Of a scale, and of an offset."""

AUTO = "auto"
"""Names no recipe: the one that is fastest on the device is taken."""


@dataclass(frozen=True, slots=True)
class Format:
    """``bits`` of an index; ``block`` weights share a scale, and an offset where the format is ``affine``."""

    bits: int
    block: int
    affine: bool = False

    @property
    def packed_bits(self) -> float:
        """Bits a weight takes with its share of scale and offset."""
        return self.bits + (2 if self.affine else 1) * SCALE_BITS / self.block

    def levels(self) -> torch.Tensor:
        """Ascending levels from -1 to 1 as the kernels' tables hold them, float32 [2**bits]."""
        count = 2**self.bits
        return rounded(torch.linspace(-1, 1, count) if self.affine else normal_float(count))


@dataclass(frozen=True, slots=True)
class Recipe:
    """``others`` for all matrices but those whose last name is in ``kinds``."""

    name: str
    others: Format
    kinds: Mapping[str, Format] = field(default_factory=dict)

    def format(self, path: str) -> Format:
        """The format of the matrix with this name in the model."""
        return self.kinds.get(path.rpartition(".")[2], self.others)


def normal_float(count: int) -> torch.Tensor:
    """Levels at quantiles of the normal distribution, 0 and both ends among them (NF4 of QLoRA, arXiv 2305.14314)."""
    offset, normal = 0.9677083, NormalDist()

    def half(parts: int) -> list[float]:
        return [normal.inv_cdf(offset + (0.5 - offset) * part / parts) for part in range(parts)]

    levels = torch.tensor([*(-level for level in half(count // 2 - 1)), 0.0, *reversed(half(count // 2))])
    return levels / levels.abs().max()


NF3, NF4 = Format(3, 64), Format(4, 64)

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("nf3", NF3),
        Recipe("affine3", Format(3, 32, affine=True)),
        Recipe("mixed3", NF3, {"v_proj": NF4, "o_proj": NF4, "down_proj": NF4}),
        Recipe("nf4", NF4),
        Recipe("affine4", Format(4, 32, affine=True)),
        Recipe("nf2", Format(2, 64)),
    )
}
"""By name. The mixed one gives 4 bits to what writes into the stream that all later layers read, and to the values."""
