"""Reads files for the composer: short ones at once, slow kinds in a process of their own that can be given up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, QObject, Signal

from desktop.attachments.quoting import Attachment, clean_name
from desktop.attachments.reading import SLOW, Unreadable, read
from desktop.jobs import Job, Jobs
from desktop.sentences import filled, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from inference.events import Notice

COMMAND = (sys.executable, "-m", "desktop.attachments.reading")
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
        self._jobs = Jobs(self, PATIENCE_S * 1000, COMMAND)
        self._running: dict[Job, Path] = {}

    @property
    def waiting(self) -> list[str]:
        """The names of files that are still being read."""
        return [path.name for path in self._running.values()]

    def take(self, paths: Iterable[Path]) -> None:
        """Read files."""
        given = list(paths)
        for path in given[:MOST_FILES]:
            if path.suffix.lower() in SLOW and path.is_file():
                self._start(path)
                continue
            try:
                self.came.emit(Attachment(_name(path), read(path)))
            except Unreadable as fault:
                self._refuse(path, fault.kind, fault.values)
        if len(given) > MOST_FILES:
            words = self.tr("Only the first {count} files were taken; add the others in another message.")
            self.refused.emit(filled(words, count=MOST_FILES))

    def give_up(self, name: str | None = None) -> None:
        """Read no further: one file, or all."""
        for job, path in list(self._running.items()):
            if name in (None, path.name):
                del self._running[job]
                job.cancel()
        self.changed.emit()

    def close(self) -> None:
        """End what is being read, and wait for that: the program ends."""
        self._running.clear()
        self._jobs.close()

    # Within

    def _start(self, path: Path) -> None:
        job = self._jobs.job(str(path.absolute()))
        job.done.connect(self._on_done)
        job.failed.connect(self._on_failed)
        job.silent.connect(self._on_silent)
        self._running[job] = path
        job.start()
        self.changed.emit()

    def _on_done(self, answer: dict[str, Any]) -> None:
        path = self._ended()
        if path is None:
            return
        if "text" in answer:
            self.came.emit(Attachment(_name(path), str(answer["text"])))
        else:
            self._refuse(path, str(answer["fault"]), answer["values"])

    def _on_failed(self, notice: Notice) -> None:
        if (path := self._ended()) is not None:
            self._refuse(path, "damaged", {"detail": str(notice.values.get("detail", ""))})

    def _on_silent(self) -> None:
        if (path := self._ended()) is not None:
            self._refuse(path, "slow", {"seconds": PATIENCE_S})

    def _ended(self) -> Path | None:
        """The file whose job sent the signal; it is no longer being read."""
        job = self.sender()
        path = self._running.pop(job, None) if isinstance(job, Job) else None
        self.changed.emit()
        return path

    def _refuse(self, path: Path, kind: str, values: Mapping[str, str | int]) -> None:
        self.refused.emit(self._sentence(path.name, kind, values))

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


def _name(path: Path) -> str:
    return clean_name(path.name) or "file"
