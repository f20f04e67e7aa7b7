"""The compiled products: built once with the machine's C compiler, kept beside the source, loaded with ctypes.

Like Triton's launchers: nothing is built where there is no compiler, and then PyTorch's own products do the work.
Free of torch until it loads; knows nothing of tensors.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from inference.models import folders

SOURCE = Path(__file__).with_name("layers.c")
"""Takes the others in."""

OPTIONS = ("-O2", "-fopenmp", "-shared", "-fPIC")

PATIENCE_S = 120
"""For the compiler."""


@cache
def load() -> ctypes.CDLL | str:
    """The library, or why there is none: ``platform``, ``compiler`` or ``processor``."""
    if not sys.platform.startswith("linux"):
        return "platform"
    import torch  # noqa: F401 - loads the threads' library that this one shares with it

    for folder in folders_to_try():
        # A file that cannot be loaded is made again.
        for file in (folder / f"products-{key()}.so",) * 2:
            try:
                if not file.is_file():
                    _compile(file)
                library = ctypes.CDLL(str(file))
                return library if library.products_work() else "processor"
            except (OSError, AttributeError, subprocess.SubprocessError):
                with suppress(OSError):
                    file.unlink()
    return "compiler"


def loaded() -> ctypes.CDLL:
    """The library. RuntimeError where there is none."""
    found = load()
    if isinstance(found, str):
        raise RuntimeError(f"no compiled products: {found}")
    return found


def is_made() -> bool:
    """Whether nothing is left to compile: they are there, or cannot be made here."""
    files = [folder / f"products-{key()}.so" for folder in folders_to_try()]
    return not sys.platform.startswith("linux") or compiler() is None or any(file.is_file() for file in files)


def folders_to_try() -> tuple[Path, ...]:
    """Beside the source, as Python keeps its own compiled files, and where that cannot be written the user's cache."""
    return SOURCE.parent / "__pycache__", folders.native_folder()


def compiler() -> str | None:
    """The C compiler of this machine: what CC names, or one of the usual names."""
    names = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


@cache
def key() -> str:
    """A name for the source and how it is compiled."""
    sources = [file.read_bytes() for file in sorted(SOURCE.parent.glob("*.c"))]
    parts = [*sources, *(option.encode() for option in OPTIONS)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _compile(file: Path) -> None:
    """Make it under another name first. OSError or SubprocessError where that does not work."""
    found = compiler()
    if found is None:
        raise OSError("no C compiler")
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    try:
        subprocess.run(
            [found, *OPTIONS, str(SOURCE), "-o", str(new), "-lm"],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
        )
        with new.open("rb") as made:
            os.fsync(made.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
