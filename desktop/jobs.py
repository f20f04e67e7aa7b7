"""Long work in child processes: starts `python -m inference job ...`, reads its JSON lines, kills it to cancel.

The only file with processes. It knows no widgets and not what the jobs do.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QObject, QProcess, QProcessEnvironment, Qt, QTimer, Signal

from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

HOME = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "inference", "job")
SILENCE_MS = 150_000
"""A job that says nothing for so long hangs where no timeout reaches (a name that never resolves, a dead disk)."""
LAST_WORDS = 2000


class Job(QObject):
    """One job. ``progressed`` carries a Notice and a fraction or None; then one of ``done``, ``failed``, ``silent``.

    ``done`` carries what the job made (a dict), ``failed`` a Notice. After `cancel` only ``gone`` still comes, when the
    process has ended.
    """

    progressed = Signal(object, object)
    done = Signal(object)
    failed = Signal(object)
    silent = Signal()
    gone = Signal(object)

    def __init__(self, arguments: list[str], typed: str, silence_ms: int, command: Sequence[str] = ()) -> None:
        super().__init__()
        self._typed = typed
        self._rest = b""
        self._errors = b""
        self._has_ended = False
        self._process = QProcess(self)
        self._process.setWorkingDirectory(str(HOME))
        self._process.setProcessEnvironment(QProcessEnvironment.systemEnvironment())
        program, *before = command or COMMAND
        self._process.setProgram(program)
        self._process.setArguments([*before, *arguments])
        self._process.started.connect(self._on_started)
        self._process.readyReadStandardOutput.connect(self._on_output)
        self._process.readyReadStandardError.connect(self._on_errors)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._watchdog = QTimer(self)
        self._watchdog.setSingleShot(True)
        self._watchdog.setInterval(silence_ms)
        self._watchdog.timeout.connect(self._on_silence)

    @property
    def is_running(self) -> bool:
        """Whether an end is still to come."""
        return not self._has_ended

    def start(self) -> None:
        """Begin, unless it was cancelled already; signals come later, never from within."""
        if not self._has_ended:
            self._watchdog.start()
            self._process.start()

    def cancel(self) -> None:
        """End it at once; what it has written stays."""
        self._end()
        self._process.kill()

    def has_gone(self, wait_ms: int) -> bool:
        """Whether the process is gone, waiting for it at most ``wait_ms``."""
        return self._process.state() == QProcess.ProcessState.NotRunning or self._process.waitForFinished(wait_ms)

    def _end(self) -> bool:
        was_running, self._has_ended = not self._has_ended, True
        self._watchdog.stop()
        return was_running

    def _on_started(self) -> None:
        if self._typed:
            self._process.write(QByteArray(self._typed.encode()))
        self._process.closeWriteChannel()

    def _on_output(self) -> None:
        *lines, self._rest = (self._rest + self._process.readAllStandardOutput().data()).split(b"\n")
        for line in lines:
            if not self._has_ended and line.strip():
                self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        self._watchdog.start()
        if event["event"] == "progress":
            self.progressed.emit(Notice(event["id"], event["values"]), event["fraction"])
        elif event["event"] == "failed":
            self._end()
            self.failed.emit(Notice(event["id"], event["values"]))
        else:
            self._end()
            self.done.emit(event)

    def _on_errors(self) -> None:
        self._errors = (self._errors + self._process.readAllStandardError().data())[-LAST_WORDS:]

    def _on_finished(self) -> None:
        self._on_output()
        if self._end():
            lines = self._errors.decode("utf-8", "replace").strip().splitlines()
            detail = lines[-1] if lines else self.tr("the job ended without a word")
            self.failed.emit(Notice("error.unexpected", {"detail": detail}))
        self.gone.emit(self)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            if self._end():
                self.failed.emit(Notice("error.unexpected", {"detail": self._process.errorString()}))
            self.gone.emit(self)

    def _on_silence(self) -> None:
        if self._end():
            self._process.kill()
            self.silent.emit()


class Jobs(QObject):
    """Makes jobs and ends those that still run when the window closes. ``command`` is another than the engine's."""

    def __init__(
        self, parent: QObject | None = None, silence_ms: int = SILENCE_MS, command: Sequence[str] = ()
    ) -> None:
        super().__init__(parent)
        self._command = command
        self._silence_ms = silence_ms
        self._jobs: list[Job] = []
        self._is_closed = False

    def job(self, *arguments: str, typed: str = "") -> Job:
        """A job that is yet to be started. ``typed`` goes to its standard input: a secret is in no process list."""
        job = Job(list(arguments), typed, self._silence_ms, self._command)
        if self._is_closed:
            job.cancel()
        # Queued: a job must not vanish while a signal of its own is being delivered.
        job.gone.connect(self._on_gone, Qt.ConnectionType.QueuedConnection)
        self._jobs.append(job)
        return job

    def close(self) -> None:
        """End every job and wait for the processes to be gone; none is started any more."""
        self._is_closed = True
        for job in self._jobs:
            job.cancel()
        for job in self._jobs:
            job.has_gone(2000)

    def _on_gone(self, job: Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)
