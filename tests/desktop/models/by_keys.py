"""A person with a keyboard: what has the focus, a key pressed there, and the way to a control by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.desktop.stage import Stage

CONTROL = Qt.KeyboardModifier.ControlModifier


def until(one: Stage, condition: Callable[[], object]) -> None:
    """As `Stage.wait`, for children that take their time to start on a busy machine."""
    one.qtbot.waitUntil(lambda: bool(condition()), timeout=60_000)


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(focused(), key, modifier)


def tab_to(name: str) -> None:
    """Tab until a control whose accessible name begins so has the focus."""
    seen = []
    for _ in range(60):
        QApplication.processEvents()
        interface = QAccessible.queryAccessibleInterface(focused())
        if interface.text(QAccessible.Text.Name).startswith(name):
            return
        seen.append(interface.text(QAccessible.Text.Name))
        press(Qt.Key.Key_Tab)
    raise AssertionError(name, seen)
