"""Where the files that come with the program lie. Knows nothing of their contents."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "resources"
ICONS = FOLDER / "icons"
STYLES = FOLDER / "styles"
TRANSLATIONS = FOLDER / "translations"
