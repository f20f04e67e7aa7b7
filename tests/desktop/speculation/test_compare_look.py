"""How the page Compare looks and is reached: keyboard, narrow and wide, Spanish, colours, text that comes fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.palette import DARK, LIGHT
from desktop.speculation.compare_card import Card
from desktop.speculation.compare_column import Column
from desktop.speculation.compare_plots import HEIGHT
from desktop.speculation.compare_result import Result
from inference.bench.comparison import RoundRecord, Setting
from tests.desktop.speculation.compare_for_tests import QUESTION, both, cells, columns, over, page
from tests.desktop.steps import follow

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.desktop.stage import MakeStage


def test_by_keyboard_alone(stage: MakeStage) -> None:
    one = stage().ready()
    window = one.window
    window.activateWindow()
    window.composer.setFocus()
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window.composer.field, Qt.Key.Key_C, held)
    shown = page(one)
    assert QApplication.focusWidget() is shown.setup.source
    QTest.keyClick(shown.setup.source, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is shown.setup.prompt
    QTest.keyClicks(shown.setup.prompt, "Hello?")
    reached = []
    for _ in range(60):
        here = QApplication.focusWidget()
        assert here is not None
        reached.append(here)
        if here is shown.setup.run:
            break
        QTest.keyClick(here, Qt.Key.Key_Tab)
    cards = [part for part in shown.setup.cards.parts if isinstance(part, Card)]
    for card in cards:
        assert {card.drafter, card.mode} <= set(reached)
    assert {shown.setup.add, shown.setup.repeats, shown.setup.tokens, shown.setup.temperature, shown.setup.seed} <= set(
        reached
    )
    QTest.keyClick(shown.setup.run, Qt.Key.Key_Space)
    over(one)
    assert QApplication.focusWidget() is shown.result.copy
    QTest.keyClick(shown.result.copy, Qt.Key.Key_Space)
    assert shown.words.text() == "The table is on the clipboard."
    QTest.keyClick(shown.result.copy, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    over(one)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert window.pages.is_chat
    assert QApplication.focusWidget() is window.composer.field


@pytest.mark.parametrize("size", [(480, 400), (760, 600), (1400, 900)])
def test_nothing_is_cut_off(stage: MakeStage, size: tuple[int, int]) -> None:
    one = stage(size=size).ready()
    one.window.apply_palette(DARK)
    shown = both(one)
    one.qtbot.wait(1)
    for part in (shown.setup.run, shown.setup.seed, shown.open, shown.result.save, shown.result.table, *columns(one)):
        right = part.mapTo(shown, part.rect().bottomRight()).x()
        assert right < shown.width(), part
        assert part.width() >= part.minimumSizeHint().width() or part is shown.result.table


def test_in_spanish(stage: MakeStage, spanish: None) -> None:
    one = stage()
    one.wait(lambda: one.window.status_bar.state.text() == "listo")
    one.ask(QUESTION)
    follow(one, f"both/{one.reply.turn}")
    shown = over(one)
    assert [column.title.text() for column in columns(one)] == ["Sin borrador, exacto", "Autoborrador, K 3, exacto"]
    assert shown.words.text() == "Hecho."
    assert "1,00x" in cells(shown)["Veces más rápido que «Sin borrador, exacto»"][1]


def test_a_picture_shows_the_whole_table_also_of_a_narrow_window(stage: MakeStage, tmp_path: Path) -> None:
    one = stage(size=(480, 400)).ready()
    shown = both(one)
    shown.setup.show_settings((Setting("fast"), Setting("exact"), Setting("exact", on=True, k=2)))
    shown.setup.start()
    over(one)
    table = shown.result.table
    assert table.horizontalHeader().length() > table.viewport().width(), "the table scrolls here"
    shown.result.save_to(str(tmp_path / "one.png"))
    image = QImage(str(tmp_path / "one.png"))
    assert image.width() >= table.horizontalHeader().length()
    assert image.height() > table.height() + 2 * HEIGHT
    assert len(shown.findChildren(Result)) <= 2


def test_who_reads_further_up_in_a_column_is_left_there(qtbot: QtBot) -> None:
    column = Column(Setting("fast"), LIGHT)
    qtbot.addWidget(column)
    column.resize(300, 300)
    column.show()
    column.begin()
    bar = column.text.verticalScrollBar()
    for _ in range(2):
        grow(qtbot, column, "line\n" * 100)
        assert bar.value() == bar.maximum() > 0
    bar.setValue(3)
    grow(qtbot, column, "line\n" * 100)
    assert bar.value() == 3


def grow(qtbot: QtBot, column: Column, text: str) -> None:
    before = column.text.toPlainText()
    column.grow(text, RoundRecord(0, 0, 0, 0, 1, 0.1, 0.0, 10.0))
    qtbot.waitUntil(lambda: column.text.toPlainText() == before + text)


def test_rounds_that_come_faster_than_they_can_be_shown_are_shown_together(qtbot: QtBot) -> None:
    column = Column(Setting("fast"), LIGHT)
    qtbot.addWidget(column)
    column.show()
    column.begin()
    changes = []
    column.text.textChanged.connect(lambda: changes.append(1))
    for at in range(1000):
        column.grow("x", RoundRecord(0, 0, 0, 0, 1, at / 1000, 0.0, 1.0))
    qtbot.waitUntil(lambda: column.text.toPlainText() == "x" * 1000)
    assert len(changes) == 1
    assert column.speed.text() == "1000 tokens, 1.0 s"
    column.grow("late", RoundRecord(0, 0, 0, 0, 1, 1.0, 0.0, 1.0))
    column.begin()
    grow(qtbot, column, "new")
    assert column.text.toPlainText() == "new"


def test_the_legend_can_be_read_behind_a_change_of_colours(stage: MakeStage) -> None:
    one = stage().ready()
    shown = both(one)
    legend = shown.result.plots.arrivals.plotItem.legend
    for palette in (DARK, LIGHT):
        one.window.apply_palette(palette)
        inks = {label.opts["color"].name().upper() for _, label in legend.items}
        assert inks == {palette.text.upper()}
        assert legend.brush().color().name().upper() == palette.surface.upper()


def test_axes_speak_spanish(stage: MakeStage, spanish: None) -> None:
    one = stage()
    one.wait(lambda: one.window.status_bar.state.text() == "listo")
    shown = both(one)
    axis = shown.result.plots.arrivals.getAxis("bottom")
    assert axis.tickStrings([0.5, 1.0], 1, 0.5) == ["0,5", "1,0"]
    shown.setup.show_settings((Setting("fast"), Setting("fast")))
    shown.setup.start()
    assert "«Sin borrador, rápido»" in shown.words.text() or "Sin borrador, rápido" in shown.words.text()
