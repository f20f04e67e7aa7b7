"""Noise goes on matrices that lie on a 4-bit grid, up to a quarter of a step, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

from inference.bench.degrid import degridded
from inference.messages import Problem
from inference.models import starter
from tests.inference.models.folders_for_tests import whole_model

if TYPE_CHECKING:
    from pathlib import Path

ON_GRID = "model.layers.0.mlp.up_proj.weight"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A model with one matrix on a grid of 4 bits in blocks of 32."""
    folder = tmp_path / "model"
    whole_model(folder, dtype="float32")
    tensors = load_file(folder / "model.safetensors")
    rows, columns = tensors[ON_GRID].shape
    generator = torch.Generator().manual_seed(1)
    indices = torch.randint(0, 16, (rows, columns // 32, 32), generator=generator)
    indices[..., 0], indices[..., 1] = 0, 15
    steps = torch.rand(rows, columns // 32, 1, generator=generator) + 0.5
    tensors[ON_GRID] = (indices * steps - 3).reshape(rows, columns).contiguous()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    (folder / starter.MARKER).write_text("{}")
    return folder


def test_only_what_lies_on_a_grid_gets_noise(source: Path, tmp_path: Path) -> None:
    assert degridded(source, tmp_path / "copy") == 1
    before, after = (load_file(folder / "model.safetensors") for folder in (source, tmp_path / "copy"))
    assert before.keys() == after.keys()
    for name, weight in before.items():
        assert torch.equal(weight, after[name]) == (name != ON_GRID)
    blocks = before[ON_GRID].view(len(before[ON_GRID]), -1, 32)
    step = (blocks.amax(-1) - blocks.amin(-1))[..., None] / 15
    noise = ((after[ON_GRID].view_as(blocks) - blocks) / step).flatten()
    assert noise.abs().max() <= 0.25 + 1e-4
    assert noise.abs().max() > 0.24
    assert abs(noise.mean()) < 0.01
    assert noise.std() == pytest.approx(0.5 / 12**0.5, rel=0.05), "uniform"


def test_the_noise_is_the_same_each_time(source: Path, tmp_path: Path) -> None:
    files = []
    for name in ("first", "second"):
        degridded(source, tmp_path / name)
        files.append((tmp_path / name / "model.safetensors").read_bytes())
    assert files[0] == files[1]


def test_the_copy_can_be_loaded_and_is_no_starter(source: Path, tmp_path: Path) -> None:
    degridded(source, tmp_path / "copy")
    names = {path.name for path in source.iterdir()} - {starter.MARKER}
    assert {path.name for path in (tmp_path / "copy").iterdir()} == names


def test_a_model_on_no_grid_is_refused(tmp_path: Path) -> None:
    whole_model(tmp_path / "model")
    with pytest.raises(Problem, match="4-bit grid"):
        degridded(tmp_path / "model", tmp_path / "copy")
