"""The model that was loaded last, kept by QSettings: what the window starts with when the command line names none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.model_menu import STARTER

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from inference.settings import ModelChoice

KEY = "last_model"


def read(settings: QSettings) -> str:
    """What it is chosen by; the starter where none was loaded yet."""
    return str(settings.value(KEY, "")).strip() or STARTER


def write(settings: QSettings, model: str) -> None:
    """Keep it; a folder or file by its whole path, since the program may start elsewhere next time."""
    path = Path(model).expanduser()
    settings.setValue(KEY, str(path.absolute()) if model != STARTER and path.exists() else model)
    settings.sync()


def chosen(settings: QSettings, choice: ModelChoice) -> ModelChoice:
    """``choice`` with the last model. One that is gone is told, not fetched: nobody asked for a download now."""
    model = read(settings)
    return choice if model == STARTER else replace(choice, model=model, fetch=False)
