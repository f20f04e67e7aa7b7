"""A tiny chat model, and a session over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inference.events import Loaded
from inference.session import Session
from inference.settings import ModelChoice
from tests.inference.session_for_tests import load, save_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    session = Session()
    loaded = load(session, ModelChoice(model=str(folder), drafter="twin", dtype="float32", context=600))
    assert isinstance(loaded, Loaded)
    yield session
    session.close()
