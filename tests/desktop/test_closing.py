"""H01: the window may be closed at any moment: status 0, soon, and not a word on standard error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHILD = [sys.executable, "-m", "tests.desktop.closing_child"]


def start(moment: str, home: Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.Popen(
        [*CHILD, moment], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def complaints(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("This plugin does not support")]


@pytest.mark.parametrize("moment", ["loading", "ready", "prefill", "round0", "round3", "round200", "model", "held"])
def test_h01_closing_ends_the_process(moment: str, tmp_path: Path) -> None:
    child = start(moment, tmp_path)
    _out, err = child.communicate(timeout=60)
    assert child.returncode == 0
    assert complaints(err) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no SIGTERM to send")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_h01_a_signal_closes_the_window(name: str, tmp_path: Path) -> None:
    child = start("signal", tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.Signals[name])
    _out, err = child.communicate(timeout=60)
    assert child.returncode == 0
    assert complaints(err) == []
