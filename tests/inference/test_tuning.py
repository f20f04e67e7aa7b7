"""Threads and precision: measured once, kept, and left alone where the user has chosen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch

from inference import tuning
from inference.models import fit, folders
from inference.native import products
from inference.tuning import Tuning, thread_counts, tune

if TYPE_CHECKING:
    from pathlib import Path

BOTH = (torch.bfloat16, torch.float32)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """One entry for each measurement; float32 on one thread wins."""
    calls: list[int] = []

    def quickest(choices: list[Tuning], columns: int, _: torch.dtype | None) -> Tuning:
        calls.append(columns)
        return choices[-1]

    monkeypatch.setattr(folders, "tuning_file", lambda: tmp_path / "cache" / "tuning.json")
    monkeypatch.setattr(tuning, "_quickest", quickest)
    monkeypatch.setattr(tuning, "thread_counts", lambda: [2, 1])
    return calls


def test_a_choice_is_measured_once_a_model(measured: list[int]) -> None:
    assert tune("a", 64, BOTH) == tune("a", 64, BOTH) == Tuning(1, torch.float32)
    assert measured == [64]
    tune("b", 32, BOTH)
    assert measured == [64, 32]


@pytest.mark.parametrize("content", ["", "[]", '{"a": 3}', "\x00"])
def test_a_broken_file_is_measured_again(measured: list[int], content: str) -> None:
    folders.tuning_file().parent.mkdir()
    folders.tuning_file().write_text(content)
    tune("a", 64, BOTH)
    assert tune("a", 64, BOTH) == Tuning(1, torch.float32)
    assert measured == [64]


def test_a_folder_that_cannot_be_written_stops_nothing(measured: list[int]) -> None:
    folders.tuning_file().parent.write_text("a file in the way")
    assert tune("a", 64, BOTH) == Tuning(1, torch.float32)


def test_without_a_choice_nothing_is_measured(measured: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "thread_counts", lambda: [2])
    assert tune("a", 64, (torch.float32,)) == Tuning(2, torch.float32)
    assert measured == []
    kept = json.loads(folders.tuning_file().read_text())
    own = products.version() if products.available() else ""
    assert kept == {"precision": "float32", "products": own}, "what the forecast of memory asks"
    assert fit.usual(fit.shape({"dtype": "bfloat16"}), "ram").dtype == "float32"


def test_threads_that_the_user_set_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning.torch, "get_num_threads", lambda: 16)
    monkeypatch.setattr(tuning.psutil, "cpu_count", lambda logical: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert thread_counts() == [16, 8]
    monkeypatch.setenv("OMP_NUM_THREADS", "16")
    assert thread_counts() == [16]


def test_a_real_measurement_leaves_the_threads_as_they_were(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(folders, "tuning_file", lambda: tmp_path / "tuning.json")
    before = torch.get_num_threads()
    found = tune("a", 576, BOTH)
    assert found.dtype in BOTH
    assert torch.get_num_threads() == before
    assert tune("a", 576, BOTH) == found


def test_a_wider_precision_must_be_far_quicker_and_one_of_the_same_size_a_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock says that float32 takes 1 of 1.3 of bfloat16's time: enough where it keeps weights of 16 bits."""
    choices = [Tuning(1, torch.bfloat16), Tuning(1, torch.float32)]
    spent = {torch.bfloat16: 1.3, torch.float32: 1.0}
    now = [0.0]

    class Layer:
        def __init__(self, weight: torch.Tensor, _: None, dtype: torch.dtype) -> None:
            self.weight, self.dtype = weight, dtype

        def __call__(self, x: torch.Tensor) -> None:
            now[0] += spent[self.dtype]

        def dense(self) -> torch.Tensor:
            return self.weight

    monkeypatch.setattr(tuning, "DenseLinear", Layer)
    monkeypatch.setattr(tuning.time, "perf_counter", lambda: now[0])
    assert tuning._quickest(choices, 64, torch.bfloat16) == choices[1]
    assert tuning._quickest(choices, 64, None) == choices[0]
    spent[torch.bfloat16] = 1.05
    assert tuning._quickest(choices, 64, torch.bfloat16) == choices[0]
