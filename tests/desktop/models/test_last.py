"""The window starts with the model that was loaded last; one that is gone is told, and the starter is a key away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from desktop.models import last
from inference.events import LoadFailed, Notice
from inference.settings import ModelChoice
from tests.desktop.models.by_keys import focused, press, tab_to
from tests.fake_session import FakeSession

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from PySide6.QtCore import QSettings

    from inference.events import Event
    from tests.desktop.stage import MakeStage

ROOT = Path(__file__).resolve().parents[3]


class ForgetfulSession(FakeSession):
    """Has the starter only."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        if choice.model == "starter":
            yield from super().load(choice, cancel)
        else:
            self.choices.append(choice)
            yield LoadFailed(Notice("error.not_installed", {"model": choice.model}))


def test_the_last_model_is_kept_and_is_never_fetched_at_the_start(
    settings: QSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ModelChoice(context=512)
    assert last.chosen(settings, plain) == plain
    last.write(settings, "owner/tiny")
    assert last.chosen(settings, plain) == ModelChoice("owner/tiny", context=512, fetch=False)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    last.write(settings, "folder")
    assert last.read(settings) == str(tmp_path / "folder")
    last.write(settings, "starter")
    assert last.chosen(settings, plain) == plain


def test_what_is_loaded_is_kept_and_what_fails_is_not(stage: MakeStage) -> None:
    one = stage(session=ForgetfulSession()).ready()
    assert one.window._settings.value(last.KEY) == "starter"
    one.window.menu.choose("owner/gone")
    one.wait(lambda: one.window.page.loading.starter.isVisible())
    assert last.read(one.window._settings) == "starter"


def test_a_last_model_that_is_gone_is_told_and_the_starter_is_offered(stage: MakeStage) -> None:
    session = ForgetfulSession()
    one = stage(session=session).ready()
    last.write(one.window._settings, "owner/gone")
    one.window.load(last.chosen(one.window._settings, ModelChoice()))
    loading = one.window.page.loading
    one.wait(lambda: loading.starter.isVisible())
    assert loading.words.text() == "owner/gone is not installed; choose one of the list."
    assert session.choices[-1] == ModelChoice("owner/gone", fetch=False)
    one.window.activateWindow()
    one.window.composer.setFocus()
    tab_to("Load the starter model")
    press(Qt.Key.Key_Space)
    one.ready()
    assert session.choices[-1] == ModelChoice() and not loading.isVisible()


def test_the_starter_is_not_offered_where_it_fails_itself(stage: MakeStage) -> None:
    one = stage(session=ForgetfulSession()).ready()
    loading = one.window.page.loading
    one.window.page.loading.show_waiting(is_starter=True)
    loading.show_failure(LoadFailed(Notice("error.busy")))
    assert loading.retry.isVisible() and not loading.starter.isVisible()


@pytest.mark.parametrize("width", [420, 560, 1180])
def test_the_ways_on_have_room_for_their_words(stage: MakeStage, spanish: None, width: int) -> None:
    one = stage(size=(width, 700))
    one.wait(lambda: one.window.chat.can_ask)
    loading = one.window.page.loading
    loading.show_waiting(is_starter=False)
    loading.show_failure(LoadFailed(Notice("error.not_installed", {"model": "owner/gone"})))
    buttons = (loading.starter, loading.retry, loading.models, loading.folder)
    one.wait(lambda: all(button.width() >= button.sizeHint().width() for button in buttons))
    assert all(loading.rect().contains(button.geometry()) for button in buttons)
    assert one.window.width() == width
    loading.starter.setFocus()
    reached = [loading.starter]
    for _ in buttons[1:]:
        press(Qt.Key.Key_Tab)
        reached.append(focused())
    assert reached == list(buttons)


@pytest.mark.parametrize(("is_named", "loaded"), [(False, "owner/tiny False"), (True, "starter True")])
def test_the_program_starts_with_it_unless_a_model_is_named(is_named: bool, loaded: str, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from PySide6.QtCore import QSettings, QTimer\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from desktop import app\n"
        "from desktop.models import last\n"
        "from inference.settings import ModelChoice, Speculation\n"
        "from tests.fake_session import FakeSession\n"
        "last.write(QSettings('Borrador', 'Borrador'), 'owner/tiny')\n"
        "class Session(FakeSession):\n"
        "    def load(self, choice, cancel):\n"
        "        print(choice.model, choice.fetch)\n"
        "        QTimer.singleShot(0, QApplication.instance(), QApplication.closeAllWindows)\n"
        "        yield from super().load(choice, cancel)\n"
        f"sys.exit(app.run(ModelChoice(), Speculation(), Session, is_named={is_named}))\n"
    )
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"),
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout.strip()) == (0, loaded), ended.stderr
