"""How all that is installed fits: one memory, what is loaded counted as free, what is broken left out."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from inference.messages import Problem
from inference.models import contents, fit, fits, fitting, job, places
from tests.inference.models.folders_for_tests import change_json, small_gguf, whole_model

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
RAM = fit.Memory("ram", "", 16 * GB, 10 * GB)
CARDS = (fit.Memory("gpu", "First", 8 * GB, 8 * GB, 0), fit.Memory("gpu", "Second", 24 * GB, 20 * GB, 1))


@pytest.fixture
def shelf(home: Path) -> Path:
    """A whole model, a broken one, one that needs code of its own and a GGUF file, in a folder of the user's."""
    whole_model(home / "mine" / "whole")
    for name in ("cut", "coded"):
        shutil.copytree(home / "mine" / "whole", home / "mine" / name)
    (home / "mine" / "cut" / contents.SINGLE).write_bytes(b"")
    change_json(
        home / "mine" / "coded" / "config.json", model_type="martian", auto_map={"AutoConfig": "martian.MartianConfig"}
    )
    (home / "mine" / "coded" / "martian.py").write_text("")
    small_gguf(home / "mine" / "raw.gguf")
    places.add(home / "mine")
    return home / "mine"


def test_what_can_be_loaded_or_imported_has_a_fit(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "memories", lambda: (RAM,))
    found = fits.fits(fits.Loading(), fits.Held())
    assert set(found) == {str(shelf / name) for name in ("whole", "coded", "raw.gguf")}
    told = found[str(shelf / "whole")]
    shape = fitting.shape_in(shelf / "whole", "whole")
    assert told["needed"] == sum(size for _, size in fit.segments(shape, fit.usual(shape, "ram"), "ram"))
    assert sum(part["bytes"] for part in told["segments"]) == RAM.whole


def test_what_is_loaded_counts_as_free_where_it_lies(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "memories", lambda: (*CARDS, RAM))
    whole, raw = str(shelf / "whole"), str(shelf / "raw.gguf")

    def free(held: fits.Held, device: str = "cuda:1") -> int:
        told = fits.fits(fits.Loading(device), held)[raw]
        return sum(part["bytes"] for part in told["segments"] if part["name"] != "others")

    plain = fits.fits(fits.Loading("cuda:1", twin="none"), fits.Held())[whole]["needed"]
    both = fits.fits(fits.Loading("cuda:1"), fits.Held())[whole]["needed"]
    assert free(fits.Held()) == 20 * GB
    assert plain < both
    assert free(fits.Held(whole, "cuda:1")) == 20 * GB + plain
    assert free(fits.Held(whole, "cuda:1", True)) == 20 * GB + both
    assert free(fits.Held(whole, "cuda:0")) == free(fits.Held(whole, "cpu")) == free(fits.Held("gone")) == 20 * GB
    assert fits.fits(fits.Loading("auto"), fits.Held())[raw]["device"] == "First"
    assert fits.fits(fits.Loading("cpu"), fits.Held())[raw]["memory"] == "ram"


@pytest.mark.parametrize(("device", "name"), [
    ("auto", "First"), ("cuda", "First"), ("cuda:1", "Second"), ("cuda:7", ""), ("cpu", ""),
])  # fmt: skip
def test_the_memory_of_a_device(device: str, name: str) -> None:
    assert fits.memory_of(device, (*CARDS, RAM)).name == name
    assert fits.memory_of(device, (RAM,)) is RAM


def test_quantized_weights_have_no_twin(shelf: Path) -> None:
    shape = fitting.shape_in(shelf / "whole", "whole")
    assert fits._plan(shape, fits.Loading(), RAM).twin == "affine4"
    assert fits._plan(replace(shape, quantized=True), fits.Loading(), RAM).twin is None


def test_a_precision_that_is_none(shelf: Path) -> None:
    with pytest.raises(Problem):
        fits.fits(fits.Loading(dtype="float7"), fits.Held())


def test_the_job_tells_every_model(shelf: Path) -> None:
    *_, done = job.run_job(["fits", "--context", "256", "--held", str(shelf / "whole")], threading.Event())
    assert done["event"] == "done"
    assert set(done["fits"]) == {str(shelf / name) for name in ("whole", "coded", "raw.gguf")}
