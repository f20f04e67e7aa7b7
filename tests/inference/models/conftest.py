"""A hub of the tests' own, and user folders that are not the user's."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import huggingface_hub
import pytest
from huggingface_hub import constants

from inference.messages import Problem
from inference.models import download
from inference.models.source import Located, locate
from tests.fake_hub import FakeHub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from inference.messages import Notice
    from inference.models.download import Fetched


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in (
        "HF_HUB_CACHE",
        "HUGGINGFACE_HUB_CACHE",
        "HF_TOKEN",
        "HF_TOKEN_PATH",
        "HF_HUB_OFFLINE",
        "HF_ENDPOINT",
        "TRANSFORMERS_OFFLINE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
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


class Fetch:
    """``download.fetch`` in this process: what it told in ``notices``, every pause in ``pauses`` without waiting it."""

    def __init__(self) -> None:
        self.notices: list[tuple[Notice, float | None]] = []
        self.pauses: list[float] = []

    def __call__(self, repository: str = "owner/tiny", file: str | None = None) -> Fetched:
        return download.fetch(repository, None, lambda *said: self.notices.append(said), file)

    def problem(self, repository: str = "owner/tiny", file: str | None = None) -> Problem:
        """What ``repository`` is refused with."""
        with pytest.raises(Problem) as caught:
            self(repository, file)
        assert "Traceback" not in str(caught.value) and "\n" not in str(caught.value)
        return caught.value

    def said(self, id: str) -> list[Notice]:
        """Every notice of this id."""
        return [notice for notice, _ in self.notices if notice.id == id]


@pytest.fixture
def fetch(hub: FakeHub, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fetch]:
    made = Fetch()
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "no-token"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)  # a job's environment says so
    monkeypatch.setattr(time, "sleep", made.pauses.append)
    huggingface_hub.close_session()
    yield made
    huggingface_hub.close_session()
