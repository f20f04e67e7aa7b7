"""Settings: what is stored comes back, nonsense does not, and what a dialog says reaches the engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QDialogButtonBox

from desktop.settings.chat_dialog import ChatDialog
from desktop.settings.chat_settings import ChatSettings, from_text, to_text
from desktop.settings.dialog import SettingsDialog
from desktop.settings.lines import as_lines, bias_as_lines, bias_from_lines, from_lines
from desktop.settings.preferences import Preferences, read, write
from desktop.settings.presets import FORMAT, Preset, Unknown, built_in, joined, read_file, stored, write_file
from inference.events import Problem
from inference.settings import Sampling

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

ODD = ChatSettings(
    Sampling(0.333, 40, 0.9, 0.1, 1.2, 0.5, -0.5, 2**60, 12, ((" the", -5.0), ("a=b", 2.5))),
    77,
    ("\nHuman:", "back\\slash", "\tend "),
    "off",
)


@pytest.fixture
def store(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)


def test_stored_preferences_come_back_and_nonsense_does_not(store: QSettings) -> None:
    chosen = Preferences(120, ODD, "textbook")
    write(store, chosen)
    assert read(store) == chosen
    store.setValue("rule", "guess")
    store.setValue("usual", '{"temperature": "warm", "top_k": 3}')
    assert read(store) == Preferences(120, ChatSettings(Sampling(top_k=3)))


def test_preferences_of_the_first_version_come_along(store: QSettings) -> None:
    for name, value in (("temperature", 0.3), ("top_p", 0.5), ("seed", 5), ("max_new_tokens", 64)):
        store.setValue(name, value)
    assert read(store).usual == ChatSettings(Sampling(0.3, top_p=0.5, seed=5), 64)


@pytest.mark.parametrize(
    "value",
    ['{"repetition_penalty": 0}', '{"repetition_penalty": -1}', '{"repetition_penalty": NaN}', '{"seed": "x"}',
     '{"max_new_tokens": 0}', '{"max_new_tokens": -5}', '{"temperature": "hot"}', '{"stop": [""]}', "[1, 2]", "{",
     '{"logit_bias": [["", 1]]}', '{"logit_bias": 7}', '{"unknown": 1}', "null"],
)  # fmt: skip
def test_b07_what_cannot_be_never_reaches_the_engine(value: str) -> None:
    assert from_text(value) == ChatSettings()


def test_settings_of_a_chat_as_json_hold_what_differs(store: QSettings) -> None:
    assert to_text(ChatSettings()) == "{}"
    assert from_text(to_text(ODD)) == ODD
    assert json.loads(to_text(ChatSettings(Sampling(temperature=0)))) == {"temperature": 0}


def test_lines_keep_breaks_and_backslashes() -> None:
    texts = ("\nHuman:", "back\\slash", "\\n as written", "\tend ", "a b")
    assert from_lines(as_lines(texts)) == texts
    assert "\n" not in as_lines(texts[:1])
    bias = ((" the", -5.0), ("a=b", 2.5), ("\n", 1000.0))
    assert bias_from_lines(bias_as_lines(bias)) == bias
    for bad in ("word", "word=", "=3", "word=much"):
        with pytest.raises(Problem) as caught:
            bias_from_lines(bad)
        assert caught.value.notice.values["field"] == "logit_bias"


def test_the_dialog_gives_back_the_rule(qtbot: QtBot, store: QSettings) -> None:
    dialog = SettingsDialog(Preferences(rule="textbook"), store)
    qtbot.addWidget(dialog)
    dialog.accept()
    assert dialog.chosen() == Preferences(rule="textbook")
    dialog.rule.setCurrentIndex(0)
    assert dialog.chosen().rule == "coupled"


def test_a_dialog_that_is_not_touched_changes_nothing(qtbot: QtBot, store: QSettings) -> None:
    dialog = ChatDialog("Be  kind.\u00a0\u202fAlways.", ODD, ChatSettings(), store, thinking=("on", "off"))
    qtbot.addWidget(dialog)
    dialog.accept()
    assert dialog.settings == ODD
    assert dialog.system == "Be  kind.\u00a0\u202fAlways."
    assert not dialog.form.more.isHidden()
    assert dialog.form.more.isChecked()


def test_settings_like_those_of_new_chats_are_none_of_the_chats_own(qtbot: QtBot, store: QSettings) -> None:
    usual = ChatSettings(Sampling(temperature=0.2))
    dialog = ChatDialog("  ", ODD, usual, store)
    qtbot.addWidget(dialog)
    assert dialog.presets.choice.currentIndex() == -1
    dialog.presets.choice.setCurrentIndex(0)
    dialog.presets.choice.activated.emit(0)
    dialog.accept()
    assert dialog.settings is None
    assert dialog.system == ""


def test_b07_a_field_that_cannot_be_is_named_and_the_dialog_stays(qtbot: QtBot, store: QSettings) -> None:
    dialog = ChatDialog("", None, ChatSettings(), store)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.form.logit_bias.setPlainText("word")
    buttons = dialog.findChild(QDialogButtonBox)
    assert buttons is not None
    buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    assert dialog.isVisible()
    assert dialog.form.complaint.text() == "logit_bias is 'word'; it must be written as text=value."
    dialog.form.logit_bias.setPlainText("word=2")
    buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    assert dialog.settings == ChatSettings(Sampling(logit_bias=(("word", 2.0),)))


def test_the_seed_of_the_last_reply_can_be_kept(qtbot: QtBot, store: QSettings) -> None:
    dialog = ChatDialog("", None, ChatSettings(), store, last_seed=123456)
    qtbot.addWidget(dialog)
    assert dialog.last_seed.text() == "Keep the seed of the last reply: 123456"
    dialog.last_seed.click()
    dialog.accept()
    assert dialog.settings == ChatSettings(Sampling(seed=123456))


def test_presets_are_kept_exported_and_imported(qtbot: QtBot, store: QSettings, tmp_path: Path) -> None:
    dialog = ChatDialog("", ODD, ChatSettings(), store)
    qtbot.addWidget(dialog)
    bar = dialog.presets
    bar.add("  Mine\n ")
    assert stored(store) == [Preset("Mine", ODD)]
    assert bar.choice.currentText() == "Mine"
    dialog.form.temperature.setValue(0.5)
    assert bar.choice.currentIndex() == -1
    bar.add("mine")
    assert [one.name for one in stored(store)] == ["mine"]
    bar.add(built_in()[0].name)
    assert [one.name for one in stored(store)] == ["mine", "Balanced (2)"]
    bar.export_to(tmp_path / "p")
    assert "Exported to p.json" in bar.said.text()
    bar.choice.setCurrentIndex(bar.choice.findText("mine"))
    bar.remove()
    bar.import_from(tmp_path / "p.json")
    assert bar.said.text() == "Presets that came in: 1"
    assert sorted(one.name for one in stored(store)) == ["Balanced (2)", "mine"]
    other = QSettings(str(tmp_path / "t.ini"), QSettings.Format.IniFormat)
    later = ChatDialog("", None, ChatSettings(), other)
    qtbot.addWidget(later)
    later.presets.import_from(tmp_path / "p.json")
    assert {one.settings for one in stored(other)} == {one.settings for one in stored(store)}


def test_what_is_imported_replaces_nothing() -> None:
    before = [Preset("A", ChatSettings()), Preset("A (2)", ODD)]
    more = [Preset("a", ODD), Preset("A", ChatSettings()), Preset("B", ODD)]
    assert [one.name for one in joined(before, more)] == ["A", "A (2)", "a (3)", "B"]


def test_files_that_hold_no_presets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    for text, why in (
        ("{", "none"),
        ("[]", "none"),
        ('{"format": "other"}', "none"),
        (json.dumps({"format": FORMAT, "version": 1, "presets": [{"name": 3}, 4, {"name": " "}]}), "none"),
        (json.dumps({"format": FORMAT, "version": 2, "presets": []}), "newer"),
    ):
        path.write_text(text)
        with pytest.raises(Unknown) as caught:
            read_file(path)
        assert str(caught.value) == why
    write_file(path, [Preset("ñ 🙂", ODD)])
    assert read_file(path) == [Preset("ñ 🙂", ODD)]


def test_one_of_several_cards_is_chosen_and_kept(qtbot: QtBot, store: QSettings) -> None:
    from desktop.settings.cards import on_card
    from inference.settings import ModelChoice

    names = ["NVIDIA A", "NVIDIA B"]
    dialog = SettingsDialog(Preferences(), store, cards=names)
    qtbot.addWidget(dialog)
    assert [dialog.card.itemText(row) for row in range(2)] == ["0: NVIDIA A", "1: NVIDIA B"]
    dialog.card.setCurrentIndex(1)
    chosen = dialog.chosen()
    write(store, chosen)
    assert read(store).card == 1
    assert on_card(ModelChoice(), 1, names).device == "cuda:1"
    assert on_card(ModelChoice(), 1, names[:1]).device == "auto", "the card is gone"
    assert on_card(ModelChoice(device="cpu"), 1, names).device == "cpu", "the command line has the last word"
    single = SettingsDialog(chosen, store, cards=names[:1])
    qtbot.addWidget(single)
    assert not single.card.isVisibleTo(single)
    assert single.chosen().card == 0


def test_cards_are_named_in_the_order_of_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    from desktop.settings.cards import cards

    places = {0: "00000000:81:00.0", 1: "00000000:01:00.0"}
    for name, stand_in in {
        "nvmlInit": lambda: None, "nvmlShutdown": lambda: None, "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetPciInfo": lambda handle: type("Pci", (), {"busId": places[handle]}),
        "nvmlDeviceGetName": lambda handle: f"card {handle}",
    }.items():  # fmt: skip
        monkeypatch.setattr(pynvml, name, stand_in)
    assert cards() == ["card 1", "card 0"]
