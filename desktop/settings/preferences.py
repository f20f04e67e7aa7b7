"""What the user prefers, kept by QSettings; a stored value that makes no sense is replaced by the default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.events import Problem
from inference.settings import RULES, Sampling

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

SMALLEST_TEXT, LARGEST_TEXT = 80, 200


@dataclass(frozen=True, slots=True)
class Preferences:
    """Text size in percent; how replies are sampled and drafts verified; the longest reply in tokens."""

    text_size: int = 100
    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = 1024
    rule: str = RULES[0]

    @property
    def scale(self) -> float:
        """The text size as a factor."""
        return self.text_size / 100


def read(settings: QSettings) -> Preferences:
    """The stored preferences."""
    usual = Preferences()
    size = _whole(settings, "text_size", usual.text_size)
    tokens = _whole(settings, "max_new_tokens", usual.max_new_tokens)
    seed = _whole(settings, "seed", -1)
    try:
        sampling = Sampling(
            temperature=_number(settings, "temperature", usual.sampling.temperature),
            top_p=_number(settings, "top_p", usual.sampling.top_p),
            seed=seed if seed >= 0 else None,
        )
    except Problem:
        sampling = usual.sampling
    rule = str(settings.value("rule", usual.rule))
    return Preferences(
        min(LARGEST_TEXT, max(SMALLEST_TEXT, size)),
        sampling,
        tokens if tokens > 0 else usual.max_new_tokens,
        rule if rule in RULES else usual.rule,
    )


def write(settings: QSettings, preferences: Preferences) -> None:
    """Store the preferences."""
    sampling = preferences.sampling
    for name, value in (
        ("text_size", preferences.text_size),
        ("max_new_tokens", preferences.max_new_tokens),
        ("temperature", sampling.temperature),
        ("top_p", sampling.top_p),
        ("rule", preferences.rule),
        ("seed", -1 if sampling.seed is None else sampling.seed),
    ):
        settings.setValue(name, value)
    settings.sync()


def _whole(settings: QSettings, name: str, usual: int) -> int:
    return round(_number(settings, name, usual))


def _number(settings: QSettings, name: str, usual: float) -> float:
    try:
        return float(str(settings.value(name, usual)))
    except ValueError:
        return usual
