"""One round step by step, and the figures of a reply, played by a session of scripted events."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.palette import DARK, LIGHT
from desktop.speculation.lab_draft import DraftView
from desktop.speculation.reply_record import ReplyRecord, rows_of
from inference.explained import ROOT, Explained, Place
from inference.settings import Sampling
from tests.desktop.steps import follow
from tests.fake_comparing import EXPLAINED, candidates
from tests.fake_session import FakeSession, Script

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.speculation.lab import Lab
    from tests.desktop.stage import MakeStage, Stage


def opened(stage: MakeStage, explained: Explained | None = EXPLAINED) -> tuple[Stage, Lab]:
    one = stage(Script(explained=explained)).ready().ask()
    one.window.toggle_panel()
    one.window.panel.strip.chosen.emit(2)
    lab = one.window.comparing.lab
    one.wait(lambda: lab.why.text() and "run again" not in lab.why.text())
    return one, lab


def test_a_round_that_is_pressed_is_laid_open(stage: MakeStage) -> None:
    one, lab = opened(stage)
    assert one.window.pages.currentWidget() is lab
    assert lab.place.text() == "Round 3 of 9"
    assert lab.about.text() == "self-draft · K 3 · exact · temperature 0.70 · written by the coupled rule"
    assert lab.why.text() == "The draft: “ sea”, “,”, “ so”. Now the target checks all of it in one pass."
    assert lab.target.item(0, 0).text() == " sea"
    assert lab.target.item(0, 1).text() == "62.0 %"
    assert lab.target.item(0, 4).text() == "drafted"
    assert lab.drafter.item(1, 0).text() == " shore"


def test_steps_go_on_and_back_and_tell_why(stage: MakeStage) -> None:
    _, lab = opened(stage)
    lab.next_step.click()
    assert lab.why.text().startswith("With the noise of this place “ sea” (62.0 %) has the target's highest score")
    lab.next_step.click()
    lab.next_step.click()
    assert "the draft said “ so”: corrected" in lab.why.text()
    assert lab.why.text().endswith("The round wrote 3 tokens.")
    assert not lab.next_step.isEnabled()
    assert lab.count.text() == "Step 3 of 3"
    lab.back_step.click()
    assert lab.count.text() == "Step 2 of 3"
    assert lab.next_step.isEnabled()


def test_the_other_rule_decides_on_the_same_draft(stage: MakeStage) -> None:
    _, lab = opened(stage)
    lab.rule.setCurrentIndex(lab.rule.findData("textbook"))
    lab.rule.activated.emit(lab.rule.currentIndex())
    lab.next_step.click()
    assert "accepted with a chance of 100.0 %. The coin fell at 41.0 %: accepted." in lab.why.text()
    lab.next_step.click()
    assert "refused, and what the target has beyond the drafter gives “ are”" in lab.why.text()
    assert not lab.next_step.isEnabled()


def test_by_keyboard_alone(stage: MakeStage) -> None:
    one = stage(Script(explained=EXPLAINED)).ready().ask()
    window = one.window
    window.activateWindow()
    window.toggle_panel()
    strip = window.panel.strip
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_Left)
    QTest.keyClick(strip, Qt.Key.Key_Left)
    QTest.keyClick(strip, Qt.Key.Key_Return)
    lab = window.comparing.lab
    one.wait(lambda: QApplication.focusWidget() is lab.draft)
    assert lab.place.text() == "Round 9 of 9"
    QTest.keyClick(lab.draft, Qt.Key.Key_Right)
    QTest.keyClick(lab.draft, Qt.Key.Key_Right)
    assert lab.count.text() == "Step 2 of 3"
    QTest.keyClick(lab.draft, Qt.Key.Key_Left)
    assert lab.count.text() == "Step 1 of 3"
    QTest.keyClick(lab.draft, Qt.Key.Key_Escape)
    assert window.pages.is_chat
    assert QApplication.focusWidget() is strip


def test_other_rounds_of_the_reply(stage: MakeStage) -> None:
    one, lab = opened(stage)
    lab.after.click()
    one.wait(lambda: lab.place.text() == "Round 4 of 9")
    lab.before.click()
    lab.before.click()
    one.wait(lambda: lab.place.text() == "Round 2 of 9")


def test_a_round_that_is_gone_says_so(stage: MakeStage) -> None:
    _, lab = opened(stage, None)
    assert lab.why.text().startswith("This round can no longer be laid open")
    assert not lab.next_step.isEnabled()
    assert lab.sides.isHidden()


def test_an_answer_that_is_no_longer_asked_for_is_dropped(stage: MakeStage) -> None:
    one, lab = opened(stage)
    lab.take(replace(EXPLAINED, turn=99, round=1))
    assert lab.place.text() == "Round 3 of 9"
    assert one.window.comparing.lab is lab


def test_it_waits_for_a_reply_being_written(stage: MakeStage) -> None:
    permits = threading.Semaphore(10_000)
    one = stage(Script(explained=EXPLAINED, permits=permits)).ready().ask()
    one.session.script.permits = threading.Semaphore(0)
    one.window.ask("More?")
    one.window.comparing.show_round(1, 0)
    lab = one.window.comparing.lab
    assert lab.why.text() == "Waiting for the engine to be free"
    one.session.script.permits.release(1000)
    one.wait(lambda: lab.place.text() == "Round 1 of 9")


def test_rounds_of_a_comparison_are_laid_open_and_lead_back_to_it(stage: MakeStage) -> None:
    one = stage(Script(explained=EXPLAINED)).ready().ask()
    follow(one, f"both/{one.reply.turn}")
    compare = one.window.comparing.compare
    one.wait(lambda: not compare.is_running)
    compare.rounds.click()
    one.wait(lambda: one.window.comparing.lab.place.text() == "Round 1 of 9")
    one.window.comparing.go_back()
    assert one.window.pages.currentWidget() is compare
    one.window.comparing.go_back()
    assert one.window.pages.is_chat


def colours(view: DraftView) -> set[str]:
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {QColor(image.pixel(x, y)).name().upper() for x in range(image.width()) for y in range(image.height())}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_draft_is_coloured_as_the_walk_goes(qtbot: QtBot, palette: object) -> None:
    view = DraftView(palette)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    walk = EXPLAINED.walks["coupled"]
    view.show_round(EXPLAINED, walk, 0)
    assert palette.accepted not in colours(view)  # type: ignore[attr-defined]
    view.show_round(EXPLAINED, walk, 3)
    found = colours(view)
    assert {palette.accepted, palette.correction} <= found  # type: ignore[attr-defined]


def test_a_tree_is_laid_out_without_boxes_on_each_other(qtbot: QtBot) -> None:
    shape = ((ROOT, ROOT), (0, ROOT), (1, ROOT), (2, 0), (3, 0), (4, 1))
    depths = {ROOT: 0, 0: 1, 1: 1, 2: 2, 3: 2, 4: 2}
    places = tuple(
        Place(node, parent, depths[node], node + 9, f" token{node}", candidates((" a", 0.5)), ())
        for node, parent in shape
    )
    view = DraftView(LIGHT)
    qtbot.addWidget(view)
    view.show_round(replace(EXPLAINED, places=places), EXPLAINED.walks["textbook"], 1)
    boxes = [*view._boxes.values(), view._own]
    assert len(boxes) == 7
    for at, box in enumerate(boxes):
        assert box.right() <= view.width()
        assert box.bottom() <= view.height()
        assert not any(box.intersects(other) for other in boxes[at + 1 :])


def test_the_quiet_line_leads_to_all_figures_which_can_be_copied(stage: MakeStage) -> None:
    one = stage().ready().ask()
    follow(one, f"figures/{one.reply.turn}")
    record = one.window.findChild(ReplyRecord)
    assert record is not None
    record.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "|  | Value |"
    for line in (
        "| Tokens a second | 58.0 |",
        "| Accepted tokens | 18 of 24 tested, 30 drafted |",
        "| Seed | 7, drawn |",
        "| Drafter | self-draft |",
        "| Identity | fake |",
    ):
        assert line in lines, "\n".join(lines)
    assert record.said.text() == "The figures are on the clipboard."


def test_the_figures_speak_spanish(stage: MakeStage, spanish: None) -> None:
    one = stage()
    one.wait(lambda: one.window.status_bar.state.text() == "listo")
    one.ask("Hola")
    one.reply.manner = replace(one.reply.manner, sampling=Sampling(temperature=0.75, logit_bias=(("a", 1.5),)))
    rows = {row.name: row.cells[0] for row in rows_of(one.reply)}
    assert rows["Modo"] == "exacto"
    assert rows["Regla"] == "acoplada"
    assert rows["Temperatura"] == "0,75"
    assert rows["Tokens por segundo"] == "58,0"
    assert rows["Probabilidades cambiadas"] == "'a': +1,5"


def test_the_figures_lead_to_both_and_to_the_rounds(stage: MakeStage) -> None:
    one = stage(Script(explained=EXPLAINED)).ready().ask()
    follow(one, f"figures/{one.reply.turn}")
    record = one.window.findChild(ReplyRecord)
    assert record is not None
    record.rounds.click()
    one.wait(lambda: one.window.comparing.lab.place.text() == "Round 1 of 9")
    one.window.comparing.go_back()
    follow(one, f"figures/{one.reply.turn}")
    one.window.findChildren(ReplyRecord)[-1].both.click()
    one.wait(lambda: not one.window.comparing.compare.is_running)
    assert one.window.pages.currentWidget() is one.window.comparing.compare


@pytest.mark.parametrize("size", [(480, 400), (1180, 780)])
def test_nothing_is_cut_off(stage: MakeStage, size: tuple[int, int]) -> None:
    one = stage(Script(explained=EXPLAINED), size=size).ready().ask()
    one.window.comparing.show_round(one.reply.turn, 1)
    lab = one.window.comparing.lab
    one.wait(lambda: lab.place.text() == "Round 2 of 9")
    one.qtbot.wait(1)
    for part in (lab.after, lab.rule, lab.play, lab.target, lab.drafter):
        assert part.mapTo(lab, part.rect().bottomRight()).x() < lab.width()
    lab.step(1)
    for table in (lab.target, lab.drafter):
        last = table.columnCount() - 1
        assert table.columnWidth(last) >= table.sizeHintForColumn(last), "no word is cut; the table scrolls instead"


def test_where_no_noise_was_added_no_column_is_kept_for_it(stage: MakeStage) -> None:
    _, lab = opened(stage)
    assert not lab.target.isColumnHidden(2)
    greedy = tuple(replace(place, target=candidates((" a", 0.5))) for place in EXPLAINED.places)
    lab.take(replace(EXPLAINED, turn=1, round=2, places=greedy))
    assert lab.target.isColumnHidden(2)


def test_a_session_that_fails_while_explaining_is_told(stage: MakeStage) -> None:
    class Failing(FakeSession):
        def explain(self, turn: int, round: int) -> object:  # type: ignore[override]
            raise MemoryError("no room")

    one = stage(session=Failing()).ready().ask()
    one.window.comparing.show_round(one.reply.turn, 0)
    lab = one.window.comparing.lab
    one.wait(lambda: "Something went wrong (no room)" in lab.why.text())
    one.ask("Again?")
    assert one.reply.finished is not None
