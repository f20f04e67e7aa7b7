"""Whether an installed model is the one that is named. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.models.installed import Entry


def is_same(model: str, other: str, entry: Entry) -> bool:
    """Whether an entry is what ``other`` names: as it is chosen, with its revision, or by its folder."""
    if not other:
        return False
    names = {model, str(entry["folder"])}
    if entry.get("revision"):
        names |= {f"{entry['name']}@{entry['revision']}", str(entry["name"])}
    return other in names
