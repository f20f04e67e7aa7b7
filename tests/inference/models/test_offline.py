"""F06 and the offline switch: not one connection, held to by the kernel, code that is not Python's included."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inference.models import folders
from tests.inference.models.folders_for_tests import whole_model

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filter is Linux's")
ROOT = Path(__file__).resolve().parents[3]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(home: Path) -> Run:
    """A module of the program where an internet socket is death."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.no_sockets", *arguments]
        return subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run


def test_the_filter_works(run: Run) -> None:
    assert run("http.server", "0").returncode == -signal.SIGSYS
    reached = run("inference", "job", "download", "owner/tiny", HF_ENDPOINT="http://127.0.0.1:9")
    assert reached.returncode == -signal.SIGSYS


@pytest.mark.parametrize(("job", "id"), [
    (("download", "owner/tiny"), "error.offline"), (("search", "tiny"), "error.offline_search"),
])  # fmt: skip
@pytest.mark.parametrize("switch", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_the_offline_switch_leaves_no_connection(run: Run, job: tuple[str, ...], id: str, switch: str) -> None:
    done = run("inference", "job", *job, **{switch: "1"})
    assert done.returncode == 1, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["event"], last["id"]) == ("failed", id)


@pytest.mark.parametrize("job", ["library", "tested"])
def test_what_the_window_asks_at_its_start_connects_to_nothing(run: Run, job: str) -> None:
    done = run("inference", "job", job)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "done"


@pytest.mark.slow
def test_F06_an_installed_model_is_loaded_and_answers_without_a_connection(run: Run, home: Path) -> None:
    storage = folders.hub_cache() / "models--owner--tiny"
    snapshot = storage / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    whole_model(home / "blobs", shards=True)
    for path in (home / "blobs").iterdir():
        (snapshot / path.name).symlink_to(path)
    (storage / "refs").mkdir()
    (storage / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    answer = ("--prompt", "Hello", "--max-new-tokens", "4", "--temperature", "0", "--fast", "--json")
    done = run("inference", "chat", "--model", "owner/tiny", *answer)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] == 4
