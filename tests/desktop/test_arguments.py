"""The command line of the window, read without Qt and without torch."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from desktop.__main__ import has_display, main, read_arguments
from inference.settings import ModelChoice, Speculation

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_given_is_the_starter() -> None:
    assert read_arguments([]) == (ModelChoice(twin_later=True), Speculation(), False)


def test_everything_given() -> None:
    line = "--model owner/name@main --drafter none --k 3 --fast --context 512 --dtype float32 --device cpu"
    choice, speculation, is_named = read_arguments(line.split())
    assert is_named
    assert choice == ModelChoice("owner/name@main", "none", "float32", "cpu", 512, exact=False, twin_later=True)
    assert speculation == Speculation(on=False, k=3)
    assert read_arguments(["--exact"])[0].exact is True
    choice = read_arguments(["--drafter", "small-model", "--draft-model", "owner/small"])[0]
    assert choice == ModelChoice(drafter="small-model", draft_model="owner/small", twin_later=True)


@pytest.mark.parametrize(
    "line",
    ["--k 9", "--k many", "--k -1", "--drafter magic", "--dtype int3", "--device toaster", "--context 3",
     "--context x", "--exact --fast", "--unknown"],
)  # fmt: skip
def test_a_wrong_value_is_one_sentence_and_status_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: object = main(line.split())
    except SystemExit as exit:
        status = exit.code
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert said.err.startswith("borrador: ")
    assert said.err.count("\n") == 1


VERSION = f"Borrador {version('borrador')}"


def in_a_process(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("option", "said"), [("--version", VERSION), ("--help", "usage: borrador")])
def test_i11_help_and_version_need_neither_qt_nor_torch(option: str, said: str) -> None:
    code = (
        "import sys\n"
        "try:\n import runpy; runpy.run_module('desktop', run_name='__main__')\n"
        "finally:\n heavy = {'PySide6', 'torch', 'numpy'} & set(sys.modules)\n assert not heavy, heavy\n"
    )
    ended = in_a_process(code, option)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(said)


def test_i01_the_window_imports_nothing_heavy() -> None:
    code = "import sys, desktop.app; print({'torch', 'transformers', 'bitsandbytes', 'numpy'} & set(sys.modules))"
    ended = in_a_process(code)
    assert ended.stdout == "set()\n"


BEHIND_THE_FIRST_FRAME = (
    "markdown_it", "pygments", "ziamath", "pyqtgraph", "keyring", "pypdf", "docx", "huggingface_hub",
    "importlib.metadata", "email", "http", "asyncio", "PySide6.QtPrintSupport", "inference.bench.record",
    "inference.session", "inference.loading", "desktop.exchange.writing", "desktop.exchange.reading",
    "desktop.models.installed",
    "desktop.models.discover", "desktop.models.page", "desktop.settings.dialog", "desktop.settings.chat_dialog",
    "desktop.speculation.compare", "desktop.speculation.lab", "desktop.speculation.reply_record",
)
"""What a window that was just painted has no use for: each takes time from the start."""

UNTIL_THE_FIRST_FRAME = """
import gc, os, sys
import desktop.__main__ as program
from desktop import app

class Window(app.MainWindow):
    told = False

    def show(self):
        super().show()
        self.appeared.connect(self.tell)  # behind what the program itself connects

    def paintEvent(self, event):
        super().paintEvent(event)
        if not self.told:
            print(sorted(set(sys.modules) & set(sys.argv[1:])), "cycles looked for:", gc.isenabled())
        self.told = True

    def tell(self):
        print("cycles looked for:", gc.isenabled(), flush=True)
        os._exit(0)

app.MainWindow = Window
program.main([])
"""


def test_the_first_frame_needs_no_dialogs_nor_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert all(map(find_spec, BEHIND_THE_FIRST_FRAME)), "names of modules change"
    ended = in_a_process(UNTIL_THE_FIRST_FRAME, *BEHIND_THE_FIRST_FRAME)
    assert ended.stdout == "[] cycles looked for: False\ncycles looked for: True\n", ended


def test_i11_without_a_display_it_says_so_and_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert has_display("win32", {})
    assert has_display("linux", {"WAYLAND_DISPLAY": "wayland-0"})
    assert has_display("linux", {"QT_QPA_PLATFORM": "offscreen"})
    monkeypatch.setattr("desktop.__main__.has_display", lambda *_: False)
    assert main([]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_i02_missing_streams_are_replaced() -> None:
    code = (
        "import sys; keep, sys.stdout, sys.stderr = sys.stdout, None, None\n"
        "from desktop.__main__ import main\n"
        "assert main(['--k', '99']) == 2\n"
        "sys.stdout.write('lost'); keep.write('fine')"
    )
    assert in_a_process(code).stdout == "fine"
