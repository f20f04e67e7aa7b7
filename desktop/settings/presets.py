"""Named settings for chats, kept by QSettings, written to a file and read from one. An import replaces nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from desktop.plain_text import storable
from desktop.settings.chat_settings import ChatSettings, as_object, from_object
from inference.settings import Sampling

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from PySide6.QtCore import QSettings

FORMAT = "borrador-presets"
VERSION = 1
LONGEST_NAME = 60
LARGEST_FILE = 5_000_000
translate = QCoreApplication.translate


class Unknown(Exception):
    """The file holds no presets that can be read; the text says why: newer, none."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings under a name."""

    name: str
    settings: ChatSettings


def built_in() -> list[Preset]:
    """Those that come with the program."""
    return [
        Preset(translate("presets", "Balanced"), ChatSettings()),
        Preset(translate("presets", "Precise"), ChatSettings(Sampling(temperature=0))),
        Preset(translate("presets", "Free"), ChatSettings(Sampling(temperature=1.0, top_p=1.0, min_p=0.05))),
    ]


def stored(settings: QSettings) -> list[Preset]:
    """Those that the user made."""
    try:
        return _from_list(json.loads(str(settings.value("presets", "[]"))))
    except ValueError:
        return []


def store(settings: QSettings, presets: Iterable[Preset]) -> None:
    """Keep those that the user made."""
    settings.setValue("presets", json.dumps([_to_object(one) for one in presets]))
    settings.sync()


def write_file(path: Path, presets: Iterable[Preset]) -> None:
    """Write presets to a file. Raises OSError."""
    whole = {"format": FORMAT, "version": VERSION, "presets": [_to_object(one) for one in presets]}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_file(path: Path) -> list[Preset]:
    """The presets in a file. Raises Unknown, OSError."""
    if path.stat().st_size > LARGEST_FILE:
        raise Unknown("none")
    try:
        whole = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise Unknown("none") from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise Unknown("none")
    if not isinstance(whole.get("version"), int) or whole["version"] > VERSION:
        raise Unknown("newer")
    found = _from_list(whole.get("presets"))
    if not found:
        raise Unknown("none")
    return found


def joined(before: Iterable[Preset], more: Iterable[Preset]) -> list[Preset]:
    """Both; one of ``more`` that has the name of another gets a number behind it, and none comes in twice."""
    whole = list(before)
    for one in more:
        if one in whole:
            continue
        name, number = one.name, 2
        taken = {other.name.casefold() for other in whole}
        while name.casefold() in taken:
            name, number = f"{one.name} ({number})", number + 1
        whole.append(replace(one, name=name))
    return whole


def cleaned_name(name: str) -> str:
    """A name on one line; empty where there is none."""
    return " ".join(storable(name).split())[:LONGEST_NAME]


def _to_object(preset: Preset) -> dict[str, Any]:
    return {"name": preset.name, **as_object(preset.settings)}


def _from_list(known: Any) -> list[Preset]:
    found = []
    for one in known if isinstance(known, list) else []:
        name = cleaned_name(one["name"]) if isinstance(one, dict) and isinstance(one.get("name"), str) else ""
        if name:
            found.append(Preset(name, from_object(one)))
    return found
