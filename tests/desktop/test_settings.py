"""Preferences: what is stored comes back, and the rule chosen in the dialog reaches the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings

from desktop.settings.dialog import SettingsDialog
from desktop.settings.preferences import Preferences, read, write
from inference.settings import Sampling

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


def test_stored_preferences_come_back_and_nonsense_does_not(tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    chosen = Preferences(120, Sampling(temperature=0.3, seed=5), 64, "textbook")
    write(settings, chosen)
    assert read(settings) == chosen
    settings.setValue("rule", "guess")
    settings.setValue("temperature", "warm")
    assert read(settings).rule == "coupled"
    assert read(settings).sampling.temperature == Sampling().temperature


def test_the_dialog_gives_back_the_rule(qtbot: QtBot) -> None:
    dialog = SettingsDialog(Preferences(rule="textbook"))
    qtbot.addWidget(dialog)
    assert dialog.chosen() == Preferences(rule="textbook")
    dialog.rule.setCurrentIndex(0)
    assert dialog.chosen().rule == "coupled"
