"""Tiles are measured once for each shape and kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from triton.runtime.errors import OutOfResources

from inference.models import folders
from inference.quantize import triton_tuning
from inference.quantize.pack import pack, rounded
from inference.quantize.triton_launch import LowBitProduct, Tile

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def product(out: int, columns: int) -> LowBitProduct:
    indices = torch.zeros(out, columns, dtype=torch.uint8)
    return LowBitProduct([pack(indices, torch.ones(out, columns // 64), rounded(torch.linspace(-1, 1, 8)))])


def test_the_quickest_is_used_for_all_of_a_shape_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "tuning_file", lambda: tmp_path / "cache" / "tuning.json")
    measured: list[LowBitProduct] = []
    best = Tile(4, 64, 1, 4)

    def quickest(of: LowBitProduct) -> Tile:
        measured.append(of)
        return best

    monkeypatch.setattr(triton_tuning, "quickest", quickest)
    products = [product(16, 64), product(16, 128), product(16, 64)]
    assert list(triton_tuning.tune(products)) == [(0, 2), (1, 2), (2, 2)]
    assert measured == products[:2]
    assert [each.tile(1) for each in products] == [best] * 3
    assert len(json.loads((tmp_path / "cache" / "kernels.json").read_text())) == 2
    again = product(16, 64)
    list(triton_tuning.tune([again]))
    assert len(measured) == 2
    assert again.tile(1) == best
    (tmp_path / "cache" / "kernels.json").write_text("not JSON")
    list(triton_tuning.tune([again]))
    assert len(measured) == 3
    kept = json.loads((tmp_path / "cache" / "kernels.json").read_text())
    (tmp_path / "cache" / "kernels.json").write_text(json.dumps({name: [4, 64, "1"] for name in kept}))
    list(triton_tuning.tune([again]))
    assert len(measured) == 4, "a note that is no tile is not taken for one"


def test_other_kernels_are_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    one = product(16, 64)
    before = triton_tuning.shape(one)
    assert ", even" in before
    monkeypatch.setattr(triton_tuning, "_kernels", lambda: "others")
    assert triton_tuning.shape(one) != before


def test_the_least_time_wins_and_what_does_not_run_is_left_out() -> None:
    tried: list[int] = []

    def clock(_: object) -> float:
        tried.append(1)
        if len(tried) == 1:
            raise RuntimeError("the compiler failed")
        if len(tried) == 2:
            raise OutOfResources(101, 99, "shared memory")
        return abs(len(tried) - 3) + 1.0  # the third is the quickest

    few = product(64, 4096)
    choices = triton_tuning.candidates(few)
    assert len({tile.split for tile in choices}) > 1
    assert all(tile.split <= max(1, few.groups // tile.groups) for tile in choices)
    assert triton_tuning.quickest(few, clock) == choices[2]
    assert len(tried) == len(choices)
