"""What all tests share: the engine's toy and tiny models, the starter, and a quiet single thread."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# Set before torch is imported: two spinning threads on two busy cores are many times slower than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "0")

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def starter_folder() -> Path:
    """The converted starter; the test command has prepared it."""
    from inference.models import starter

    if not starter.is_ready():
        pytest.fail("The starter model is not here; python3 installer/bootstrap.py setup fetches it.")
    return starter.folder()
