"""One file of a repository, brought here as a blob with the right hash; continued where an earlier try stopped.

A part lies at ``<etag>.incomplete`` and survives cuts, kills and restarts. A broken line is taken up again with growing
pauses; only when nothing has come for minutes is it given up, and the part stays. Knows nothing of snapshots.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import huggingface_hub
from filelock import FileLock, SoftFileLock, Timeout
from huggingface_hub import constants
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from inference.messages import Notice, Problem
from inference.models.folders import writable
from inference.models.hub_errors import TRANSPORT, seconds_to_wait
from inference.models.hub_wire import AskedToWait, Stalled, watched
from inference.models.starter import downloading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filelock import BaseFileLock

    from inference.models.starter import Progress

CHUNK = 1 << 18
"""Bytes per step. WORKAROUND: the client (2.4) writes only whole steps and loses up to one at each cut; with its own
10 MiB, 200 MB cut 20 times cost 1.48 times the bytes."""
PAUSES = (1, 2, 4, 8, 16, 30, 30, 30, 30, 30)
"""Seconds between tries that brought nothing; each try is six of the client's own, a second apart."""
LONGEST_WAIT = 300
"""Seconds a busy hub may ask to wait before that is a Problem rather than a countdown."""
PASSING = (408, 500, 502, 503, 504)
"""Answers of a hub in trouble that may soon be over."""
SHOWN_CHECK = 5_000_000
"""Checking a file of so many bytes takes long enough to be shown."""
RECENT = 5.0
"""Seconds over which the speed is taken."""


@dataclass(frozen=True, slots=True)
class File:
    """A file at the top of a repository. ``etag`` is the sha256 of large files, the git blob's sha1 of small ones."""

    name: str
    size: int
    etag: str


@dataclass(slots=True)
class Meter:
    """Bytes done of all files, and how fast; tells at most ten times a second."""

    model: str
    total: int
    progress: Progress
    done: int = 0
    said: float = 0.0
    recent: deque[tuple[float, int]] = field(default_factory=deque)

    def begin(self, held: int) -> None:
        """``held`` bytes need not be fetched."""
        self.done = held
        self.recent.append((time.monotonic(), held))

    def add(self, count: int) -> None:
        """``count`` more bytes are here; fewer, when some were thrown away."""
        self.done += count
        now = time.monotonic()
        if now - self.said > 0.1 or self.done >= self.total:
            self.said = now
            self.recent.append((now, self.done))
            while len(self.recent) > 2 and now - self.recent[0][0] > RECENT:
                self.recent.popleft()
            then, before = self.recent[0]
            speed = max(0, self.done - before) / max(now - then, 1e-3)
            share = min(1.0, self.done / max(self.total, 1))
            self.progress(downloading(self.model, self.done, self.total, speed), share)


def locked(path: Path) -> BaseFileLock:
    """A lock the system frees when its holder dies; where the file system has none, one that names its holder."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
        lock.release()
    except Timeout:
        return lock
    except (NotImplementedError, OSError):  # no flock here, as on some network drives
        return SoftFileLock(path.with_suffix(".softlock"))
    return lock


def countdown(seconds: int, id: str, progress: Progress) -> None:
    """Wait and show it."""
    for left in range(seconds, 0, -1):
        progress(Notice(id, {"seconds": left}), None)
        time.sleep(1)


def wait_as_told(seconds: int, progress: Progress) -> None:
    """Sit out a busy hub's wait; a Problem where it is too long to watch."""
    if seconds > LONGEST_WAIT:
        raise Problem("error.rate_limit")
    countdown(seconds, "download.asked_to_wait", progress)


class Transfer:
    """Brings files of one repository at one commit into one folder of blobs."""

    def __init__(self, repository: str, commit: str, blobs: Path, locks: Path, meter: Meter) -> None:
        self.repository = repository
        self.commit = commit
        self.blobs = blobs
        self.locks = locks
        self.meter = meter

    def part(self, file: File) -> Path:
        """Where the unfinished file lies."""
        return self.blobs / f"{file.etag}.incomplete"

    def bring(self, file: File, whole: Path) -> None:
        """The file as a blob, unless it is here, or whole at ``whole``. Problems: damaged, rate limit, changed."""
        lock = locked(writable(self.locks) / f"{file.etag}.lock")
        while True:
            try:
                lock.acquire(timeout=1)
                break
            except Timeout:  # its holder lives
                self.meter.progress(Notice("download.elsewhere", {"model": self.repository}), None)
        try:
            for attempt in (1, 2):
                if self._is_whole(file, whole) or self._fetch(file):
                    return
                if attempt == 2:
                    raise Problem("error.download_damaged", model=self.repository, file=file.name)
        finally:
            lock.release()

    def _is_whole(self, file: File, whole: Path) -> bool:
        return any(path.is_file() and path.stat().st_size == file.size for path in (whole, self.blobs / file.etag))

    def _fetch(self, file: File) -> bool:
        """Fetch what is missing; False (and nothing kept) when the content is not what the listing says."""
        part = self.part(file)
        part.touch()
        fits = self._receive(file, part) and self._is_right(file, part)
        if fits:
            part.replace(self.blobs / file.etag)
        else:
            self.meter.add(-min(part.stat().st_size, file.size))
            part.unlink()
        return fits

    def _receive(self, file: File, part: Path) -> bool:
        """Bytes to the end of the part; False when the server's file has another size."""
        pauses = iter(PAUSES)
        with part.open("r+b") as stream:
            if part.stat().st_size > file.size:
                stream.truncate()
            while (start := stream.seek(0, 2)) < file.size:
                base = self.meter.done - start
                try:
                    self._ask(file, stream, start)
                except AskedToWait as busy:
                    wait_as_told(busy.seconds, self.meter.progress)
                except TRANSPORT as error:
                    if _is_other_size(error):
                        return False
                    if stream.tell() > start:
                        pauses = iter(PAUSES)
                    self._pause(error, pauses)
                except OSError as error:
                    if error.errno is not None:
                        raise  # the disk's
                    return False
                finally:
                    self.meter.done = base + stream.tell()  # a server without ranges began anew
        return True

    def _ask(self, file: File, stream: Any, start: int) -> None:
        """One request of the client, which takes up a broken line five times itself."""
        meter = self.meter
        constants.DOWNLOAD_CHUNK_SIZE = CHUNK

        class Bar:
            """What the client reports to in place of a progress bar."""

            def __init__(self, **_: Any) -> None: ...
            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_: object) -> None: ...
            def update(self, count: float | None = 1) -> None:
                meter.add(int(count or 0))

        with watched():
            http_get(
                huggingface_hub.hf_hub_url(self.repository, file.name, revision=self.commit),
                stream, resume_size=start, headers=build_hf_headers(), expected_size=file.size,
                tqdm_class=Bar,  # any class with these methods will do
            )  # fmt: skip

    def _pause(self, error: Exception, pauses: Iterator[int]) -> None:
        """Wait before the next try; raise ``error`` where trying again is no use or has been tried enough."""
        if isinstance(error, Stalled):
            self.meter.progress(Notice("download.stalled"), None)
            return
        if isinstance(error, huggingface_hub.errors.HfHubHTTPError):
            busy = seconds_to_wait(error)
            if busy is not None:
                wait_as_told(busy, self.meter.progress)
                return
            if isinstance(error, huggingface_hub.errors.RevisionNotFoundError):
                raise Problem("error.changed", model=self.repository) from error
            if error.response.status_code not in PASSING:
                raise error
        seconds = next(pauses, None)
        if seconds is None:
            raise error
        countdown(seconds, "download.retrying", self.meter.progress)

    def _is_right(self, file: File, part: Path) -> bool:
        """Whether the part has the size and the hash that the listing gave; shown as a step of its own."""
        said = 0.0

        def show(done: int) -> None:
            nonlocal said
            if file.size >= SHOWN_CHECK and time.monotonic() - said > 0.1:
                said = time.monotonic()
                self.meter.progress(Notice("download.checking", {"file": file.name}), done / file.size)

        return part.stat().st_size == file.size and digest(part, file.etag, show) == file.etag


def _is_other_size(error: Exception) -> bool:
    """Whether the server has no such range: its file is shorter than our part."""
    return isinstance(error, huggingface_hub.errors.HfHubHTTPError) and error.response.status_code == 416


def digest(path: Path, etag: str, show: Any = None) -> str:
    """The hash of the kind the etag is: sha256, or git's sha1 of a blob (a header with the size comes first)."""
    if len(etag) == 64:
        state = hashlib.sha256()
    else:
        state = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    done = 0
    with path.open("rb", buffering=0) as stream:
        while block := stream.read(1 << 20):
            state.update(block)
            done += len(block)
            if show is not None:
                show(done)
    return state.hexdigest()
