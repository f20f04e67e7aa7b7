"""Formulas drawn by a process beside the window, one after the other, and kept. Knows nothing of documents.

A formula takes 1 to 20 ms of plain Python: on the window's thread every second one would hold up a frame. The process
begins with the first formula and ends when none was asked for in a while.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from desktop.transcript.drawing import INK, Drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtSvg import QSvgRenderer

MOST_KEPT = 2_000
LONGEST_MS = 10_000
"""A formula that takes longer is shown as its source."""
IDLE_MS = 60_000
ROOT = Path(__file__).resolve().parents[2]
Key = tuple[str, bool]


class Formulas(QObject):
    """``drawn`` comes with each formula that was asked for: its TeX, and whether it stands by itself."""

    drawn = Signal(str, bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Key, Drawing | None] = {}
        self._asked: deque[Key] = deque()
        self._sent = 0
        self._rest = b""
        self._renderers: dict[tuple[str, bool, str], QSvgRenderer] = {}
        self._process = QProcess(self)
        self._process.setProgram(sys.executable)
        self._process.setArguments(["-m", "desktop.transcript.drawing"])
        environment = QProcessEnvironment.systemEnvironment()
        paths = [str(ROOT), *filter(None, [environment.value("PYTHONPATH")])]
        environment.insert("PYTHONPATH", os.pathsep.join(paths))
        environment.insert("PYTHONWARNINGS", "ignore")
        self._process.setProcessEnvironment(environment)
        self._process.setStandardErrorFile(QProcess.nullDevice())
        self._process.readyReadStandardOutput.connect(self._on_answers)
        self._process.finished.connect(self._on_ended)
        self._process.errorOccurred.connect(self._on_ended)
        self._sending = _once(self, 0, self._send)
        self._patience = _once(self, LONGEST_MS, self.stop)
        self._idle = _once(self, IDLE_MS, self._process.closeWriteChannel)
        parent.destroyed.connect(self.stop)

    @property
    def is_drawing(self) -> bool:
        """Whether formulas are still awaited."""
        return bool(self._asked)

    def find(self, tex: str, is_display: bool) -> tuple[bool, Drawing | None]:
        """Whether it is known how the formula looks, and its drawing, None where there cannot be one."""
        key = (tex, is_display)
        if key in self._known:
            return True, self._known[key]
        if key not in self._asked:
            self._asked.append(key)
            self._sending.start()
        return False, None

    def renderer(self, tex: str, is_display: bool, colour: str) -> QSvgRenderer | None:
        """What paints a formula that is known in a colour."""
        from PySide6.QtSvg import QSvgRenderer

        key = (tex, is_display, colour)
        if key not in self._renderers:
            drawing = self._known.get((tex, is_display))
            if drawing is None:
                return None
            if len(self._renderers) >= MOST_KEPT:
                self._renderers.clear()
            self._renderers[key] = QSvgRenderer(QByteArray(drawing.svg.replace(INK, colour).encode()))
        return self._renderers[key]

    def stop(self) -> None:
        """End the process; what it was drawing cannot be drawn."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.kill()
            self._process.waitForFinished(2_000)

    def _send(self) -> None:
        if self._process.state() == QProcess.ProcessState.NotRunning and self._asked:
            self._sent = 0
            self._rest = b""
            self._process.start()
        for key in list(self._asked)[self._sent :]:
            self._process.write(json.dumps(key).encode() + b"\n")
        self._sent = len(self._asked)
        self._patience.start()
        self._idle.start()

    def _on_answers(self) -> None:
        *lines, self._rest = (self._rest + self._process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self._learn(None if answer is None else Drawing(**answer))
        if self._asked:
            self._patience.start()
        else:
            self._patience.stop()

    def _on_ended(self) -> None:
        """It ended while it was drawing: the formula at hand is given up, the others are asked for again."""
        self._patience.stop()
        if self._asked and self._process.state() == QProcess.ProcessState.NotRunning:
            self._learn(None)
            self._sending.start()

    def _learn(self, drawing: Drawing | None) -> None:
        if not self._asked:
            return
        key = self._asked.popleft()
        self._sent = max(0, self._sent - 1)
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
            self._renderers.clear()
        self._known[key] = drawing
        self.drawn.emit(*key)


def _once(parent: QObject, milliseconds: int, do: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(do)
    return timer
