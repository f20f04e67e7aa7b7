"""Writing a message: Enter, Shift+Enter, input methods, odd characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.composer import Composer, Readiness
from desktop.field import MOST_LINES
from desktop.plain_text import cleaned

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    one = Composer()
    qtbot.addWidget(one)
    one.resize(600, 80)
    one.show()
    one.show_readiness(Readiness.READY)
    return one


def sent_by(composer: Composer) -> list[str]:
    sent: list[str] = []
    composer.submitted.connect(sent.append)
    return sent


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(composer.field, event)


def test_enter_sends_and_empties_the_field(composer: Composer) -> None:
    sent = sent_by(composer)
    QTest.keyClicks(composer.field, "Hello")
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == ["Hello"]
    assert composer.text() == ""


def test_shift_enter_breaks_the_line(composer: Composer) -> None:
    sent = sent_by(composer)
    QTest.keyClicks(composer.field, "a")
    QTest.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.field, "b")
    assert not sent
    QTest.keyClick(composer.field, Qt.Key.Key_Enter)
    assert sent == ["a\nb"]


def test_h12_nothing_is_sent_while_an_input_method_composes(composer: Composer) -> None:
    sent = sent_by(composer)
    compose(composer, "にほん")
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert not sent
    assert composer.text() == ""
    assert composer.field.is_composing
    compose(composer, "", "日本")
    assert composer.text() == "日本"
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert sent == ["日本"]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_is_sent_when_there_is_nothing(composer: Composer, text: str) -> None:
    sent = sent_by(composer)
    composer.put(text)
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert not sent


def test_h15_no_break_spaces_are_kept(composer: Composer) -> None:
    composer.put("10\u00a0000\u202f€")
    assert composer.text() == "10\u00a0000\u202f€"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\ud83e b", "a\ufffd b"),
        ("\ud83d\ude42", "🙂"),
        ("\udc9f", "\ufffd"),
        ("x\0y", "x\ufffdy"),
        ("one\u2029two\u2028three", "one\ntwo\nthree"),
        ("🙂 stays", "🙂 stays"),
    ],
)
def test_c16_surrogates_are_joined_or_replaced(raw: str, clean: str) -> None:
    assert cleaned(raw) == clean
    clean.encode()


def test_the_field_grows_with_its_text_up_to_a_limit(composer: Composer) -> None:
    heights = []
    for lines in (1, 3, MOST_LINES, 40):
        composer.put("\n".join(["line"] * lines))
        heights.append(composer.field.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]
    composer.put("")
    assert composer.field.height() == heights[0]


def test_the_button_is_send_then_stop_then_stopping(composer: Composer) -> None:
    stops: list[bool] = []
    composer.stop_wanted.connect(lambda: stops.append(True))
    assert (composer.button.text(), composer.button.isEnabled()) == ("Send", False)
    composer.put("x")
    assert composer.button.isEnabled()
    composer.show_readiness(Readiness.WRITING)
    assert composer.button.text() == "Stop"
    composer.button.click()
    assert stops == [True]
    sent = sent_by(composer)
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert not sent
    composer.show_readiness(Readiness.STOPPING)
    assert (composer.button.text(), composer.button.isEnabled()) == ("Stopping", False)
