"""The models page in the window, by keyboard alone, with real jobs against a hub on loopback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QAccessible, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QMessageBox

from desktop.models.fit_bar import Fit, FitBar, Segment
from desktop.models.item import Item, State
from desktop.models.shelf import models_in, without_later_parts
from desktop.palette import DARK, LIGHT
from desktop.settings import network
from desktop.settings.network import Environment, Network
from tests.desktop.models.by_keys import CONTROL, focused, press, tab_to, until
from tests.fake_hub import FakeHub, Fault, Repository, model_files

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from tests.desktop.stage import MakeStage, Stage


@pytest.fixture
def shop(stage: MakeStage, hub: FakeHub) -> Stage:
    """A window that has looked for models; the hub offers two."""
    hub.repositories["owner/sea-1b"] = Repository(model_files(1), parameters=10**9, downloads=10)
    hub.repositories["owner/sea-9b"] = Repository(model_files(1), parameters=9 * 10**9, downloads=90, gated=True)
    one = stage().ready()
    one.window.activateWindow()
    one.window.shelf.begin()
    until(one, lambda: one.window.shelf._offers is not None)
    return one


def test_search_download_and_load_by_keyboard_alone(shop: Stage) -> None:
    window = shop.window
    press(Qt.Key.Key_M, CONTROL)
    models = window.shelf.models
    assert not window.pages.is_chat and models.tabs.currentWidget() is models.discover  # nothing is installed
    assert focused() is models.discover.field
    QTest.keyClicks(focused(), "sea")
    press(Qt.Key.Key_Return)
    until(shop, lambda: models.discover._found)
    assert [row.name.text() for row in models.discover.rows._rows.values()] == ["sea-9b", "sea-1b"]
    tab_to("Download: sea-1b")
    press(Qt.Key.Key_Space)
    assert models.tabs.currentWidget() is models.downloads
    (item,) = window.shelf.queue.items
    until(shop, lambda: item.state is State.DONE)
    until(shop, lambda: any(entry["name"] == "owner/sea-1b" for entry in window.shelf._entries))
    assert window.notice.words.text() == "sea-1b is here."
    tab_to("Load: sea-1b")
    press(Qt.Key.Key_Space)
    until(shop, lambda: shop.session.choices[-1].model == "owner/sea-1b")
    assert window.pages.is_chat and focused() is window.composer.field
    shop.ready()
    press(Qt.Key.Key_M, CONTROL)
    assert models.tabs.currentWidget() is models.installed
    models.installed.show_state("owner/sea-1b", "")  # the scripted session always says that it is the starter
    row = models.installed.rows.row("owner/sea-1b")
    assert row is not None and row.mark.text() == "loaded"
    buttons = [("Unload", True), ("Remove", False), ("Details", True)]
    assert [(button.text(), button.isEnabled()) for button in row.buttons()] == buttons
    tab_to("Unload: owner/sea-1b")
    with shop.qtbot.waitSignal(shop.worker.unloaded):
        press(Qt.Key.Key_Space)
    assert models.said.text() == "SmolLM2 135M is unloaded, and its memory is free."
    assert [button.text() for button in row.buttons()] == ["Load", "Remove", "Details"]
    assert focused() is row.buttons()[0]
    press(Qt.Key.Key_Escape)
    assert window.pages.is_chat


def test_a_gated_model_names_its_page_and_a_failed_one_can_be_tried_again(shop: Stage, hub: FakeHub) -> None:
    window = shop.window
    window.shelf.download({"model": "owner/sea-9b", "name": "sea-9b", "size": None})
    (item,) = window.shelf.queue.items
    until(shop, lambda: item.state is State.FAILED)
    row = window.shelf.models.downloads.rows.row(item.key)
    assert row is not None and f"{hub.url}/owner/sea-9b" in row.trouble.text()
    assert [button.text() for button in row.buttons()] == ["Open its page", "Try again", "Cancel"]
    hub.repositories["owner/sea-9b"].gated = False
    tab_to("Try again")
    press(Qt.Key.Key_Space)
    until(shop, lambda: item.state is State.DONE)


def test_F11_cancel_asks_what_becomes_of_the_part(shop: Stage, hub: FakeHub) -> None:
    hub.repositories["owner/sea-1b"] = Repository(model_files(4))
    hub.faults.append(Fault("model.safetensors", bytes_per_second=4e6))
    window = shop.window
    window.shelf.download({"model": "owner/sea-1b", "name": "sea-1b", "size": None})
    (item,) = window.shelf.queue.items
    until(shop, lambda: item.done > 1_000_000)
    downloads = window.shelf.models.downloads
    row = downloads.rows.row(item.key)
    assert row is not None and "MB/s" in row.facts.text()
    for choice, left in (("Go on", [item]), ("Keep them", [])):
        downloads.ask_to_cancel(item)
        box = downloads.findChild(QMessageBox)
        assert box is not None and "sea-1b" in box.text()
        button = next(one for one in box.buttons() if one.text() == choice)
        button.click()
        until(shop, lambda box=box: downloads.findChild(QMessageBox) is not box)
        assert window.shelf.queue.items == left
    assert list((Path(os.environ["HF_HOME"])).rglob("*.incomplete"))


def test_F12_leaving_the_page_loses_nothing_and_closing_pauses(shop: Stage, hub: FakeHub) -> None:
    hub.repositories["owner/sea-1b"] = Repository(model_files(4))
    hub.faults.append(Fault("model.safetensors", bytes_per_second=2e6))
    window = shop.window
    window.shelf.download({"model": "owner/sea-1b", "name": "sea-1b", "size": None})
    (item,) = window.shelf.queue.items
    window.new_chat()
    until(shop, lambda: item.done > 500_000)
    window.shelf.show_downloads()
    row = window.shelf.models.downloads.rows.row(item.key)
    assert row is not None and row.bar.value() > 0 and window.shelf.models.tabs.tabText(2) == "Downloads (1)"
    window.close()
    assert item.state is State.PAUSED
    assert '"sea-1b"' in str(window._settings.value("downloads"))


def test_the_picker_opens_by_a_key_and_marks_what_is_loaded(shop: Stage) -> None:
    menu = shop.window.menu
    shown = []
    menu.aboutToShow.connect(lambda: shown.append([action.text() for action in menu.actions()]))
    menu.aboutToShow.connect(lambda: QTimer.singleShot(0, menu.close))
    press(Qt.Key.Key_L, CONTROL)
    until(shop, lambda: shown)
    assert shown[0][0] == "Starter model"
    assert "All models…" in shown[0] and "Find more models…" in shown[0]
    assert menu.actions()[0].isChecked()
    menu.chosen.emit(menu.choice)
    assert shop.window.header.model.toolTip().startswith("Loading starter…")
    shop.ready()
    assert shop.window.header.model.toolTip().startswith("SmolLM2")


def test_first_start_leads_to_the_model_for_this_machine(shop: Stage) -> None:
    welcome, shelf = shop.window.page.welcome, shop.window.shelf
    assert welcome.recommended.text().startswith("Recommended for this machine: ")
    welcome.recommended.click()
    row = shelf.models.discover.rows.row(shelf._offers["recommended"])
    assert row is not None and row.mark.text() == "for this machine"
    assert focused() is row.buttons()[0]
    assert next(iter(shelf.models.discover.rows._rows)) == shelf._offers["recommended"]


def test_filters_of_the_list(shop: Stage) -> None:
    discover = shop.window.shelf.models.discover
    everything = len(discover.rows._rows)
    discover.licence.setCurrentIndex(discover.licence.findData("free"))
    free = len(discover.rows._rows)
    discover.largest.setCurrentIndex(discover.largest.findData(2e9))
    small = len(discover.rows._rows)
    assert everything > free > small > 0
    discover.largest.setCurrentIndex(discover.largest.findData("fits"))
    assert all(row.fit._fit is not None and row.fit._fit.fits for row in discover.rows._rows.values())


def test_every_control_has_a_name_and_colours_change(shop: Stage) -> None:
    window = shop.window
    window.shelf.queue.items.append(Item("owner/sea-1b", "sea-1b", state=State.PAUSED, done=10**6, size=10**7))
    for tab in (window.shelf.models.installed, window.shelf.models.discover, window.shelf.models.downloads):
        window.pages.go("models")
        window.shelf.models.show_tab(tab)
        window.shelf.queue.listed.emit()
        for control in [*tab.findChildren(QAbstractButton), *tab.findChildren(QComboBox)]:
            if control.isVisible() and control.focusPolicy() != Qt.FocusPolicy.NoFocus:
                assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name), control
    window.apply_palette(DARK)
    bar = window.shelf.models.discover.findChild(FitBar)
    assert bar is not None and bar._roles is DARK


def test_the_bar_says_what_it_shows_and_marks_where_the_memory_ends(shop: Stage) -> None:
    bar = FitBar(LIGHT)
    bar.resize(400, 12)
    fit = Fit("Needs 12 GB", 8e9, (Segment("model", 10e9, "accent"), Segment("context", 2e9, "bonus")), fits=False)
    bar.show_fit(fit)
    assert bar.accessibleDescription() == "model 10.0 GB, context 2.0 GB"
    picture = bar.grab().toImage()
    assert picture.pixelColor(100, 6).name().upper() == LIGHT.accent
    assert picture.pixelColor(266, 0).name().upper() == LIGHT.danger


def test_a_dropped_model_is_imported_and_other_files_are_for_the_message(shop: Stage, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}", encoding="utf-8")
    for name in ("tiny.gguf", "notes.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    dropped = [tmp_path / "model", tmp_path / "tiny.gguf", tmp_path / "notes.txt"]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in dropped])
    assert models_in(data) == dropped[:2]
    event = QDropEvent(
        QPoint(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier, QEvent.Type.Drop,
    )  # fmt: skip
    assert shop.window.shelf.eventFilter(shop.window.page, event)
    assert [(item.name, item.kind) for item in shop.window.shelf.queue.items] == [
        ("model", "import"), ("tiny.gguf", "import"),
    ]  # fmt: skip
    items = list(shop.window.shelf.queue.items)
    until(shop, lambda: all(item.state is State.FAILED for item in items))
    assert all(item.notice is not None and item.notice.id.startswith("error.") for item in items)


def test_parts_of_a_set_that_are_dropped_together_are_one_import(tmp_path: Path) -> None:
    parts = [tmp_path / f"big-0000{number}-of-00003.gguf" for number in (2, 1, 3)]
    others = [tmp_path / "small.gguf", tmp_path / "big.gguf.part", tmp_path / "folder"]
    assert without_later_parts([*parts, *others]) == [parts[1], *others]


def test_how_the_hub_is_reached_counts_from_the_next_job(
    hub: FakeHub, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://before")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    environment = Environment()
    chosen = Network("http://mirror", "http://proxy:8080", offline=True)
    network.write(settings, chosen)
    assert network.read(settings) == chosen
    environment.apply(chosen)
    assert (os.environ["HF_ENDPOINT"], os.environ["HF_HUB_OFFLINE"]) == ("http://mirror", "1")
    assert os.environ["HTTPS_PROXY"] == os.environ["https_proxy"] == "http://proxy:8080"
    environment.apply(Network())
    assert os.environ["HF_ENDPOINT"] == "http://before"
    assert "HF_HUB_OFFLINE" not in os.environ and "HTTPS_PROXY" not in os.environ


def test_the_settings_switch_offline_and_keep_a_token(
    shop: Stage, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from desktop.settings.dialog import SettingsDialog
    from desktop.settings.network import NetworkGroup

    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    press(Qt.Key.Key_Comma, CONTROL)
    dialog = shop.window.findChild(SettingsDialog)
    assert dialog is not None
    group = dialog.findChild(NetworkGroup)
    assert group is not None
    until(shop, lambda: group.said.text().startswith("There is no token"))
    group.token.setText("hf_mine")
    QTest.keyClick(group.token, Qt.Key.Key_Return)
    until(shop, lambda: "file that only you can read" in group.said.text())
    assert dialog.isVisible() and group.token.text() == ""
    group.offline.setChecked(True)
    dialog.accept()
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert shop.window.status_bar.offline.isVisible()
    assert "offline" in shop.window.status_bar.offline.text()
    asked = len(hub.asked)
    discover = shop.window.shelf.models.discover
    discover.field.setText("sea")
    discover.search()
    until(shop, lambda: discover.rows.words.text().startswith("The offline switch is on"))
    assert len(hub.asked) == asked
    assert "hf_mine" not in Path(shop.window._settings.fileName()).read_text(encoding="utf-8")
    shop.window.shelf.keep_network(Network())
    assert "HF_HUB_OFFLINE" not in os.environ
    assert not shop.window.status_bar.offline.isVisible()


@pytest.mark.parametrize(("name", "value", "is_offline"), [
    ("HF_HUB_OFFLINE", "1", True), ("TRANSFORMERS_OFFLINE", "yes", True), ("HF_HUB_OFFLINE", "0", False),
])  # fmt: skip
def test_the_lowest_line_says_offline_when_the_program_was_started_so(
    hub: FakeHub, stage: MakeStage, monkeypatch: pytest.MonkeyPatch, name: str, value: str, is_offline: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert stage().window.status_bar.offline.isVisible() is is_offline
