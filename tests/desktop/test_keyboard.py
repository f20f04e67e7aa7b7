"""Everything can be reached and named without a pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QWidget

from desktop.settings.dialog import SettingsDialog

if TYPE_CHECKING:
    from tests.desktop.stage import MakeStage


def reached_by_tab(start: QWidget) -> list[QWidget]:
    start.setFocus()
    seen: list[QWidget] = []
    for _ in range(40):
        now = QApplication.focusWidget()
        if now is None or (seen and now is seen[0]):
            break
        seen.append(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    return seen


def test_tab_reaches_every_control_and_comes_back(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.activateWindow()
    one.window.toggle_panel()
    window, header, panel = one.window, one.window.header, one.window.panel
    window.composer.put("x")
    seen = reached_by_tab(window.composer.field)
    for control in (
        window.composer.button, header.new_chat, header.model, header.switch, header.length, header.settings,
        header.rounds, *window.page.welcome.suggestions, panel.close_button, panel.strip, panel.colour,
    ):  # fmt: skip
        assert control in seen, control
    headers = [seen.index(c) for c in (header.new_chat, header.model, header.switch, header.length, header.rounds)]
    assert headers == sorted(headers)


def test_every_control_has_a_name(stage: MakeStage) -> None:
    one = stage().ready().ask()
    one.window.toggle_panel()
    for control in [*one.window.findChildren(QAbstractButton), *one.window.findChildren(QComboBox)]:
        if control.isVisible() and control.focusPolicy() != Qt.FocusPolicy.NoFocus:
            interface = QAccessible.queryAccessibleInterface(control)
            assert interface.text(QAccessible.Text.Name), control
    for named in (one.window.composer.field, one.window.transcript, one.window.panel.strip):
        assert named.accessibleName()


def test_space_turns_the_switch(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.header.switch.setFocus()
    QTest.keyClick(one.window.header.switch, Qt.Key.Key_Space)
    assert not one.window.header.speculation.on
    interface = QAccessible.queryAccessibleInterface(one.window.header.switch)
    assert interface.role() == QAccessible.Role.CheckBox


@pytest.mark.parametrize("key", [Qt.Key.Key_N, Qt.Key.Key_R])
def test_shortcuts_for_new_chat_and_again(stage: MakeStage, key: Qt.Key) -> None:
    one = stage().ready().ask()
    QTest.keyClick(one.window, key, Qt.KeyboardModifier.ControlModifier)
    if key == Qt.Key.Key_N:
        assert one.window.page.pages.currentWidget() is one.window.page.welcome
        assert one.page == ""
    else:
        one.wait(lambda: len(one.session.requests) == 2 and not one.conversation.is_writing)


def test_the_settings_dialog_changes_what_replies_are_asked_for(stage: MakeStage) -> None:
    one = stage().ready().ask()
    before = one.window.transcript.document().defaultFont().pixelSize()
    QTest.keyClick(one.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = one.window.findChild(SettingsDialog)
    assert dialog is not None
    assert not dialog.form.top_k.isVisible()
    dialog.form.more.click()
    assert all(box.isVisible() for box in dialog.findChildren(QAbstractSpinBox))
    dialog.form.temperature.setValue(0)
    dialog.form.seed.setText("42")
    dialog.form.max_new_tokens.setValue(64)
    dialog.text_size.setValue(150)
    dialog.accept()
    one.ask("Again with other settings")
    request = one.session.requests[-1]
    assert (request.sampling.temperature, request.sampling.seed, request.max_new_tokens) == (0, 42, 64)
    assert one.window.transcript.document().defaultFont().pixelSize() > before
