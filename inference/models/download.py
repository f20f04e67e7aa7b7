"""Fetches a model of the hub into the cache that all programs share; runs inside a job, see job.py.

Of a repository it takes what loading needs and nothing else. The hub's own client (2.4) throws the part of a file away
that a killed program left, and checks no hash, so files are brought here one by one (transfer.py), and its snapshot
download then only lays out the snapshot.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.file_download import are_symlinks_supported

from inference.messages import Notice, Problem
from inference.models import contents, gguf_header
from inference.models.folders import hub_cache, require_space, writable
from inference.models.hub_errors import as_problem, seconds_to_wait
from inference.models.transfer import PASSING, File, Meter, Transfer, countdown, wait_as_told

if TYPE_CHECKING:
    from pathlib import Path

    from inference.models.starter import Progress

SMALL = (
    "config.json", "generation_config.json", "tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*",
    "merges.txt", "chat_template*", "*.model", "*.tiktoken", "tekken.json",
)  # fmt: skip
LISTING_PAUSES = (1, 3)
"""Seconds before the list of files is asked for again, when the hub is in trouble."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the snapshot lies, and its commit. ``file`` is the one file that was asked for, if one was."""

    folder: Path
    revision: str
    file: Path | None = None


def fetch(repository: str, revision: str | None, progress: Progress, file: str | None = None) -> Fetched:
    """Bring the model here in full, or one GGUF ``file`` of it. Every failure is a Problem that says what to do."""
    try:
        return _Download(repository, revision, progress).run(file)
    except Problem:
        raise
    except Exception as error:
        raise as_problem(error, repository, revision) from error


def storage(repository: str) -> Path:
    """The folder of a repository in the cache."""
    return hub_cache() / ("models--" + repository.replace("/", "--"))


def discard(repository: str) -> int:
    """Remove what a download that was given up has left; the bytes that became free. What is whole stays."""
    place = storage(repository)
    blobs = place / "blobs"
    used = {path.resolve() for path in (place / "snapshots").glob("*/*")} if _has_weights(place) else set()
    freed = 0
    for path in [*blobs.iterdir()] if blobs.is_dir() else []:
        if path.resolve() not in used:
            freed += path.stat().st_size
            path.unlink()
    if not used:
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(hub_cache() / ".locks" / place.name, ignore_errors=True)
    return freed


def _has_weights(place: Path) -> bool:
    """Whether any snapshot holds weights; those are linked last, when all else is here."""
    return any(path.exists() for kind in ("safetensors", "gguf") for path in (place / "snapshots").glob(f"*/*.{kind}"))


class _Download:
    """One repository at one commit, on its way into the cache."""

    def __init__(self, repository: str, revision: str | None, progress: Progress) -> None:
        self.repository = repository
        self.revision = revision
        self.progress = progress
        self.cache = hub_cache()
        self.storage = storage(repository)

    def run(self, file: str | None = None) -> Fetched:
        self.progress(Notice("download.listing", {"model": self.repository}), None)
        listed = self._listing()
        self.snapshot = self.storage / "snapshots" / self.commit
        if file is not None:
            return self._one(listed, file)
        weights = self._weights(listed)
        small = [file for name, file in listed.items() if any(fnmatch(name, pattern) for pattern in SMALL)]
        if contents.SINGLE not in listed:
            small.append(listed[contents.INDEX])
        transfer = self._begin([*small, *weights])
        for one in sorted(small, key=lambda file: file.name != contents.CONFIG):
            self._bring(transfer, one)
        self._lay_out(small)
        contents.check_config(self.snapshot, self.repository)  # before gigabytes are fetched for nothing
        weights = self._indexed(weights, listed)
        for one in weights:
            self._bring(transfer, one)
        self._lay_out(weights)
        self._name_commit()
        return Fetched(self.snapshot, self.commit)

    def _one(self, listed: dict[str, File], name: str) -> Fetched:
        """One GGUF file, alone, or the whole set that it is a part of."""
        if name not in listed or not name.lower().endswith(".gguf"):
            raise Problem("error.choose_file", model=self.repository, files=_ggufs(listed))
        names = gguf_header.names_of_set(name)
        if lacking := [one for one in names if one not in listed]:
            raise Problem("error.repo_incomplete", model=self.repository, files=gguf_header.listed(lacking))
        files = [listed[one] for one in names]
        transfer = self._begin(files)
        for file in files:
            self._bring(transfer, file)
        self._lay_out(files)
        return Fetched(self.snapshot, self.commit, self.snapshot / names[0])

    def _begin(self, files: list[File]) -> Transfer:
        """Count what is here and what is to come, and see that there is room for it."""
        blobs = writable(self.storage / "blobs")
        self.meter = Meter(self.repository, sum(file.size for file in files), self.progress)
        transfer = Transfer(self.repository, self.commit, blobs, self.cache / ".locks" / self.storage.name, self.meter)
        self.meter.begin(sum(self._held(file, transfer) for file in files))
        needed = self.meter.total - self.meter.done
        if needed and not are_symlinks_supported(self.cache):
            needed += max(file.size for file in files)  # a file is here twice while it is copied into the snapshot
        require_space(self.cache, needed)
        return transfer

    def _bring(self, transfer: Transfer, file: File) -> None:
        """One file; where it is not what the listing said, the listing is looked at again."""
        try:
            transfer.bring(file, self.snapshot / file.name)
        except Problem as problem:
            if problem.notice.id == "error.download_damaged" and self._listing().get(file.name) != file:
                raise Problem("error.changed", model=self.repository) from problem
            raise

    def _listing(self) -> dict[str, File]:
        """Files at the top of the repository; sets the commit. Repeated when the hub asks to wait or is in trouble."""
        pauses = iter(LISTING_PAUSES)
        while True:
            try:
                info = huggingface_hub.HfApi().model_info(
                    self.repository, revision=self.revision, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT
                )
                break
            except huggingface_hub.errors.HfHubHTTPError as error:
                self._wait(error, next(pauses, None))
        if not info.sha:
            raise Problem("error.hub", detail="it named no commit")
        self.commit = info.sha
        return {
            one.rfilename: File(one.rfilename, self._size(one.rfilename, one.size), one.lfs.sha256 if one.lfs else blob)
            for one in info.siblings or ()
            if "/" not in one.rfilename and (blob := one.blob_id)
        }

    def _size(self, name: str, told: int | None) -> int:
        """A file's size; where the listing does not tell it, the file itself is asked."""
        if told is None:
            url = huggingface_hub.hf_hub_url(self.repository, name, revision=self.commit)
            told = huggingface_hub.get_hf_file_metadata(url).size
        if told is None:
            raise Problem("error.hub", detail=f"it tells no size of {name}")
        return told

    def _weights(self, listed: dict[str, File]) -> list[File]:
        if contents.SINGLE in listed:
            return [listed[contents.SINGLE]]
        if contents.INDEX in listed:
            return [file for name, file in sorted(listed.items()) if fnmatch(name, "*-of-*.safetensors")]
        if pickles := [name for name in listed if any(fnmatch(name, pattern) for pattern in contents.PICKLES)]:
            raise Problem("error.model_unsafe", model=self.repository, files=", ".join(pickles[:3]))
        if any(name.endswith(".gguf") for name in listed):
            raise Problem("error.choose_file", model=self.repository, files=_ggufs(listed))
        raise Problem("error.not_a_model", model=self.repository, detail="there are no safetensors in it")

    def _indexed(self, weights: list[File], listed: dict[str, File]) -> list[File]:
        """Of the shards those that the index names, now that it is here."""
        if contents.SINGLE in listed:
            return weights
        names = sorted(set(contents.shards(self.snapshot / contents.INDEX, self.repository).values()))
        if lacking := [name for name in names if name not in listed]:
            raise Problem("error.repo_incomplete", model=self.repository, files=", ".join(lacking[:3]))
        self.meter.total += sum(listed[name].size for name in names) - sum(file.size for file in weights)
        return [listed[name] for name in names]

    def _held(self, file: File, transfer: Transfer) -> int:
        """Bytes of a file that need not be fetched."""
        for path in (self.snapshot / file.name, transfer.blobs / file.etag, transfer.part(file)):
            if path.exists():
                return min(path.stat().st_size, file.size)
        return 0

    def _lay_out(self, files: list[File]) -> None:
        """The snapshot's links to blobs that are here, by the client itself; it downloads nothing any more."""
        huggingface_hub.snapshot_download(
            self.repository, revision=self.commit, cache_dir=self.cache, allow_patterns=[file.name for file in files]
        )
        for file in files:
            if not (self.snapshot / file.name).is_symlink():
                (self.storage / "blobs" / file.etag).unlink(missing_ok=True)  # copied, where links are not allowed

    def _name_commit(self) -> None:
        """What the revision means, for later starts without the hub; written last, when all is here."""
        if self.revision == self.commit:
            return
        ref = self.storage / "refs" / (self.revision or constants.DEFAULT_REVISION)
        writable(ref.parent)
        part = ref.with_name(ref.name + ".part")
        part.write_text(self.commit, encoding="utf-8")
        part.replace(ref)

    def _wait(self, error: huggingface_hub.errors.HfHubHTTPError, pause: int | None) -> None:
        """Wait as a busy hub asks, or ``pause`` seconds for one in trouble; raise any other answer."""
        seconds = seconds_to_wait(error)
        if seconds is not None:
            wait_as_told(seconds, self.progress)
        elif pause is not None and error.response.status_code in PASSING:
            countdown(pause, "download.retrying", self.progress)
        else:
            raise error


def _ggufs(listed: dict[str, File]) -> str:
    """The GGUF files with their sizes, smallest first; of a set the first with the size of all."""
    sizes: dict[str, int] = {}
    for name, file in sorted(listed.items()):
        if name.lower().endswith(".gguf"):
            first = gguf_header.names_of_set(name)[0]
            sizes[first] = sizes.get(first, 0) + file.size
    return ", ".join(f"{name} ({sizes[name] / 1e9:.1f} GB)" for name in sorted(sizes, key=lambda one: sizes[one])[:12])
