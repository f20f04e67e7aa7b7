"""What is known of an installed model beyond its line: drafters and why not, memory in words, what cards would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from desktop.models.parts import said
from desktop.sentences import filled, sentence
from desktop.speculation.compare_words import drafter_label
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.models.fit_bar import Fit


def details(entry: dict[str, Any], fit: Fit | None, cards: Sequence[dict[str, Any]]) -> str:
    """A line for each thing; what is not known has none."""
    lines = [
        _named(QCoreApplication.translate("models", "Architecture: {text}"), entry["architecture"]),
        QCoreApplication.translate("models", "Has a chat template")
        if entry["template"]
        else QCoreApplication.translate("models", "Has no chat template"),
        *_drafters(entry["drafters"]),
        _named(QCoreApplication.translate("models", "Memory: {text}"), fit.in_words if fit is not None else ""),
        *(said(card["notice"]) for card in cards),
        _named(QCoreApplication.translate("models", "Folder: {text}"), str(entry["folder"])),
        _named(QCoreApplication.translate("models", "Revision: {text}"), entry.get("revision")),
    ]
    return "\n".join(filter(None, lines))


def _drafters(drafters: Sequence[dict[str, Any]]) -> list[str]:
    able = [drafter_label(one["name"]) for one in drafters if one["available"] and one["name"] not in ("none", "auto")]
    lines = [_named(QCoreApplication.translate("models", "Can draft for it: {text}"), ", ".join(able))]
    reasons: dict[str, list[str]] = {}
    for one in drafters:
        if not one["available"] and one["reason"]:
            reasons.setdefault(one["reason"], []).append(drafter_label(one["name"]))
    template = QCoreApplication.translate("models", "Cannot draft for it: {text} ({reason})")
    lines += [filled(template, text=", ".join(names), reason=sentence(Notice(id))) for id, names in reasons.items()]
    return lines


def _named(template: str, text: str | None) -> str:
    return filled(template, text=text) if text else ""
