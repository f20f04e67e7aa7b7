"""The rounds panel: the strip, what a pointed round shows and lights, the figures, the narrow window."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest

from desktop.palette import DARK, LIGHT
from desktop.speculation.strip import MOST, Strip
from inference.events import DraftersChanged, Notice
from inference.settings import Control, Speculation
from tests.fake_session import LOADED, POEM, Script, next_round, tokens_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from inference.events import Round
    from tests.desktop.stage import MakeStage


def rounds(count: int, k: int | None = 4) -> list[Round]:
    made: list[Round] = []
    for _ in range(count):
        made.append(next_round(1, made, tokens_of(POEM), Control(Speculation(k=k))))
    return made


@pytest.fixture
def strip(qtbot: QtBot) -> Strip:
    one = Strip(LIGHT)
    qtbot.addWidget(one)
    one.resize(264, 100)
    one.show()
    return one


def colours_in(strip: Strip, index: int) -> set[str]:
    image = strip.grab(strip.place_of(index).toRect()).toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {QColor(image.pixel(x, y)).name().upper() for x in range(image.width()) for y in range(image.height())}


def test_rounds_wrap_and_none_is_cut_off(strip: Strip) -> None:
    strip.add(rounds(50))
    for index in range(50):
        place = strip.place_of(index)
        assert place.left() >= 0
        assert place.right() <= strip.width()
        assert place.bottom() <= strip.height()
    height = strip.height()
    strip.resize(130, 100)
    assert strip.height() > height


def test_colours_tell_accepted_correction_bonus_and_plain(strip: Strip) -> None:
    strip.add([*rounds(4), *[r for r in rounds(5, k=0) if r.index == 4]])
    assert {LIGHT.accepted, LIGHT.correction} <= colours_in(strip, 0)
    assert {LIGHT.accepted, LIGHT.bonus} <= colours_in(strip, 2)
    nothing_kept = colours_in(strip, 3)
    assert LIGHT.correction in nothing_kept
    assert LIGHT.accepted not in nothing_kept
    assert not {LIGHT.accepted, LIGHT.correction, LIGHT.bonus} & colours_in(strip, 4)


def test_pointer_and_keys_find_rounds(strip: Strip) -> None:
    strip.add(rounds(20))
    seen: list[int] = []
    strip.pointed.connect(seen.append)
    for index in (0, 7, 19):
        QTest.mouseMove(strip, strip.place_of(index).center().toPoint())
    QTest.mouseMove(strip, QPoint(strip.width() - 1, strip.height() - 1))
    assert seen == [0, 7, 19, -1]
    strip.setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(strip, key)
    assert seen[4:] == [19, 18, 19]


def test_only_recent_rounds_are_kept_and_found(strip: Strip) -> None:
    every = rounds(2 * MOST + 300)
    for start in range(0, len(every), 100):
        strip.add(every[start : start + 100])
    assert len(strip.rounds) <= 2 * MOST
    last = every[-1].index
    assert strip.rounds[-1].index == last
    assert strip._index_at(QPointF(strip.place_of(last).center())) == last
    assert strip.place_of(0).isEmpty()


def test_the_figures_and_the_pointed_round(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.toggle_panel()
    one.ask()
    panel = one.window.panel
    last = one.reply.rounds[-1]
    assert panel.figures["rate"].text() == "58 tok/s"
    assert panel.figures["plain"].text() == "about 41 tok/s"
    assert panel.figures["draft"].text() == f"7.0 ms x {last.drafted}"
    assert panel.figures["verify"].text() == "17.0 ms"
    assert panel.figures["accepted"].text().endswith(" %")
    assert panel.status.text() == "On: K 3, 1.4x"
    second = one.reply.rounds[1]
    QTest.mouseMove(panel.strip, panel.strip.place_of(1).center().toPoint())
    assert panel.about.text() == "Round 2: K 3, 1 of 3 accepted.\nDraft 21.0 ms, verify 17.0 ms."
    lit = one.window.transcript.lit_text()
    assert lit.strip() == "".join(piece.text for piece in second.pieces).strip()
    QTest.mouseMove(panel.strip, QPoint(panel.strip.width() - 1, panel.strip.height() - 1))
    assert one.window.transcript.lit_text() == ""


def test_a_new_reply_starts_a_new_strip(stage: MakeStage) -> None:
    one = stage().ready().ask()
    count = len(one.window.panel.strip.rounds)
    assert count == len(one.reply.rounds)
    one.ask("More")
    assert len(one.window.panel.strip.rounds) == count
    one.window.new_chat()
    assert one.window.panel.strip.rounds == ()


def test_the_switch_colours_the_text(stage: MakeStage) -> None:
    one = stage().ready().ask()
    one.window.panel.colour.click()
    assert one.window.transcript._marks.is_coloured
    one.window.apply_palette(DARK)
    assert one.window.transcript._marks.is_coloured


def test_the_drafter_is_chosen_in_the_panel(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    loaded = replace(
        LOADED, drafters=("none", "twin", "ngram", "auto"),
        refused={"small-model": Notice("drafter.not_made"), "hybrid": Notice("drafter.no_partner")},
    )  # fmt: skip
    one = stage(Script(loaded=loaded, permits=permits)).ready()
    box = one.window.panel.drafter
    names = [box.itemData(row) for row in range(box.count())]
    assert names == ["auto", "hybrid", "small-model", "ngram", "twin"]
    assert box.currentData() == "twin"
    usable = [bool(box.model().flags(box.model().index(row, 0)) & Qt.ItemFlag.ItemIsEnabled) for row in range(5)]
    assert usable == [True, False, False, True, True]
    assert box.itemData(1, Qt.ItemDataRole.ToolTipRole).startswith("it joins repeats")
    one.window.ask("Go")
    permits.release(1)
    one.wait(lambda: one.reply.rounds)
    box.setCurrentIndex(names.index("ngram"))
    box.activated.emit(names.index("ngram"))
    control = one.window.chat.control
    assert control is not None
    assert control.speculation.drafter == "ngram", "the reply that is being written drafts otherwise"
    permits.release(1000)
    one.wait(lambda: not one.conversation.is_writing)
    assert box.currentData() == "ngram"


@pytest.mark.parametrize(("mode", "words"), [("exact", "chains only (exact)"), ("fast", "chains and trees")])
def test_the_panel_says_which_drafts_the_mode_allows(stage: MakeStage, mode: str, words: str) -> None:
    one = stage(Script(loaded=replace(LOADED, mode=mode))).ready().ask()
    assert one.window.panel.figures["shape"].text() == words


def test_other_chats_are_looked_in_only_when_asked_for(stage: MakeStage) -> None:
    one = stage().ready()
    assert not one.window.header.speculation.other_chats
    one.window.panel.others.click()
    assert one.window.header.speculation.other_chats
    assert "nothing of this is stored" in one.window.panel.others.toolTip()


def test_a_drafter_that_comes_later_can_be_chosen(stage: MakeStage) -> None:
    loaded = replace(LOADED, drafters=("none",), refused={"twin": Notice("drafter.not_made")})
    one = stage(Script(loaded=loaded)).ready()
    assert not one.window.header.switch.isEnabled()
    assert not one.window.panel.drafter.isEnabled()
    values = {"recipe": "affine4", "cost": 0.42, "accepted": 94.0, "speed": 1.5}
    recipes = (Notice("twin.chosen", values), Notice("twin.candidate", values | {"recipe": "nf3"}))
    one.window.chat.on_event(DraftersChanged(("none", "twin", "auto"), recipes=recipes))
    assert one.window.header.switch.isEnabled()
    box = one.window.panel.drafter
    assert box.currentData() == "twin"
    about = box.itemData(box.currentIndex(), Qt.ItemDataRole.ToolTipRole)
    assert "affine4: a drafted token costs 0.42 of a plain step, 94 %" in about and "about 1.50 times" in about
    assert about.endswith("nf3: 0.42, 94 %, 1.50 times")
    assert about in box.toolTip(), "how the copy was chosen"


def test_a_tree_is_drawn_by_its_levels_and_told_by_its_size(stage: MakeStage, strip: Strip) -> None:
    chain = rounds(1, k=3)[0]
    tree = replace(chain, drafted=40, k=3, accepted=2)
    deep = replace(chain, index=1, drafted=60, k=60, accepted=50)
    strip.add([tree, deep])
    levels = strip.place_of(0).width()
    strip.clear()
    strip.add([replace(chain, drafted=3, k=3), deep])
    assert strip.place_of(0).width() == levels
    assert strip.place_of(1).right() <= strip.width()
    one = stage().ready().ask()
    panel = one.window.panel
    panel.strip.clear()
    panel.strip.add([tree])
    panel._describe(0)
    assert panel.about.text().startswith("Round 1: K 3, a tree of 40, 2 accepted.")


@pytest.mark.parametrize("size", [(480, 400), (860, 700), (1280, 800)])
def test_the_panel_is_a_sheet_where_the_window_is_narrow(stage: MakeStage, size: tuple[int, int]) -> None:
    one = stage(size=size).ready().ask()
    window = one.window
    page = window.transcript.width()
    QTest.keyClick(window, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert window.panel.isVisible()
    assert window.header.rounds.isChecked()
    assert window.body.is_sheet == (size[0] < 900)
    assert window.transcript.width() == (page if window.body.is_sheet else page - window.panel.width())
    assert window.panel.geometry().right() < size[0]
    if window.body.is_sheet:
        QTest.keyClick(window, Qt.Key.Key_Escape)
        assert not window.panel.isVisible()


@pytest.mark.parametrize("language", ["en", "es"])
def test_h20_nothing_is_cut_off_in_a_small_window(
    stage: MakeStage, request: pytest.FixtureRequest, language: str
) -> None:
    if language == "es":
        request.getfixturevalue("spanish")
    one = stage(size=(480, 400))
    one.wait(lambda: one.window.chat.model)
    one.ask()
    assert (one.window.width(), one.window.height()) == (480, 400)
    header = one.window.header
    parts = [header.new_chat, header.model, header.switch, header.length, header.settings, header.rounds]
    rights = [part.geometry().right() for part in parts]
    assert rights == sorted(rights)
    assert rights[-1] < 480
    for part in parts:
        assert part.width() >= part.minimumSizeHint().width()
    composer = one.window.composer
    assert composer.button.mapTo(one.window, QPoint(composer.button.width(), 0)).x() <= 480
    assert one.window.transcript.height() > 100
