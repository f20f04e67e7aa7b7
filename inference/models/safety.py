"""Program code that a model brings: found without running it, and run only after a yes that names this very code.

A yes holds for a repository at a revision and for the text of its files; when one of them changes, it is asked anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.models import architectures, places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIGS = ("config.json", "tokenizer_config.json", "processor_config.json", "generation_config.json")


@dataclass(frozen=True, slots=True)
class Code:
    """What would be run. ``repository`` is the folder's path for a model that came from no hub.

    ``revision`` is the commit there, else ``local``; ``files`` are the program files beside the model.
    """

    repository: str
    revision: str
    files: tuple[str, ...]
    digest: str

    @property
    def key(self) -> str:
        """What is remembered of a yes."""
        return f"{self.repository}@{self.revision}#{self.digest}"


def needed(folder: Path) -> Code | None:
    """The code that loading this folder would have to run, None when transformers' own will do.

    Many repositories still carry the code of a model that transformers has learned since; that code is not needed.
    """
    config = _json(folder / "config.json")
    tokenizer = _json(folder / "tokenizer_config.json")
    of_model = bool(config.get("auto_map")) and config.get("model_type") not in architectures.known()
    of_tokenizer = bool(tokenizer.get("auto_map")) and not (folder / "tokenizer.json").is_file()
    return _code(folder) if of_model or of_tokenizer else None


def check(folder: Path, name: str) -> None:
    """Raise a Problem unless the folder needs no code, or the user said yes to this very code."""
    code = needed(folder)
    if code is None:
        return
    if elsewhere := sorted(set(_elsewhere(folder))):
        raise Problem("error.foreign_code", model=name, repository=elsewhere[0])
    if code.key not in places.read().trusted:
        raise Problem("error.remote_code", model=name, repository=code.repository, revision=code.revision)


def is_allowed(folder: Path) -> bool:
    """Whether this folder's own code is to be run: it is needed, and there is a yes to it."""
    code = needed(folder)
    return code is not None and code.key in places.read().trusted


def allow(code: Code) -> None:
    """Remember the user's yes to this code."""
    kept = places.read()
    if code.key not in kept.trusted:
        places.write(replace(kept, trusted=(*kept.trusted, code.key)))


def withdraw(code: Code) -> None:
    """Forget it."""
    kept = places.read()
    places.write(replace(kept, trusted=tuple(key for key in kept.trusted if key != code.key)))


def _code(folder: Path) -> Code:
    files = sorted(path for path in folder.glob("*.py") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    repository, revision = str(folder), "local"
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        repository = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
        revision = folder.name
    return Code(repository, revision, tuple(path.name for path in files), digest.hexdigest()[:16])


def _elsewhere(folder: Path) -> Iterator[str]:
    """Repositories that the folder's configurations take code from, other than itself."""
    for name in CONFIGS:
        entries: list[Any] = list((_json(folder / name).get("auto_map") or {}).values())
        while entries:
            entry = entries.pop()
            if isinstance(entry, list | tuple):
                entries.extend(entry)
            elif isinstance(entry, str) and "--" in entry:
                yield entry.split("--")[0]


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    if not isinstance(content.get("auto_map", {}), dict):
        content["auto_map"] = {"": content["auto_map"]}
    return content
