"""What all tests share: the starter, one thread a process, and heavy files first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# Tests run beside each other, and threads that wait for each other on busy cores are many times slower than one. What
# depends on their number asks for them. Processes that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
# Kernels are interpreted on the CPU; Triton decides so when it is imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A test does not fail because the machine is busy; pytest's own timeout ends one that hangs.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests go first, so that at the end no process waits long for another."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def starter_folder() -> Path:
    """The converted starter; the test command has prepared it."""
    from inference.models import starter

    if not starter.is_ready():
        pytest.fail("The starter model is not here; python3 installer/bootstrap.py setup fetches it.")
    return starter.folder()


@pytest.fixture(autouse=True, scope="session")
def _measurements_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests measure on a busy machine must not be kept for the user."""
    from inference import kept_steps
    from inference.models import folders
    from inference.quantize import choice, costs, kept

    # Which recipe is fastest with a tiny model is chance.
    known = costs.Costs(1.0, {recipe: 0.3 if recipe == "affine4" else 0.6 for recipe in choice.CANDIDATES}, (1.0,) * 9)
    with pytest.MonkeyPatch.context() as patch:
        file = tmp_path_factory.mktemp("measured") / "tuning.json"
        patch.setattr(folders, "tuning_file", lambda: file)
        patch.setattr(folders, "priors_file", lambda: file.with_name("drafters.json"))
        patch.setattr(kept_steps, "save", lambda *_: None)
        patch.setattr(costs, "load", lambda *_: known)
        twins = tmp_path_factory.mktemp("twins")
        patch.setattr(kept, "folder", lambda: twins)
        yield
