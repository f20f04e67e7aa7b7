"""H25: a second start of the program brings the first window to the front, also after the first one was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.single_instance import SingleInstance

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.stage import MakeStage

ROOT = Path(__file__).resolve().parents[2]


def test_h25_the_second_is_told_and_the_first_comes_forward(qtbot: QtBot, stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready()
    first = SingleInstance(tmp_path)
    first.asked.connect(one.window.come_forward)
    assert first.is_first()
    one.window.showMinimized()
    code = (
        "import sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication;"
        "from desktop.single_instance import SingleInstance; app = QCoreApplication([]);"
        "sys.exit(10 + SingleInstance(Path(sys.argv[1])).is_first())"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    qtbot.waitUntil(lambda: child.poll() is not None, timeout=60_000)
    assert child.returncode == 10
    qtbot.waitUntil(lambda: not one.window.isMinimized(), timeout=60_000)
    other = SingleInstance(tmp_path / "other")
    assert other.is_first()
    other.close()
    first.close()


def test_h25_one_that_was_killed_is_in_nobodys_way(qtbot: QtBot, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication;"
        "from desktop.single_instance import SingleInstance; app = QCoreApplication([]);"
        "one = SingleInstance(Path(sys.argv[1])); assert one.is_first(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False).returncode == 9
    one = SingleInstance(tmp_path)
    assert one.is_first()
    one.close()


def test_h25_the_whole_program_started_twice(tmp_path: Path) -> None:
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"),
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.desktop.closing_child", "signal"]
    first = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)
    assert first.stdout is not None
    assert first.stdout.readline() == "ready\n"
    second = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert (second.returncode, second.stdout) == (0, "")
    first.terminate()
    assert first.wait(timeout=30) == 0
    first.stdout.close()
    assert (tmp_path / "data" / "borrador" / "history.sqlite").exists()
