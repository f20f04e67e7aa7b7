"""The parts of a memory: their names and colours, and a fit as a job tells it made ready to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from desktop.models.fit_bar import Fit, Segment
from desktop.sentences import sentence
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable


def parts() -> tuple[tuple[str, str, str], ...]:
    """The parts of a memory: how the job names them, what they are called, the palette's role of their colour."""
    return (
        ("target", QCoreApplication.translate("models", "model"), "accent"),
        ("twin", QCoreApplication.translate("models", "low-bit copy"), "accepted"),
        ("heads", QCoreApplication.translate("models", "drafting heads"), "string"),
        ("cache", QCoreApplication.translate("models", "context"), "bonus"),
        ("work", QCoreApplication.translate("models", "work space"), "correction"),
        ("graphs", QCoreApplication.translate("models", "CUDA graphs"), "text"),
        ("others", QCoreApplication.translate("models", "other programs"), "muted"),
        ("free", QCoreApplication.translate("models", "free"), "free"),
    )


def fit_of(told: dict[str, Any] | None) -> Fit | None:
    """How a model fits, where that is known; what does not fit says what would."""
    if not told:
        return None
    names = {part: name for part, name, _ in parts()}
    colours = {part: colour for part, _, colour in parts()}
    segments = tuple(
        Segment(names.get(one["name"], one["name"]), one["bytes"], colours.get(one["name"], "muted"))
        for one in told["segments"]
    )
    remedies = [said(one) for one in told.get("remedies", [])[:1]]
    return Fit(". ".join((said(told["notice"]), *remedies)), told["whole"], segments, told["fits"])


def shown(every: Iterable[dict[str, Any]]) -> set[str]:
    """The parts that any of these has, as the job names them."""
    return {part["name"] for told in every for part in told["segments"]}


def said(told: dict[str, Any]) -> str:
    """A notice as a job tells it."""
    return sentence(Notice(told["id"], told["values"]))
