"""A process beside the window that answers lines of JSON one after the other. Knows nothing of what is asked.

What takes more than a frame of plain Python is done there. It begins with the first question and ends when nothing was
asked in a while.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_MS = 10_000
"""A question that takes longer gets no answer."""
BEGINNING_MS = 60_000
"""The first one may take so long: on a busy machine the process itself takes a while to begin."""
IDLE_MS = 60_000
ROOT = Path(__file__).resolve().parents[2]


class Beside(QObject):
    """Runs ``module``. ``answered`` comes for each question in turn, with its answer, None where there is none."""

    answered = Signal(object)

    def __init__(self, module: str, parent: QObject) -> None:
        super().__init__(parent)
        self._asked: deque[object] = deque()
        self._sent = 0
        self._rest = b""
        self._has_begun = False
        self._process = QProcess(self)
        self._process.setProgram(sys.executable)
        self._process.setArguments(["-m", module])
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
        parent.destroyed.connect(self._leave)

    @property
    def is_busy(self) -> bool:
        """Whether answers are still awaited."""
        return bool(self._asked)

    def ask(self, question: object) -> None:
        """Have a question answered."""
        self._asked.append(question)
        self._sending.start()

    def stop(self) -> None:
        """End the process; the question at hand gets no answer."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.kill()
            self._process.waitForFinished(2_000)

    def _leave(self) -> None:
        """Nobody waits for answers any more."""
        self._asked.clear()
        self.stop()

    def _send(self) -> None:
        if self._process.state() == QProcess.ProcessState.NotRunning and self._asked:
            self._sent = 0
            self._rest = b""
            self._has_begun = False
            self._process.start()
        for question in list(self._asked)[self._sent :]:
            self._process.write(json.dumps(question).encode() + b"\n")
        self._sent = len(self._asked)
        self._patience.start(LONGEST_MS if self._has_begun else BEGINNING_MS)
        self._idle.start()

    def _on_answers(self) -> None:
        *lines, self._rest = (self._rest + self._process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            self._has_begun = True
            self._answer(json.loads(line))
        if self._asked and self._has_begun:
            self._patience.start(LONGEST_MS)
        elif not self._asked:
            self._patience.stop()

    def _on_ended(self) -> None:
        """It ended while it was asked: the question at hand is given up, the others are asked again."""
        self._patience.stop()
        if self._asked and self._process.state() == QProcess.ProcessState.NotRunning:
            self._answer(None)
            self._sending.start()

    def _answer(self, answer: Any) -> None:
        if self._asked:
            self._asked.popleft()
            self._sent = max(0, self._sent - 1)
            self.answered.emit(answer)


def _once(parent: QObject, milliseconds: int, do: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(do)
    return timer
