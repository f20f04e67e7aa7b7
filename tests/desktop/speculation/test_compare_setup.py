"""What is to be compared: prompts from files and replies, records that are opened, cards and what they offer."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QFileDialog

from desktop.speculation.compare_card import Card
from inference.bench.comparison import Plan, Setting
from inference.bench.kinds import KINDS
from inference.bench.prompts import Prompt
from inference.settings import Message, Sampling
from tests.desktop.speculation.compare_for_tests import QUESTION, columns, over, page
from tests.desktop.steps import follow
from tests.fake_session import LOADED, POEM, Script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.desktop.stage import MakeStage


def test_twelve_kinds_and_a_file(stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    setup = page(one).setup
    setup.source.setCurrentIndex(setup.source.findData("twelve"))
    setup.source.activated.emit(setup.source.currentIndex())
    assert setup.prompt.isHidden()
    assert len({prompt.group for prompt in setup.plan().prompts}) == 12
    (tmp_path / "two.txt").write_text("Hello?\nWhy?\n", encoding="utf-8")
    setup.source.setCurrentIndex(setup.source.findData("file"))
    setup.take_file(str(tmp_path / "two.txt"))
    assert [prompt.turns for prompt in setup.plan().prompts] == [("Hello?",), ("Why?",)]
    assert setup.about.text() == "Prompts of two.txt: 2"
    setup.start()
    shown = over(one)
    assert shown.prompts.count() == 2
    shown.prompts.setCurrentIndex(1)
    shown.prompts.activated.emit(1)
    assert columns(one)[0].text.toPlainText() == POEM


def test_cards_offer_what_the_model_has_and_two_stay(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    setup = page(one).setup
    assert [setting.name for setting in setup.settings] == ["off fast", "off exact", "twin K 3 exact"]
    cards = [part for part in setup.cards.parts if isinstance(part, Card)]
    assert [cards[0].drafter.itemData(row) for row in range(cards[0].drafter.count())] == ["", "twin"]
    assert not cards[0].length.isEnabled()
    setup.add.click()
    assert len(setup.settings) == 4
    assert not setup.add.isEnabled()
    for _ in range(2):
        next(part for part in setup.cards.parts if isinstance(part, Card)).remove.click()
    assert len(setup.settings) == 2
    assert all(card.remove.isHidden() for card in setup.cards.parts if isinstance(card, Card))


def broken(kind: str, folder: Path) -> Path:
    file = folder / f"{kind}.jsonl"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        with file.open("wb") as large:
            large.truncate(30_000_000)
    elif kind != "missing":
        file.write_bytes({"empty": b"\n \n", "binary": bytes(range(256)), "form": b'{"turns": 3}'}[kind])
    return file


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "No such file or directory"),
        ("empty", "it holds no prompt"),
        ("binary", "it is not UTF-8 text"),
        ("form", "line 1 is no JSON object"),
        ("folder", "it is no file"),
        ("large", "it is too large"),
        pytest.param("pipe", "it is no file", marks=pytest.mark.skipif(os.name == "nt", reason="no such pipes")),
    ],
)
def test_a_file_without_prompts_says_so_and_those_taken_before_stay(
    stage: MakeStage, tmp_path: Path, kind: str, said: str
) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    shown = page(one)
    (tmp_path / "one.txt").write_text("Hello?\n", encoding="utf-8")
    shown.setup.take_file(str(tmp_path / "one.txt"))
    shown.setup.take_file(str(broken(kind, tmp_path)))
    assert said in shown.words.text()
    assert shown.setup.about.text() == "Prompts of one.txt: 1"
    assert [prompt.turns for prompt in shown.setup.plan().prompts] == [("Hello?",)]


def test_of_a_long_file_it_is_said_how_many_prompts_are_taken(stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    (tmp_path / "long <b>.txt").write_text("Hello?\n" * 700, encoding="utf-8")
    page(one).setup.take_file(str(tmp_path / "long <b>.txt"))
    assert page(one).setup.about.text() == "Prompts of long <b>.txt: the first 500 of 700"
    assert len(page(one).setup.plan().prompts) == 500


def test_to_run_a_file_that_was_not_chosen_asks_for_it(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    setup = page(one).setup
    setup.source.setCurrentIndex(setup.source.findData("file"))
    setup.start()
    dialog = setup.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.close()
    assert not page(one).is_running


def test_what_came_with_a_reply_holds_until_another_question_is_typed(stage: MakeStage) -> None:
    one = stage().ready().ask("First?")
    one.ask("  Second?\n")
    sampling = Sampling(temperature=0.666, top_k=5, seed=9)
    before = (Message("user", "First?"), Message("assistant", POEM))
    one.window.comparing.show_compare()
    setup = page(one).setup
    setup.show_question("  Second?\n", before, sampling, 40)
    one.window.chat.drafters_changed.emit()
    assert setup.plan().prompts[0].turns == ("  Second?\n",)
    assert (setup.plan().sampling, setup.plan().before) == (sampling, before)
    setup.temperature.setValue(0.5)
    assert setup.plan().sampling == replace(sampling, temperature=0.5)
    setup.prompt.setPlainText("Third?")
    assert (setup.plan().sampling.top_k, setup.plan().before) == (0, ())


@pytest.mark.parametrize(
    "prompts",
    [
        (Prompt("prompt", ("Hello? ",)),),
        (Prompt("prompts", ("Hello?",)),),
        (Prompt("chat", ("Hello?", "And?")), Prompt("qa", ("Why?",))),
        KINDS,
    ],
    ids=["typed", "of a file", "turns", "kinds"],
)
def test_a_record_puts_everything_as_it_was_also_what_this_model_lacks(
    stage: MakeStage, prompts: tuple[Prompt, ...]
) -> None:
    settings = (
        Setting("fast"),
        Setting("exact", on=True, drafter="medusa", k=2),
        Setting("fast", on=True, k=2, rule="textbook", recipe="odd"),
    )
    sampling = Sampling(temperature=2.5, top_k=3, seed=2**63 - 1)
    plan = Plan(settings, prompts, sampling, 3, 7, (Message("user", "Hi"), Message("assistant", "Yes?")))
    one = stage(Script(loaded=replace(LOADED, mode="fast"), modes=("fast",))).ready()
    one.window.comparing.show_compare()
    setup = page(one).setup
    setup.show_plan(plan)
    assert setup.plan() == plan
    setup.start()
    over(one)
    assert page(one).words.text() == "This model cannot write in exact mode here; choose the other mode."


def test_a_drafter_that_cannot_be_had_is_named_with_the_reason(stage: MakeStage) -> None:
    none = replace(LOADED, drafter="none", drafters=("none",))
    one = stage(Script(loaded=none)).ready()
    one.ask(QUESTION)
    follow(one, f"both/{one.reply.turn}")
    shown = over(one)
    assert "self-draft" in shown.words.text()
    assert "twice" not in shown.words.text()


@pytest.mark.parametrize("width", [480, 560, 800, 1180])
def test_four_cards_fill_the_width(stage: MakeStage, width: int) -> None:
    one = stage(size=(width, 700)).ready()
    one.window.comparing.show_compare()
    setup = page(one).setup
    setup.show_settings((Setting("fast"), Setting("exact"), Setting("exact", on=True)))
    one.qtbot.wait(1)
    setup.add.click()
    one.qtbot.wait(1)
    right = max(card.geometry().right() for card in setup.cards.parts)
    assert right == setup.cards.width() - 1
