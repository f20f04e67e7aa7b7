"""The quiet line under a reply: why it ended, how fast it came, how much of the draft was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from desktop.sentences import filled, sentence
from desktop.speculation.compare_words import drafter_label

if TYPE_CHECKING:
    from inference.events import Finished, Statistics


def quiet_line(finished: Finished) -> str:
    """Figures of one reply, with units, separated by dots. The reason is named unless the reply simply ended."""
    figures = finished.statistics
    parts = [] if finished.reason.id == "finish.end" else [sentence(finished.reason)]
    if figures.tokens:
        parts.append(_say(QCoreApplication.translate("figures", "{rate:.0f} tok/s"), rate=figures.tokens_per_second))
        parts.append(_say(QCoreApplication.translate("figures", "first {seconds:.1f} s"), seconds=figures.ttft))
    if figures.acceptance is not None:
        percent = 100 * figures.acceptance
        parts.append(_say(QCoreApplication.translate("figures", "{percent:.0f} % accepted"), percent=percent))
        parts.append(_drafter(figures))
        parts.append(f"K {usual_k(figures)}")
    elif figures.tokens:
        parts.append(QCoreApplication.translate("figures", "no drafts"))
    return " · ".join(parts)


def usual_k(figures: Statistics) -> int:
    """The draft length planned most often where there was a draft."""
    counts = figures.k_histogram
    return max(range(1, len(counts)), key=lambda k: counts[k]) if any(counts[1:]) else 0


def _drafter(figures: Statistics) -> str:
    if figures.drafter != "twin":
        return drafter_label(figures.drafter)
    if figures.bits is None:
        return QCoreApplication.translate("figures", "self-draft")
    return _say(QCoreApplication.translate("figures", "self-draft {bits:.0f}-bit"), bits=figures.bits.levels)


def _say(template: str, **values: float) -> str:
    return filled(template, **values)
