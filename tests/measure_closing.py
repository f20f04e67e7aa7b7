"""Measures how long the program takes to end: ``python -m tests.measure_closing``.

Each time a real window with the real engine and the starter, closed as by its button: while libraries are imported, the
model is read, a prompt is read, a reply is written, a twin is made, a model is fetched. What counts is the time from
there to the end of the process, its exit status, and that nothing was printed. Not a test: timings belong to a quiet
machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QTimer

from desktop import app
from desktop.main_window import MainWindow
from inference.events import Loaded, Prefill, Round
from inference.settings import ModelChoice, Speculation
from tests import fake_hub
from tests.fake_hub import FakeHub, Fault, Repository

if TYPE_CHECKING:
    from inference.events import Event

LONG = "Summarise this. " + "The sea was calm and the boats lay still in the small harbour. " * 250
MOMENTS = (
    "0.2 s after the start", "1 s after the start", "2 s after the start", "4 s after the start",
    "ready", "prefill", "round 1", "round 20", "twin", "download",
)  # fmt: skip
TOLD = "closing "


def child(moment: str) -> int:
    """The program, which closes itself at the moment and tells when that was."""

    class Window(MainWindow):
        def showEvent(self, event: object) -> None:
            super().showEvent(event)  # type: ignore[arg-type]
            self._worker.happened.connect(self.heard)
            if moment.endswith("start"):
                QTimer.singleShot(round(1000 * float(moment.split()[0])), self.end)
            elif moment == "download":
                QTimer.singleShot(5000, self.end)

        def heard(self, event: Event) -> None:
            if isinstance(event, Loaded):
                if moment in ("ready", "twin"):
                    QTimer.singleShot(300 if moment == "ready" else 4000, self.end)
                elif moment in ("prefill", "round 1", "round 20"):
                    QTimer.singleShot(200, lambda: self.ask(LONG if moment == "prefill" else "Write a long story."))
            elif (moment == "prefill" and isinstance(event, Prefill)) or (
                isinstance(event, Round) and moment == f"round {event.index + 1}"
            ):
                QTimer.singleShot(0, self.end)

        def end(self) -> None:
            os.write(3, f"{TOLD}{time.monotonic()}\n".encode())
            self.close()

    app.MainWindow = Window  # type: ignore[attr-defined, misc]
    model = "owner/tiny" if moment == "download" else "starter"
    return app.run(ModelChoice(model=model, context=8192), Speculation())


def measured(moment: str, keeps_twin: bool) -> str:
    """A line about one closing."""
    with FakeHub() as hub, tempfile.TemporaryDirectory() as home:
        hub.repositories["owner/tiny"] = Repository(fake_hub.model_files(50))
        hub.faults.append(Fault("model.safetensors", bytes_per_second=2e6))
        data = platformdirs.user_data_path("borrador", appauthor=False)
        own = Path(home) / "data" / "borrador"
        own.mkdir(parents=True)
        for folder in ("models", "twins") if keeps_twin else ("models",):
            if (data / folder).exists():
                (own / folder).symlink_to(data / folder)
        place = {"XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config", "HF_HOME": f"{home}/hf"}
        told, tell = os.pipe()
        running = subprocess.Popen(
            ["bash", "-c", f'exec "$0" -m tests.measure_closing "$1" 3>&{tell}', sys.executable, moment],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "HF_ENDPOINT": hub.url, "NO_PROXY": "*", **place},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(tell,),
        )  # fmt: skip
        os.close(tell)
        output, _ = running.communicate(timeout=120)
        ended = time.monotonic()
        with os.fdopen(told) as said:
            when = said.read().removeprefix(TOLD)
    took = f"{ended - float(when):.2f} s" if when else "never closed"
    return f"{moment}: {took}, exit {running.returncode}, printed {len(output)} bytes {output[-200:].decode()!r}"


def main() -> int:
    """All moments, or the child for one."""
    if len(sys.argv) > 1:
        return child(sys.argv[1])
    for moment in MOMENTS:
        sys.stdout.write(measured(moment, keeps_twin=moment != "twin") + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
