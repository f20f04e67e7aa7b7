"""Reads files for the composer: short ones at once, slow kinds in a process of their own that can be given up."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from desktop.attachments.quoting import Attachment, clean_name
from desktop.attachments.reading import SLOW, Unreadable, read
from desktop.sentences import filled, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60
MOST_FILES = 20
"""So many are taken at one go."""


class Attaching(QObject):
    """``came`` carries an Attachment, ``refused`` a sentence; ``changed`` comes when other files are being read."""

    came = Signal(object)
    refused = Signal(str)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._readers: list[Reader] = []

    @property
    def waiting(self) -> list[str]:
        """The names of files that are still being read."""
        return [reader.path.name for reader in self._readers]

    def take(self, paths: Iterable[Path]) -> None:
        """Read files."""
        given = list(paths)
        for path in given[:MOST_FILES]:
            if path.suffix.lower() in SLOW and path.is_file():
                reader = Reader(path, self)
                reader.ended.connect(self._on_ended)
                self._readers.append(reader)
                reader.start()
                self.changed.emit()
                continue
            try:
                self.came.emit(Attachment(_name(path), read(path)))
            except Unreadable as fault:
                self.refused.emit(self._sentence(path.name, fault.kind, fault.values))
        if len(given) > MOST_FILES:
            words = self.tr("Only the first {count} files were taken; add the others in another message.")
            self.refused.emit(filled(words, count=MOST_FILES))

    def give_up(self, name: str | None = None) -> None:
        """Read no further: one file, or all."""
        for reader in [one for one in self._readers if name in (None, one.path.name)]:
            self._readers.remove(reader)
            reader.give_up()
        self.changed.emit()

    def close(self) -> None:
        """End what is being read, and wait for that: the program ends."""
        readers = list(self._readers)
        self.give_up()
        for reader in readers:
            reader.process.waitForFinished(1000)

    # Within

    def _on_ended(self, reader: Reader, answer: dict[str, Any]) -> None:
        if reader not in self._readers:
            return
        self._readers.remove(reader)
        reader.deleteLater()
        self.changed.emit()
        if "text" in answer:
            self.came.emit(Attachment(_name(reader.path), str(answer["text"])))
        else:
            self.refused.emit(self._sentence(reader.path.name, str(answer["fault"]), answer["values"]))

    def _sentence(self, name: str, kind: str, values: Mapping[str, str | int]) -> str:
        words = {
            "missing": self.tr("{file} is not there any more."),
            "folder": self.tr("{file} is a folder; add the files in it."),
            "denied": self.tr("{file} cannot be read: {detail}."),
            "large": self.tr("{file} has {size} MB; at most {limit} MB can be added."),
            "long": self.tr("{file} holds {size} characters; at most {limit} can be added. Add a part of it."),
            "empty": self.tr("{file} holds no text."),
            "scanned": self.tr("{file} holds no text, only pictures of it; run it through a text recognition first."),
            "protected": self.tr("{file} is protected by a password; save it without one first."),
            "unknown": self.tr("{file} is no text, PDF or Word (docx) file; save it as one of these first."),
            "slow": self.tr("{file} could not be read in {seconds} seconds; add a part of it."),
        }.get(kind, self.tr("{file} is damaged and cannot be read ({detail})."))
        shown: dict[str, object] = {"detail": "", **values}
        for size in ("size", "limit"):
            if size in values:
                value = int(values[size])
                shown[size] = number(value / 1_000_000) if kind == "large" else QLocale().toString(value)
        return filled(words, file=name, **shown)


class Reader(QObject):
    """Reads one file in a process. ``ended`` carries it and what the process printed, or the fault instead."""

    ended = Signal(object, object)

    def __init__(self, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.path = path
        self._is_over = False
        self.process = QProcess(self)
        self.process.setProcessEnvironment(_surroundings())
        self.process.setStandardErrorFile(QProcess.nullDevice())
        self.process.finished.connect(self._on_finished)
        self.process.errorOccurred.connect(self._on_error)
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.timeout.connect(self._on_slow)

    def start(self) -> None:
        """Begin."""
        self.process.start(sys.executable, ["-m", "desktop.attachments.reading", str(self.path.absolute())])
        self._limit.start(PATIENCE_S * 1000)

    def give_up(self) -> None:
        """Read no further; nothing more is told."""
        self._is_over = True
        self._limit.stop()
        self.process.kill()
        if self.process.state() is QProcess.ProcessState.NotRunning:
            self.deleteLater()

    def _on_finished(self) -> None:
        if self._is_over:
            self.deleteLater()
            return
        try:
            answer = json.loads(bytes(self.process.readAllStandardOutput().data()))
        except ValueError:
            answer = {"fault": "damaged", "values": {"detail": str(self.process.exitCode())}}
        self._end(answer)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end({"fault": "denied", "values": {"detail": self.process.errorString()}})

    def _on_slow(self) -> None:
        if not self._is_over:
            self.process.kill()
            self._end({"fault": "slow", "values": {"seconds": PATIENCE_S}})

    def _end(self, answer: dict[str, Any]) -> None:
        if not self._is_over:
            self._is_over = True
            self._limit.stop()
            self.ended.emit(self, answer)


def _surroundings() -> QProcessEnvironment:
    """What the process finds around it: this program's own modules, whatever folder it was started in."""
    around = QProcessEnvironment.systemEnvironment()
    before = around.value("PYTHONPATH", "")
    around.insert("PYTHONPATH", os.pathsep.join(part for part in (str(ROOT), before) if part))
    around.insert("PYTHONIOENCODING", "utf-8")
    return around


def _name(path: Path) -> str:
    return clean_name(path.name) or "file"
