"""Fetches a model of the hub into the cache that all programs share; runs inside a job, see job.py.

Of a repository it takes what loading needs and nothing else. A file that was cut off continues where it stopped: the
hub's own client (2.4) throws such a part away, so files are brought here one by one with its transport and hashed, and
its snapshot download then only lays out the snapshot.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

import huggingface_hub
from filelock import FileLock, Timeout
from huggingface_hub import constants
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from inference.messages import Notice, Problem
from inference.models import contents
from inference.models.folders import hub_cache, require_space, writable
from inference.models.hub_errors import TRANSPORT, as_problem, seconds_to_wait
from inference.models.starter import downloading

if TYPE_CHECKING:
    from pathlib import Path

    from inference.models.starter import Progress

CHUNK = 1 << 20
"""Bytes per step of progress; at most so many are lost when the process is killed."""
SMALL = (
    "config.json", "generation_config.json", "tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*",
    "merges.txt", "chat_template*", "*.model", "*.tiktoken", "tekken.json",
)
LONGEST_WAIT = 300
"""Seconds a busy hub may ask to wait before that is a Problem rather than a countdown."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the snapshot lies, and its commit."""

    folder: Path
    revision: str


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    size: int
    etag: str
    """sha256 of the content for large files, the git blob's sha1 for small ones."""


@dataclass(slots=True)
class _Meter:
    """Bytes done of all files; prints at most ten times a second."""

    model: str
    total: int
    progress: Progress
    done: int = 0
    fresh: int = 0
    start: float = field(default_factory=time.monotonic)
    said: float = 0.0

    def add(self, count: int) -> None:
        self.done += count
        self.fresh += count
        now = time.monotonic()
        if now - self.said > 0.1 or self.done >= self.total:
            self.said = now
            speed = max(0, self.fresh) / max(now - self.start, 1e-3)
            share = min(1.0, self.done / max(self.total, 1))
            self.progress(downloading(self.model, self.done, self.total, speed), share)


class _Waits(logging.Handler):
    """The client sits out a busy hub in silence during a file, and tells only its log; this tells the user."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.WARNING)
        self.progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        if match := re.search(r"Rate limited\. Waiting ([\d.]+)s", record.getMessage()):
            self.progress(Notice("download.asked_to_wait", {"seconds": round(float(match[1]))}), None)


def fetch(repository: str, revision: str | None, progress: Progress) -> Fetched:
    """Bring the model here in full. Problems: no network, unknown, gated, refused, busy, disk, permission, unsafe."""
    # The client's step is 10 MB: on a slow line that is a minute without news.
    constants.DOWNLOAD_CHUNK_SIZE = CHUNK
    logging.getLogger("huggingface_hub").addHandler(_Waits(progress))
    try:
        return _Download(repository, revision, progress).run()
    except Problem:
        raise
    except Exception as error:
        raise as_problem(error, repository, revision) from error


class _Download:
    """One repository at one commit, on its way into the cache."""

    def __init__(self, repository: str, revision: str | None, progress: Progress) -> None:
        self.repository = repository
        self.revision = revision
        self.progress = progress
        self.cache = hub_cache()
        self.storage = self.cache / ("models--" + repository.replace("/", "--"))

    def run(self) -> Fetched:
        self.progress(Notice("download.listing", {"model": self.repository}), None)
        listed = self._listing()
        self.snapshot = self.storage / "snapshots" / self.commit
        weights = self._weights(listed)
        small = [file for name, file in listed.items() if any(fnmatch(name, pattern) for pattern in SMALL)]
        if contents.SINGLE not in listed:
            small.append(listed[contents.INDEX])
        self.blobs = writable(self.storage / "blobs")
        self.meter = _Meter(self.repository, sum(file.size for file in (*small, *weights)), self.progress)
        self.meter.done = sum(self._held(file) for file in (*small, *weights))
        require_space(self.cache, self.meter.total - self.meter.done)
        for file in sorted(small, key=lambda file: file.name != contents.CONFIG):
            self._bring(file)
        self._lay_out(small)
        contents.check_config(self.snapshot, self.repository)  # before gigabytes are fetched for nothing
        weights = self._indexed(weights, listed)
        for file in weights:
            self._bring(file)
        self._lay_out(weights)
        self._name_commit()
        return Fetched(self.snapshot, self.commit)

    def _listing(self) -> dict[str, _File]:
        """Files at the top of the repository; sets the commit. One request, repeated when the hub asks to wait."""
        while True:
            try:
                info = huggingface_hub.HfApi().model_info(
                    self.repository, revision=self.revision, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT
                )
                break
            except huggingface_hub.errors.HfHubHTTPError as error:
                self._wait(error)
        if not info.sha:
            raise Problem("error.hub", detail="it named no commit")
        self.commit = info.sha
        return {
            entry.rfilename: _File(entry.rfilename, entry.size or 0, entry.lfs.sha256 if entry.lfs else entry.blob_id)
            for entry in info.siblings or ()
            if "/" not in entry.rfilename and entry.blob_id
        }

    def _weights(self, listed: dict[str, _File]) -> list[_File]:
        if contents.SINGLE in listed:
            return [listed[contents.SINGLE]]
        if contents.INDEX in listed:
            return [file for name, file in sorted(listed.items()) if fnmatch(name, "*-of-*.safetensors")]
        if pickles := [name for name in listed if any(fnmatch(name, pattern) for pattern in contents.PICKLES)]:
            raise Problem("error.model_unsafe", model=self.repository, files=", ".join(pickles[:3]))
        if any(name.endswith(".gguf") for name in listed):
            raise Problem("error.gguf", model=self.repository)
        raise Problem("error.not_a_model", model=self.repository, detail="there are no safetensors in it")

    def _indexed(self, weights: list[_File], listed: dict[str, _File]) -> list[_File]:
        """Of the shards those that the index names, now that it is here."""
        if contents.SINGLE in listed:
            return weights
        names = sorted(set(contents.shards(self.snapshot / contents.INDEX, self.repository).values()))
        if lacking := [name for name in names if name not in listed]:
            raise Problem("error.repo_incomplete", model=self.repository, files=", ".join(lacking[:3]))
        self.meter.total += sum(listed[name].size for name in names) - sum(file.size for file in weights)
        return [listed[name] for name in names]

    def _held(self, file: _File) -> int:
        """Bytes of a file that need not be fetched."""
        for path in (self.snapshot / file.name, self.blobs / file.etag, self._part(file)):
            if path.exists():
                return min(path.stat().st_size, file.size)
        return 0

    def _part(self, file: _File) -> Path:
        return self.blobs / f"{file.etag}.incomplete"

    def _bring(self, file: _File) -> None:
        """The file's content as a blob with the right hash, continued where an earlier try stopped."""
        locks = writable(self.cache / ".locks" / self.storage.name)
        lock = FileLock(locks / f"{file.etag}.lock")
        while True:
            try:
                lock.acquire(timeout=1)
                break
            except Timeout:  # the system frees a lock when its holder dies, so this one lives
                self.progress(Notice("download.elsewhere", {"model": self.repository}), None)
        try:
            for attempt in (1, 2):
                if self._is_whole(file) or self._transfer(file):
                    return
                if attempt == 2:
                    raise Problem("error.download_damaged", model=self.repository, file=file.name)
        finally:
            lock.release()

    def _is_whole(self, file: _File) -> bool:
        return any(
            path.is_file() and path.stat().st_size == file.size
            for path in (self.snapshot / file.name, self.blobs / file.etag)
        )

    def _transfer(self, file: _File) -> bool:
        """Fetch what is missing; False (and nothing kept) when the content does not have its hash."""
        part = self._part(file)
        part.touch()
        meter = self.meter

        class Bar:
            """What the client reports to in place of a progress bar."""

            def __init__(self, **_: Any) -> None: ...
            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_: object) -> None: ...
            def update(self, count: float | None = 1) -> None:
                meter.add(int(count or 0))

        url = huggingface_hub.hf_hub_url(self.repository, file.name, revision=self.commit)
        headers = build_hf_headers()
        with part.open("r+b") as stream:
            if part.stat().st_size > file.size:
                stream.truncate()
            while (start := stream.seek(0, 2)) < file.size:
                try:
                    http_get(
                        url, stream, resume_size=start, headers=headers, expected_size=file.size,
                        tqdm_class=Bar,  # any class with these methods will do
                    )
                except TRANSPORT as error:
                    # A broken line is taken up again as long as something arrives.
                    if isinstance(error, huggingface_hub.errors.HfHubHTTPError) or stream.tell() == start:
                        raise
        if file.size > 50_000_000:
            self.progress(Notice("download.checking", {"file": file.name}), None)
        if _digest(part, file.etag) != file.etag:
            part.unlink()
            meter.add(-file.size)
            return False
        part.replace(self.blobs / file.etag)
        return True

    def _lay_out(self, files: list[_File]) -> None:
        """The snapshot's links to blobs that are here, by the client itself; it downloads nothing any more."""
        huggingface_hub.snapshot_download(
            self.repository, revision=self.commit, cache_dir=self.cache, allow_patterns=[file.name for file in files]
        )
        for file in files:
            if not (self.snapshot / file.name).is_symlink():
                (self.blobs / file.etag).unlink(missing_ok=True)  # copied, where links are not allowed

    def _name_commit(self) -> None:
        """What the revision means, for later starts without the hub; written last, when all is here."""
        if self.revision == self.commit:
            return
        ref = self.storage / "refs" / (self.revision or constants.DEFAULT_REVISION)
        writable(ref.parent)
        part = ref.with_name(ref.name + ".part")
        part.write_text(self.commit, encoding="utf-8")
        part.replace(ref)

    def _wait(self, error: huggingface_hub.errors.HfHubHTTPError) -> None:
        seconds = seconds_to_wait(error)
        if seconds is None or seconds > LONGEST_WAIT:
            raise error
        for left in range(seconds, 0, -1):
            self.progress(Notice("download.asked_to_wait", {"seconds": left}), None)
            time.sleep(1)


def _digest(path: Path, etag: str) -> str:
    """The hash of the kind the etag is: sha256, or git's sha1 of a blob (a header with the size comes first)."""
    with path.open("rb") as stream:
        if len(etag) == 64:
            return hashlib.file_digest(stream, "sha256").hexdigest()
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        while block := stream.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()
