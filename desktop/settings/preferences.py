"""What the user prefers, kept by QSettings; a stored value that makes no sense is replaced by the default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from desktop.settings.chat_settings import ChatSettings, from_object, from_text, to_text
from inference.settings import RULES

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

SMALLEST_TEXT, LARGEST_TEXT = 80, 200


@dataclass(frozen=True, slots=True)
class Preferences:
    """Text size in percent; how replies are asked for where a chat does not say; what speculation keeps; the card."""

    text_size: int = 100
    usual: ChatSettings = field(default_factory=ChatSettings)
    rule: str = RULES[0]
    card: int = 0

    @property
    def scale(self) -> float:
        """The text size as a factor."""
        return self.text_size / 100


def read(settings: QSettings) -> Preferences:
    """The stored preferences."""
    plain = Preferences()
    size = _whole(settings, "text_size", plain.text_size)
    usual = str(settings.value("usual", ""))
    rule = str(settings.value("rule", plain.rule))
    return Preferences(
        min(LARGEST_TEXT, max(SMALLEST_TEXT, size)),
        from_text(usual) if usual else _from_first_version(settings),
        rule if rule in RULES else plain.rule,
        max(0, _whole(settings, "card", plain.card)),
    )


def write(settings: QSettings, preferences: Preferences) -> None:
    """Store the preferences."""
    settings.setValue("text_size", preferences.text_size)
    settings.setValue("usual", to_text(preferences.usual))
    settings.setValue("rule", preferences.rule)
    settings.setValue("card", preferences.card)
    settings.sync()


def _from_first_version(settings: QSettings) -> ChatSettings:
    """Version 0.1 kept each value by its own name, and a seed of -1 for none."""
    known: dict[str, float | int] = {}
    for name in ("temperature", "top_p", "max_new_tokens", "seed"):
        value = _number(settings, name, -1)
        if value >= 0:
            known[name] = value if name in ("temperature", "top_p") else round(value)
    return from_object(known)


def _whole(settings: QSettings, name: str, usual: int) -> int:
    return round(_number(settings, name, usual))


def _number(settings: QSettings, name: str, usual: float) -> float:
    try:
        return float(str(settings.value(name, usual)))
    except ValueError:
        return usual
