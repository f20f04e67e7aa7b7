"""Kept twins: whole or not there, whatever happens; what is damaged or not ours is set aside."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inference.messages import Problem
from inference.quantize import kept
from inference.quantize.codebook import quantize
from inference.quantize.kept import Record
from inference.quantize.recipes import RECIPES

RECORD = Record("tiny", "ab" * 32, "mixed3", True, 3.3, 3.55, 1000, 12.5, 0.7, 600)
CHILD = Path(__file__).with_name("saving_child.py")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "twins"
    monkeypatch.setattr(kept, "folder", lambda: place)
    return place


def matrices() -> dict[str, kept.Packed]:
    torch.manual_seed(3)
    formats = [RECIPES["nf3"].others, RECIPES["affine3"].others, RECIPES["nf4"].others]
    return {f"layers.{n}": quantize(torch.randn(48, 100), format).packed() for n, format in enumerate(formats)}


def load() -> tuple[dict[str, kept.Packed], Record] | None:
    return kept.load(RECORD.source, RECORD.recipe, calibrated=True)


def test_a_twin_comes_back_as_it_was() -> None:
    before = matrices()
    kept.save(before, RECORD)
    found = load()
    assert found is not None
    assert found[0].keys() == before.keys()
    for path, matrix in found[0].items():
        assert torch.equal(matrix.dequantize(), before[path].dequantize())
        assert matrix.bytes == before[path].bytes
    assert found[1].acceptance == 0.7
    assert [record.recipe for _, record in kept.records()] == ["mixed3"]
    assert kept.load(RECORD.source, RECORD.recipe, calibrated=False) is None
    assert kept.load("cd" * 32, RECORD.recipe, calibrated=True) is None
    assert kept.remove(place for place, _ in kept.records()) > 0
    assert load() is None


def test_one_flipped_bit_anywhere_is_noticed(folder: Path) -> None:
    place = kept.save(matrices(), RECORD)
    whole = place.read_bytes()
    generator = random.Random(5)
    places = [8 + len(whole) // 3, len(whole) - 1, *(generator.randrange(len(whole)) for _ in range(20))]
    for position in places:
        damaged = bytearray(whole)
        damaged[position] ^= 1 << generator.randrange(8)
        place.write_bytes(damaged)
        found = load()
        if found is not None:  # a bit of what only people read: everything else is as it was
            assert all(torch.equal(found[0][p].dequantize(), m.dequantize()) for p, m in matrices().items())
        else:
            assert not place.exists()
            assert (folder / (place.name + kept.DAMAGED)).exists()
    kept.save(matrices(), RECORD)
    assert load() is not None


@pytest.mark.parametrize("content", [b"", b"not ours", bytes(4000)], ids=["empty", "text", "zeros"])
def test_a_foreign_file_is_set_aside(folder: Path, content: bytes) -> None:
    folder.mkdir()
    place = kept.file_of(RECORD.source, RECORD.recipe, calibrated=True)
    place.write_bytes(content)
    assert load() is None
    assert not place.exists()
    assert kept.records() == []


def test_a_twin_of_other_weights_under_this_name_is_set_aside() -> None:
    place = kept.save(matrices(), RECORD)
    other = kept.file_of("ef" * 32, RECORD.recipe, calibrated=True)
    place.rename(other)
    assert kept.load("ef" * 32, RECORD.recipe, calibrated=True) is None
    assert not other.exists()


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors.torch

    kept.save(matrices(), RECORD)

    def full(tensors: object, part: Path, metadata: object) -> None:
        part.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(safetensors.torch, "save_file", full)
    with pytest.raises(Problem, match="cannot be written"):
        kept.save(matrices(), RECORD)
    assert load() is not None, "the one that was there stays"
    assert not list(folder.glob("*" + kept.PART))


def test_room_is_asked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.models import folders

    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000})())
    with pytest.raises(Problem, match="needs 1 MB of free space and has 1 MB"):
        kept.save(matrices(), RECORD)


def test_a_disk_that_fills_while_it_is_written_is_told_with_figures(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.torch
    from safetensors import SafetensorError

    free = [10**9]

    def full(tensors: object, part: Path, metadata: object) -> None:
        part.write_bytes(b"half of it")
        free[0] = 0
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(safetensors.torch, "save_file", full)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free[0]}))
    with pytest.raises(Problem, match="needs 1 MB of free space and has 0 MB"):
        kept.save(matrices(), RECORD)
    assert not list(folder.glob("*" + kept.PART))


def test_what_a_killed_build_left_takes_no_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    left = folder / f"old.safetensors.{2**22 + 1}{kept.PART}"  # no process has such a number
    left.write_bytes(b"half of it")
    monkeypatch.setattr(
        "shutil.disk_usage", lambda _: type("Usage", (), {"free": 0 if left.exists() else 10**9})
    )
    kept.save(matrices(), RECORD)
    assert load() is not None
    assert not left.exists()



@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_at_twenty_random_moments_of_saving(folder: Path) -> None:
    generator = random.Random(9)
    command = [sys.executable, str(CHILD), str(folder)]
    whole = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(20):
            child.stdin.write("go\n")
            child.stdin.flush()
            process = int(child.stdout.readline())
            for _ in range(generator.randrange(8)):
                child.stdout.readline()  # one line for each twin saved
            os.kill(process, signal.SIGKILL)
            while child.stdout.readline() != "ended\n":
                pass
            whole += load() is not None
            assert not list(folder.glob("*" + kept.DAMAGED)), "a file is whole or not there"
        child.stdin.close()
    assert whole
    kept.save(matrices(), RECORD)
    assert not list(folder.glob("*" + kept.PART)), "what was killed is cleared away"


def test_weights_are_hashed_once_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model"
    model.mkdir()
    weights = model / "model.safetensors"
    weights.write_bytes(b"one")
    first = kept.source_of(model)
    counted = []
    real = kept.hashlib.sha256
    monkeypatch.setattr(kept.hashlib, "sha256", lambda *a: counted.append(1) or real(*a))
    assert kept.source_of(model) == first
    assert not counted
    weights.write_bytes(b"other weights")
    assert kept.source_of(model) != first
    (kept.folder() / "sources.json").write_text("not json")
    assert kept.source_of(model) != first
