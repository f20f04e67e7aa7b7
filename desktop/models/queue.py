"""The queue of downloads and imports: one at a time, each a job; kept between starts. The one truth all views show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.models.item import Item, State, from_json
from inference.events import Notice

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from desktop.jobs import Job, Jobs

KEY = "downloads"
MOST_TRIES = 3
"""So often a job that hangs is ended and begun anew by itself."""


class Queue(QObject):
    """``changed`` carries an item that is otherwise than before, ``listed`` comes when items came or went.

    ``arrived`` carries an item that is whole and can be loaded.
    """

    changed = Signal(object)
    listed = Signal()
    arrived = Signal(object)

    def __init__(self, jobs: Jobs, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._settings = settings
        self._job: Job | None = None
        self._running: Item | None = None
        self.items: list[Item] = self._kept()

    def add(self, item: Item) -> Item:
        """Queue it, or go on with the one of the same source."""
        known = next((one for one in self.items if (one.source, one.file) == (item.source, item.file)), None)
        if known is not None:
            self.resume(known)
            return known
        self.items.append(item)
        self._keep()
        self.listed.emit()
        self._next()
        return item

    def pause(self, item: Item) -> None:
        """End its traffic; what is here stays."""
        self._stop(item)
        self._put(item, State.PAUSED)
        self._next()

    def resume(self, item: Item) -> None:
        """Go on, after those that were asked for before."""
        if item.state in (State.PAUSED, State.FAILED):
            item.tries = 0
            self._put(item, State.WAITING)
            self._next()

    def cancel(self, item: Item, *, keep_part: bool) -> None:
        """Take it off the list; its part stays for another time, or goes."""
        self._stop(item)
        self.forget(item)
        if not keep_part and item.kind == "download":
            self._jobs.job("discard", item.repository).start()
        self._next()

    def forget(self, item: Item) -> None:
        """Take one that has ended off the list."""
        if item in self.items and item is not self._running:
            self.items.remove(item)
            self._keep()
            self.listed.emit()

    def close(self) -> None:
        """The program ends: what runs will be found paused."""
        if self._running is not None:
            self._running.state = State.PAUSED
        self._keep()

    # Within

    def _next(self) -> None:
        waiting = next((one for one in self.items if one.state is State.WAITING), None)
        if self._running is None and waiting is not None:
            self._begin(waiting)

    def _begin(self, item: Item) -> None:
        self._running = item
        job = self._job = self._jobs.job(*item.arguments)
        job.progressed.connect(lambda notice, fraction: self._on_progress(item, notice, fraction))
        job.done.connect(lambda event: self._on_done(item, event))
        job.failed.connect(lambda notice: self._on_failed(item, notice))
        job.silent.connect(lambda: self._on_silent(item))
        item.notice, item.speed = None, 0.0
        self._put(item, State.RUNNING)
        job.start()

    def _stop(self, item: Item) -> None:
        if item is self._running and self._job is not None:
            self._job.cancel()
            self._job = self._running = None

    def _put(self, item: Item, state: State) -> None:
        item.state = state
        if state is not State.RUNNING:
            item.speed = 0.0
            self._keep()
        self.changed.emit(item)

    def _on_progress(self, item: Item, notice: Notice, fraction: float | None) -> None:
        item.take(notice, fraction)
        self.changed.emit(item)

    def _on_done(self, item: Item, event: dict[str, object]) -> None:
        self._job = self._running = None
        if "file" in event and item.kind == "download":  # a GGUF file, which is imported before it can be loaded
            item.kind, item.source = "import", str(event["file"])
            self._put(item, State.WAITING)
        else:
            entry = event.get("model")
            item.model = str(entry["model"]) if isinstance(entry, dict) else item.source
            item.done = item.size
            item.notice = None
            self._put(item, State.DONE)
            self.arrived.emit(item)
        self._next()

    def _on_failed(self, item: Item, notice: Notice) -> None:
        self._job = self._running = None
        item.notice = notice
        self._put(item, State.FAILED)
        self._next()

    def _on_silent(self, item: Item) -> None:
        self._job = self._running = None
        item.tries += 1
        if item.tries >= MOST_TRIES:
            self._on_failed(item, Notice("error.network", {"detail": self.tr("nothing came for minutes")}))
            return
        item.notice = Notice("download.stalled")
        self._put(item, State.WAITING)
        self._next()

    def _kept(self) -> list[Item]:
        try:
            values = json.loads(str(self._settings.value(KEY, "[]")))
        except ValueError:
            return []
        found = [from_json(value) for value in values] if isinstance(values, list) else []
        return [item for item in found if item is not None]

    def _keep(self) -> None:
        kept = [item.as_json() for item in self.items if item.state is not State.DONE]
        self._settings.setValue(KEY, json.dumps(kept))
