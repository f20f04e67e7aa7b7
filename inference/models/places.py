"""What the user told the library, kept in one small file: folders with models, and the code that may be run.

Another Borrador may write it too, so it is read anew at each call and replaced as a whole. Standard library only.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inference.messages import Problem
from inference.models import folders


@dataclass(frozen=True, slots=True)
class Places:
    """``folders`` the user added; ``trusted`` code as ``repository@revision``; ``models`` moved elsewhere, or None."""

    folders: tuple[Path, ...] = ()
    trusted: tuple[str, ...] = ()
    models: Path | None = None


def read() -> Places:
    """What is kept; nothing where there is no file or it cannot be read."""
    try:
        kept: Any = json.loads(folders.places_file().read_text(encoding="utf-8"))
        models = kept.get("models")
        return Places(
            tuple(Path(folder) for folder in kept.get("folders", ())),
            tuple(str(code) for code in kept.get("trusted", ())),
            Path(models) if models else None,
        )
    except (OSError, ValueError, TypeError, AttributeError):
        return Places()


def write(places: Places) -> None:
    """Keep these. Raises Problem when the file cannot be written."""
    file = folders.places_file()
    folders.writable(file.parent)
    new = file.with_suffix(f".{os.getpid()}")
    kept = {
        "folders": [str(folder) for folder in places.folders],
        "trusted": list(places.trusted),
        "models": str(places.models) if places.models else None,
    }
    try:
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        new.replace(file)
    except OSError as error:
        raise Problem("error.write", file=str(file), detail=error.strerror or str(error)) from error


def add(folder: Path) -> None:
    """Look for models in this folder from now on."""
    places = read()
    if folder not in places.folders:
        write(replace(places, folders=(*places.folders, folder)))


def forget(folder: Path) -> None:
    """No longer look into this folder; its files stay."""
    places = read()
    write(replace(places, folders=tuple(kept for kept in places.folders if kept != folder)))
