"""Small JSON files of what can be found out again: read as far as they are sound, written whole or not at all."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read(file: Path) -> dict[str, Any]:
    """What it holds by name; nothing when it is missing, damaged or no such file."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def write(file: Path, kept: Mapping[str, Any], indent: int | None = 1) -> None:
    """Put this in its place. A folder that cannot be written stops nothing: it is found out again next time."""
    new = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(kept, indent=indent), encoding="utf-8")
        new.replace(file)
    except OSError:
        with suppress(OSError):
            new.unlink()
