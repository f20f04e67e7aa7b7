"""A copy of a model whose weights no longer lie on a 4-bit grid: what its twins' acceptance is without that flattery.

The starter was made from a file of 4 bits, affine in blocks of 32; a twin in such a format is nearly the same model
(design, section 8). Knows nothing of twins.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import torch

from inference import weights
from inference.messages import Problem
from inference.models import contents, headers, starter

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 32
STEPS = 15
"""From the smallest to the largest weight of a block on the grid."""

NOISE = 0.25
"""The largest noise, in steps; it is uniform up to there on either side."""

NEAR = 0.05
"""Mean distance to the grid, in steps, up to which a matrix lies on it. A quarter of a step is what any other has."""


def degridded(source: Path, target: Path) -> int:
    """Copy the model in ``source`` to ``target``, noise added to matrices on a grid; returns how many those were.

    The same noise each time, so twins that are kept for the copy are found again. Raises Problem when there are none.
    """
    from safetensors.torch import save_file

    target.mkdir(parents=True)
    files = contents.weights(source, source.name)
    for file in source.iterdir():
        if file.is_file() and file not in files and file.name != starter.MARKER:
            shutil.copyfile(file, target / file.name)
    generator = torch.Generator().manual_seed(0)
    found = 0
    for file in files:
        tensors = {name: weights.read(file, tensor) for name, tensor in sorted((headers.read(file) or {}).items())}
        for name, weight in tensors.items():
            noisy = _noisy(weight, generator)
            if noisy is not None:
                tensors[name] = noisy
                found += 1
        save_file(tensors, target / file.name, {"format": "pt"})
    if not found:
        raise Problem("error.setting", field="degrid", value=json.dumps(source.name), allowed="a model on a 4-bit grid")
    return found


def _noisy(weight: torch.Tensor, generator: torch.Generator) -> torch.Tensor | None:
    """The matrix with noise, None where it is no matrix or lies on no grid."""
    if weight.dim() != 2 or weight.shape[1] % BLOCK or not weight.is_floating_point():
        return None
    blocks = weight.float().view(len(weight), -1, BLOCK)
    low, high = (end.unsqueeze(-1) for end in torch.aminmax(blocks, dim=-1))
    step = (high - low) / STEPS
    places = (blocks - low) / step.clamp_min(1e-30)
    if (places - places.round()).abs_().mean() > NEAR:
        return None
    noise = torch.rand(blocks.shape, generator=generator).mul_(2 * NOISE).sub_(NOISE)
    return (blocks + noise * step).view_as(weight).to(weight.dtype)
