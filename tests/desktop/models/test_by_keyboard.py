"""Importing a model and chatting with it offline, by keyboard alone, with real jobs and no connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from desktop.models.item import State
from inference.models import places
from tests.desktop.models.by_keys import CONTROL, focused, press, tab_to, until
from tests.fake_hub import FakeHub, model_files
from tests.inference.models.folders_for_tests import small_gguf

if TYPE_CHECKING:
    from pathlib import Path

    from tests.desktop.stage import MakeStage, Stage

BACK = CONTROL | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def offline(stage: MakeStage, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A window without a connection that has looked for models."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    one = stage().ready()
    one.window.activateWindow()
    one.window.shelf.begin()
    until(one, lambda: one.window.shelf._offers is not None)
    return one


def to_installed(one: Stage) -> None:
    """From wherever the window is to the list of what is installed."""
    press(Qt.Key.Key_M, CONTROL)
    models = one.window.shelf.models
    for _ in range(models.tabs.count()):
        if models.tabs.currentWidget() is not models.installed:
            press(Qt.Key.Key_Tab, BACK)
    assert models.tabs.currentWidget() is models.installed


def bring(one: Stage, button: str, path: Path) -> None:
    """Name ``path`` in the dialog behind a button, and wait until it is installed."""
    to_installed(one)
    tab_to(button)
    press(Qt.Key.Key_Space)
    one.wait(lambda: isinstance(focused().window(), QFileDialog))
    QTest.keyClicks(focused(), str(path))
    press(Qt.Key.Key_Return)
    one.wait(lambda: one.window.shelf.queue.items)
    one.window.activateWindow()  # without a window manager nobody else does
    (item,) = one.window.shelf.queue.items
    until(one, lambda: item.state in (State.DONE, State.FAILED))
    assert item.state is State.DONE, item.notice
    until(one, lambda: any(entry["ready"] for entry in one.window.shelf._entries))


@pytest.mark.slow
def test_a_gguf_file_is_imported_loaded_and_chatted_with_offline(offline: Stage, hub: FakeHub, tmp_path: Path) -> None:
    window = offline.window
    bring(offline, "Import a GGUF file…", small_gguf(tmp_path / "sea.gguf"))
    (entry,) = window.shelf._entries
    to_installed(offline)
    tab_to("Load: " + entry["name"])
    press(Qt.Key.Key_Space)
    offline.wait(lambda: offline.session.choices[-1].model == entry["model"])
    offline.ready()
    assert window.pages.is_chat and focused() is window.composer.field
    QTest.keyClicks(focused(), "Tell me of the sea")
    press(Qt.Key.Key_Return)
    offline.wait(lambda: offline.conversation.turns and not offline.conversation.is_writing)
    assert offline.conversation.turns[0].question == "Tell me of the sea"
    assert "The waves of the sea" in offline.page
    assert "offline" in window.status_bar.offline.text() and window.status_bar.offline.isVisible()
    assert hub.asked == []


def test_a_folder_is_listed_by_keyboard_alone(offline: Stage, hub: FakeHub, tmp_path: Path) -> None:
    folder = tmp_path / "my model"
    folder.mkdir()
    for name, data in model_files().items():
        (folder / name).write_bytes(data)
    bring(offline, "Add a folder…", folder)
    assert places.read().folders == (folder,)
    to_installed(offline)
    tab_to("Load: my model")
    assert hub.asked == []
