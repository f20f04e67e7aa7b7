"""Where models lie on this machine, and whether a disk has room for more.

Two places: the program's own folder for user data, and the cache that all programs using the hub share. Reads the
environment at each call and touches no network; knows nothing of what the folders hold.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from inference.messages import Problem


def data_folder() -> Path:
    """The program's folder in the user's data; not created here."""
    import platformdirs

    return platformdirs.user_data_path("borrador", appauthor=False)


def places_file() -> Path:
    """What the user told the library, see places.py; not created here."""
    return data_folder() / "library.json"


def models_folder() -> Path:
    """Where models that the program made itself lie, beside its data or where the user moved them; not created here."""
    try:
        moved = json.loads(places_file().read_text(encoding="utf-8")).get("models")
        return Path(moved) if moved else data_folder() / "models"
    except (OSError, ValueError, TypeError, AttributeError):
        return data_folder() / "models"


def require_models_folder() -> Path:
    """The models folder, made if it is the program's own; a Problem when it was moved and its disk is not there."""
    folder = models_folder()
    if folder != data_folder() / "models" and not folder.is_dir():
        raise Problem("error.no_models_folder", folder=str(folder))
    return writable(folder)


def _cache_folder() -> Path:
    try:
        import platformdirs
    except ImportError:  # a bare machine on which a card is checked
        return Path.home() / ".cache" / "borrador"
    return platformdirs.user_cache_path("borrador", appauthor=False)


def tuning_file() -> Path:
    """What was measured on this machine and can be measured again; not created here."""
    return _cache_folder() / "tuning.json"


def native_folder() -> Path:
    """Where compiled products are kept, which can be compiled again; not created here."""
    return _cache_folder() / "native"


def priors_file() -> Path:
    """What was learned of models' drafters and can be learned again; not created here."""
    return _cache_folder() / "drafters.json"


def hub_cache() -> Path:
    """The hub cache, by the rules of huggingface_hub.constants, which reads the environment only at its import."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{cache}/huggingface"
    hub = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or f"{home}/hub"
    return Path(os.path.expandvars(hub)).expanduser()


def nearest_existing(folder: Path) -> Path:
    """The folder itself, or the closest parent of it that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def require_space(folder: Path, needed: int) -> None:
    """Refuse with a Problem when the disk under ``folder`` has fewer than ``needed`` bytes free."""
    free = shutil.disk_usage(nearest_existing(folder)).free
    if free < needed:
        raise Problem("error.disk", folder=str(folder), needed_mb=needed / 1e6, free_mb=free / 1e6)


def writable(folder: Path) -> Path:
    """The folder, made if need be; a Problem when this user may not write there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem("error.permission", folder=str(folder), detail=error.strerror or str(error)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Problem("error.permission", folder=str(folder), detail="it is not writable")
    return folder
