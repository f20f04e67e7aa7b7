"""A hub of the tests' own, and user folders that are not the user's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from inference.models.source import Located, locate
from tests.fake_hub import FakeHub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from inference.messages import Notice


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "HF_ENDPOINT",
                 "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with FakeHub() as fake:
        monkeypatch.setenv("HF_ENDPOINT", fake.url)
        monkeypatch.setenv("NO_PROXY", "*")
        yield fake


@pytest.fixture
def notices() -> list[tuple[Notice, float | None]]:
    return []


@pytest.fixture
def find(notices: list[tuple[Notice, float | None]]) -> Callable[..., Located]:
    """``locate`` with its progress kept in ``notices``."""

    def find(model: str, cancel: threading.Event | None = None) -> Located:
        search = locate(model, cancel or threading.Event())
        while True:
            try:
                notices.append(next(search))
            except StopIteration as end:
                return end.value

    return find
