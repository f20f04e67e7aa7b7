"""Sizes, speeds and times as people read them, in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from desktop.sentences import filled

SEPARATOR = " · "


def size(count: float) -> str:
    """Bytes."""
    if count >= 1e9:
        return filled(QCoreApplication.translate("models", "{size:.1f} GB"), size=count / 1e9)
    return filled(QCoreApplication.translate("models", "{size:.0f} MB"), size=count / 1e6)


def parameters(count: int) -> str:
    """Weights of a model."""
    if count >= 1e9:
        return filled(QCoreApplication.translate("models", "{count:.1f} billion parameters"), count=count / 1e9)
    return filled(QCoreApplication.translate("models", "{count:.0f} million parameters"), count=count / 1e6)


def time_left(seconds: float) -> str:
    """How long something will still take."""
    if seconds >= 5400:
        return filled(QCoreApplication.translate("models", "{hours:.1f} h left"), hours=seconds / 3600)
    if seconds >= 90:
        return filled(QCoreApplication.translate("models", "{minutes:.0f} min left"), minutes=seconds / 60)
    return filled(QCoreApplication.translate("models", "{seconds:.0f} s left"), seconds=seconds)


def transfer(done: float, whole: float, speed: float, seconds: float | None) -> str:
    """How far a download is."""
    parts = [
        filled(QCoreApplication.translate("models", "{done} of {whole}"), done=size(done), whole=size(whole)),
        filled(QCoreApplication.translate("models", "{speed:.1f} MB/s"), speed=speed / 1e6) if speed else "",
        time_left(seconds) if seconds is not None else "",
    ]
    return SEPARATOR.join(filter(None, parts))
