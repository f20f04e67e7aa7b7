"""The installer as a module, with nothing of this machine in its decisions."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

PATH = Path(__file__).resolve().parents[2] / "installer" / "bootstrap.py"


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    checkout = tmp_path / "checkout"
    (checkout / "installer").mkdir(parents=True)
    (checkout / "pyproject.toml").write_text("[project]")
    (checkout / "installer" / "constraints.txt").write_text("torch==2.13.0")
    monkeypatch.setattr(module, "CHECKOUT", checkout)
    monkeypatch.setattr(module, "CONSTRAINTS", checkout / "installer" / "constraints.txt")
    monkeypatch.setattr(module, "can_load", lambda library: True)
    monkeypatch.setattr(module, "has_nvidia_driver", lambda: False)
    monkeypatch.setattr(module, "is_reachable", lambda url, seconds: False)
    monkeypatch.setattr(module, "free", lambda folder: 10**12)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    return module


class Machine:
    """What the installer would have started: environments, pip, the starter, the program."""

    def __init__(self, module: ModuleType, venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module = module
        self.venv = venv
        self.pip: list[list[str]] = []
        self.pip_says: tuple[int, str] = (0, "")
        self.starters = 0
        self.program: list[str] | None = None
        self.folder: Path | None = None
        monkeypatch.setattr(module, "make_environment", self.make)
        monkeypatch.setattr(module.subprocess, "Popen", self.popen)
        monkeypatch.setattr(module, "fetch_starter", self.fetch)
        monkeypatch.setattr(module, "hand_over", self.hand_over)
        monkeypatch.setattr(sys, "stdin", None)

    def make(self, venv: Path) -> None:
        python = self.module.environment_python(venv)
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()

    def popen(self, command: list[str], **_: object) -> object:
        self.pip.append(command)
        status, said = self.pip_says

        class Process:
            stderr = iter(said.splitlines(keepends=True))
            returncode = status

            def __enter__(self) -> Process:
                return self

            def __exit__(self, *_: object) -> None: ...

        return Process()

    def fetch(self, python: Path) -> None:
        self.starters += 1

    def hand_over(self, command: list[str], folder: Path | None) -> int:
        self.program, self.folder = command[1:], folder
        return 0

    def run(self, *arguments: str) -> int:
        return int(self.module.main(["--venv", str(self.venv), *arguments]))


@pytest.fixture
def machine(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(bootstrap, tmp_path / "venv", monkeypatch)
