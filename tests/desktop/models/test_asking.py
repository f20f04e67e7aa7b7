"""Nothing that others miss is removed, and no code of a model is run, before a yes; with the engine's own jobs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from inference.events import LoadFailed
from inference.messages import Problem
from inference.models import folders, places, safety
from tests.desktop.models.by_keys import press, tab_to, until
from tests.fake_hub import FakeHub, model_files
from tests.fake_session import FakeSession

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from inference.events import Event
    from inference.settings import ModelChoice
    from tests.desktop.stage import MakeStage, Stage


class CarefulSession(FakeSession):
    """Refuses code of a model's own as the engine does, by what was allowed before."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        try:
            if (folder := Path(choice.model)).is_dir():
                safety.check(folder, folder.name)
        except Problem as problem:
            self.choices.append(choice)
            yield LoadFailed(problem.notice)
        else:
            yield from super().load(choice, cancel)


def question(one: Stage) -> QMessageBox:
    until(one, lambda: one.window.findChild(QMessageBox))
    box = one.window.findChild(QMessageBox)
    assert box is not None
    return box


def answer(one: Stage, box: QMessageBox, words: str | None) -> None:
    """Press a button, or Enter as the dialog stands."""
    if words is None:
        QTest.keyClick(box, Qt.Key.Key_Return)
    else:
        next(button for button in box.buttons() if button.text() == words).click()
    until(one, lambda: one.window.findChild(QMessageBox) is not box)
    one.window.activateWindow()  # without a window manager nobody else does


def listed(one: Stage) -> Stage:
    one.window.activateWindow()
    one.window.shelf.begin()
    until(one, lambda: one.window.shelf._entries)
    one.window.shelf.show_models(discover=False)
    return one


def test_what_other_programs_share_is_removed_only_after_a_yes_that_names_it(stage: MakeStage, hub: FakeHub) -> None:
    storage = folders.hub_cache() / "models--owner--tiny"
    snapshot = storage / "snapshots" / ("a" * 40)
    for folder in (snapshot, storage / "blobs", storage / "refs"):
        folder.mkdir(parents=True)
    (storage / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    for name, data in model_files(3).items():
        blob = storage / "blobs" / hashlib.sha256(data).hexdigest()
        blob.write_bytes(data)
        (snapshot / name).symlink_to(blob)
    one = listed(stage().ready())
    for words in (None, "Leave them", "Remove them anyway"):
        tab_to("Remove: owner/tiny")
        press(Qt.Key.Key_Space)
        box = question(one)
        assert "owner/tiny" in box.text()
        assert str(folders.hub_cache()) in box.informativeText() and "3 MB" in box.informativeText()
        assert snapshot.exists()
        answer(one, box, words)
    until(one, lambda: not storage.exists())
    until(one, lambda: not one.window.shelf._entries)
    assert one.window.shelf.models.said.text() == "owner/tiny was removed; 3 MB are free now."


def test_a_folder_of_the_users_goes_off_the_list_and_keeps_its_files(
    stage: MakeStage, hub: FakeHub, tmp_path: Path
) -> None:
    folder = tmp_path / "tiny <b>"
    folder.mkdir()
    for name, data in model_files().items():
        (folder / name).write_bytes(data)
    places.add(folder)
    one = listed(stage().ready())
    tab_to("Remove: tiny <b>")
    press(Qt.Key.Key_Space)
    box = question(one)
    assert box.text() == "Take tiny <b> off the list?" and str(folder) in box.informativeText()
    answer(one, box, "Take it off")
    until(one, lambda: not one.window.shelf._entries)
    assert places.read().folders == () and len(list(folder.iterdir())) == len(model_files())
    assert "its files are where they were" in one.window.shelf.models.said.text()


def test_E10_code_of_a_model_is_named_and_run_only_after_a_yes_that_is_remembered(
    stage: MakeStage, hub: FakeHub, tmp_path: Path
) -> None:
    folder = tmp_path / "models--owner--odd" / "snapshots" / ("b" * 40)
    folder.mkdir(parents=True)
    for name, data in model_files(model_type="martian", auto_map={"AutoConfig": "odd.Config"}).items():
        (folder / name).write_bytes(data)
    (folder / "odd.py").write_text("raise SystemExit\n", encoding="utf-8")
    session = CarefulSession()
    one = stage(session=session).ready()
    loading = one.window.page.loading
    one.window.menu.choose(str(folder))
    for attempt, words in enumerate((None, "Allow it")):
        box = question(one)
        assert "owner/odd" in box.informativeText() and "b" * 40 in box.informativeText()
        assert "odd.py" in box.informativeText()
        default = box.defaultButton()
        assert isinstance(default, QPushButton) and default.text() == "Do not allow it"
        answer(one, box, words)
        if not attempt:
            assert places.read().trusted == () and len(session.choices) == 2
            assert loading.isVisible() and "owner/odd" in loading.words.text()
            loading.retry.click()
    until(one, lambda: len(session.choices) == 4)
    one.ready()
    (kept,) = places.read().trusted
    assert kept.startswith(f"owner/odd@{'b' * 40}#")
    one.window.menu.choose("starter")
    one.wait(lambda: session.choices[-1].model == "starter")
    one.ready()
    one.window.menu.choose(str(folder))
    one.wait(lambda: len(session.choices) == 6)
    one.ready()
    assert one.window.findChild(QMessageBox) is None


def test_what_is_the_programs_own_is_removed_after_a_yes(stage: MakeStage, hub: FakeHub) -> None:
    folder = folders.models_folder() / "mine"
    folder.mkdir(parents=True)
    for name, data in model_files(2).items():
        (folder / name).write_bytes(data)
    (folder / "borrador.json").write_text(json.dumps({"name": "mine"}), encoding="utf-8")
    one = listed(stage().ready())
    for words in (None, "Remove"):
        tab_to("Remove: mine")
        press(Qt.Key.Key_Space)
        box = question(one)
        assert box.text() == "Remove mine?" and "2 MB" in box.informativeText()
        answer(one, box, words)
        assert folder.exists() or words
    until(one, lambda: not folder.exists())
