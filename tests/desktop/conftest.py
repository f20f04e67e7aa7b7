"""The window without a screen, played by a session of scripted events."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from PySide6.QtCore import QCoreApplication, QLocale, QSettings, QTranslator  # noqa: E402

from desktop.app import install_translation  # noqa: E402
from desktop.main_window import MainWindow  # noqa: E402
from desktop.palette import LIGHT  # noqa: E402
from desktop.store import Store  # noqa: E402
from desktop.transcript.view import Transcript  # noqa: E402
from desktop.worker import Worker  # noqa: E402
from inference.settings import ModelChoice, Speculation  # noqa: E402
from tests.desktop.stage import Stage  # noqa: E402
from tests.fake_session import FakeSession, Script  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tests.desktop.stage import MakeStage

HARMLESS = r"This plugin does not support .*"  # the offscreen platform says so of window hints and grabs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.gui)
            item.add_marker(pytest.mark.qt_log_ignore(HARMLESS, extend=True))


@pytest.fixture(autouse=True)
def english() -> None:
    QLocale.setDefault(QLocale("en_GB"))


@pytest.fixture
def spanish(qapp: QApplication) -> Iterator[None]:
    before = set(qapp.findChildren(QTranslator))
    assert install_translation(qapp, QLocale("es_ES"))
    yield
    for translator in set(qapp.findChildren(QTranslator)) - before:
        QCoreApplication.removeTranslator(translator)
        translator.deleteLater()


@pytest.fixture
def view(qtbot: QtBot) -> Transcript:
    """The page alone."""
    one = Transcript(LIGHT, 1.0)
    qtbot.addWidget(one)
    one.resize(700, 300)
    one.show()
    return one


@pytest.fixture
def stage(qtbot: QtBot, tmp_path: Path) -> Iterator[MakeStage]:
    """Makes a window with a scripted session; it is closed and its thread has ended when the test ends."""
    stages: list[Stage] = []

    def make(
        script: Script | None = None,
        speculation: Speculation | None = None,
        size: tuple[int, int] = (1180, 780),
        session: FakeSession | None = None,
    ) -> Stage:
        session = session or FakeSession(script)
        worker = Worker(lambda: session)
        settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        store = Store(tmp_path / "data")
        window = MainWindow(worker, ModelChoice(), speculation or Speculation(k=3), LIGHT, settings, store)
        qtbot.addWidget(window)
        window.resize(*size)
        window.appeared.connect(worker.start)
        window.show()
        window.load(ModelChoice())
        stages.append(Stage(window, worker, session, qtbot))
        return stages[-1]

    yield make
    for one in stages:
        one.window.close()
        assert one.worker.has_ended(60_000)
