"""Collects the strings of the window into the translation files and compiles them; run it as a script.

Translate what it reports as unfinished in the ``.ts`` file, run it again, and commit both ``.ts`` and ``.qm``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import PySide6

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "desktop"
TOOLS = Path(PySide6.__file__).parent
LANGUAGES = ("es",)


def collect(target: Path) -> None:
    """Bring the ``.ts`` file up to date with the source; translations that are no longer used go."""
    files = sorted(str(path) for path in SOURCES.rglob("*.py"))
    options = ["-silent", "-no-obsolete", "-locations", "none", "-source-language", "en"]
    language = target.stem.rpartition("_")[2]
    subprocess.run([TOOLS / "lupdate", *options, *files, "-target-language", language, "-ts", target], check=True)


def compiled(target: Path) -> None:
    """Make the ``.qm`` file of a ``.ts`` file."""
    subprocess.run([TOOLS / "lrelease", target, "-qm", target.with_suffix(".qm")], check=True)


def main() -> int:
    """Update every language."""
    for language in LANGUAGES:
        target = HERE / f"borrador_{language}.ts"
        collect(target)
        compiled(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
