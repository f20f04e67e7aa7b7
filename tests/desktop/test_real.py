"""Once for real: the window, the engine and the starter model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QImage

from desktop.main_window import MainWindow
from desktop.palette import LIGHT
from desktop.settings.chat_settings import ChatSettings
from desktop.settings.preferences import Preferences, write
from desktop.store import Store
from desktop.worker import Worker
from inference.settings import ModelChoice, Sampling, Speculation

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from inference.events import LoadFailed

MINUTES_MS = 240_000


@pytest.mark.slow
def test_i01_the_starter_answers_in_the_window(qtbot: QtBot, tmp_path: Path, starter_folder: Path) -> None:
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    write(settings, Preferences(usual=ChatSettings(Sampling(temperature=0), 48)))
    worker = Worker()
    window = MainWindow(worker, ModelChoice(context=1024), Speculation(k=3), LIGHT, settings, Store(tmp_path / "data"))
    failures: list[LoadFailed] = []
    window.chat.load_failed.connect(failures.append)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.appeared.connect(worker.start)
    window.show()
    window.toggle_panel()
    window.load(window.menu.choice)
    try:
        qtbot.waitUntil(lambda: window.chat.can_ask or bool(failures), timeout=MINUTES_MS)
        assert not failures
        window.panel.colour.click()
        window.ask("Write a short poem about the sea.")
        qtbot.waitUntil(lambda: not window.chat.is_writing, timeout=MINUTES_MS)
        reply = window.chat.conversation.turns[-1].reply
        assert reply.failure is None
        assert reply.finished is not None
        assert reply.text == reply.finished.text != ""
        assert window.panel.strip.rounds
        assert any(r.accepted for r in reply.rounds)
        picture = tmp_path / "window.png"
        assert window.grab().save(str(picture))
        image = QImage(str(picture)).convertToFormat(QImage.Format.Format_RGB32)
        colours = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
        assert len(colours) > 40
    finally:
        window.close()
        assert worker.has_ended(30_000)
