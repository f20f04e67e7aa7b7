"""The page Compare, played by a session of scripted events: what runs, what is shown, copied and saved."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from desktop.palette import DARK, LIGHT
from desktop.speculation.compare_card import Card
from desktop.speculation.compare_column import Column
from desktop.speculation.compare_plots import HEIGHT
from desktop.speculation.compare_result import Result
from inference.bench.comparison import Plan, RoundRecord, RunEnded, Setting, Side
from inference.bench.kinds import KINDS
from inference.bench.prompts import Prompt
from inference.bench.record import read
from inference.messages import Notice
from inference.settings import Message, Sampling
from tests.desktop.steps import follow
from tests.fake_session import LOADED, POEM, FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from desktop.speculation.compare import Compare
    from inference.bench.comparison import CompareEvent
    from inference.events import Event
    from inference.settings import Control, Request
    from tests.desktop.stage import MakeStage, Stage

QUESTION = "Write a short poem about the sea."


def page(one: Stage) -> Compare:
    return one.window.comparing.compare


def columns(one: Stage) -> list[Column]:
    return [part for part in page(one).columns.parts if isinstance(part, Column)]


def over(one: Stage) -> Compare:
    one.wait(lambda: not page(one).is_running)
    return page(one)


def both(one: Stage) -> Compare:
    """Ask, and press Run both under the reply."""
    one.ask(QUESTION)
    follow(one, f"both/{one.reply.turn}")
    return over(one)


def cells(shown: Compare) -> dict[str, list[str]]:
    table = shown.result.table
    texts = [[item.text() if (item := table.item(row, at)) else "" for at in range(table.columnCount())]
             for row in range(table.rowCount())]  # fmt: skip
    return {row[0]: row[1:] for row in texts}


def verdict(shown: Compare) -> str:
    return "\n".join(label.text() for label in shown.result.findChildren(QLabel) if label.text()[:1] in "✓≠⚠")


def test_run_both_under_a_reply_runs_its_question_off_and_on(stage: MakeStage) -> None:
    one = stage().ready()
    shown = both(one)
    assert [column.title.text() for column in columns(one)] == ["Off, exact", "Self-draft, K 3, exact"]
    assert [column.text.toPlainText() for column in columns(one)] == [POEM, POEM]
    assert verdict(shown) == "✓ Self-draft, K 3, exact: identical to “Off, exact” in 1 of 1"
    found = cells(shown)
    assert found["Identical text"] == ["–", "yes, 1 of 1"]
    assert found["Times as fast as “Off, exact”"] == ["–", "1.00x (1.00 – 1.00)"]
    assert {"Tokens a second", "First token after, s", "Tokens a round", "Verify, ms a round"} <= found.keys()
    requests = one.session.requests[1:]
    assert {request.messages[-1].content for request in requests} == {QUESTION}
    assert {request.sampling for request in requests} == {one.session.requests[0].sampling.__class__(seed=7)}
    assert shown.result.isVisible()
    assert one.reply.text == POEM, "the chat is as it was"


def test_a_later_reply_is_run_behind_the_messages_before_it(stage: MakeStage) -> None:
    one = stage().ready().ask("First?")
    one.ask("Second?")
    follow(one, f"both/{one.reply.turn}")
    over(one)
    counted = one.session.requests[-1].messages
    assert [message.content for message in counted] == ["First?", POEM, "Second?"]
    page(one).setup.prompt.setPlainText("Other?")
    page(one).setup.start()
    over(one)
    assert [message.content for message in one.session.requests[-1].messages] == ["Other?"]


@pytest.mark.parametrize(("identity", "are_known"), [("fake", True), ("other", False)])
def test_tokens_go_along_only_where_the_loaded_model_wrote_them(
    stage: MakeStage, identity: str, are_known: bool
) -> None:
    one = stage(Script(loaded=replace(LOADED, identity=identity))).ready().ask("First?")
    one.ask("Second?")
    follow(one, f"both/{one.reply.turn}")
    over(one)
    assert (one.session.requests[-1].messages[1].token_ids is not None) == are_known


def test_replies_stream_in_columns(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    one = stage(Script(permits=permits)).ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.show_settings((Setting("fast"), Setting("exact", on=True, k=2)))
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.start()
    one.wait(lambda: "Warming up: Off, fast" in shown.words.text())
    permits.release(1000)
    one.wait(lambda: "Run 1 of 6: Off, fast, prompt 1, repeat 1" in shown.words.text() or not shown.is_running)
    over(one)
    assert shown.words.text() == "Done."
    assert shown.bar.isHidden()


def test_it_waits_for_a_reply_of_the_chat_says_so_and_loses_nothing(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    one = stage(Script(permits=permits)).ready()
    one.window.ask(QUESTION)
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.start()
    assert shown.words.text() == "Waiting for the reply in the chat to end; the comparison comes then."
    assert one.conversation.is_writing
    permits.release(10_000)
    over(one)
    assert one.reply.text == POEM
    assert one.reply.finished is not None
    assert columns(one)[0].text.toPlainText() == POEM
    assert one.session.requests[0].messages[-1].content == QUESTION


class Noting(FakeSession):
    """Notes in which mode each reply is written, and lets a test ask in the middle of a comparison."""

    def __init__(self, script: Script | None = None) -> None:
        super().__init__(script)
        self.modes: list[tuple[int, str | None]] = []
        self.holds = threading.Event()
        self.goes_on = threading.Event()

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        self.modes.append((request.turn, self.mode))
        if len(self.modes) == 4:
            self.holds.set()
            self.goes_on.wait(10)
        yield from super().reply(request, control)


def test_a_question_asked_meanwhile_is_answered_between_two_runs_in_the_mode_of_the_chat(stage: MakeStage) -> None:
    session = Noting()
    one = stage(session=session).ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.show_settings((Setting("fast"), Setting("fast", on=True, k=2)))
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.start()
    one.wait(session.holds.is_set)
    one.window.ask(QUESTION)
    assert one.window.page.status_line.text() == "Waiting for a run of the comparison to end"
    session.goes_on.set()
    one.wait(lambda: one.reply.is_over)
    over(one)
    turns = [turn for turn, _ in session.modes]
    asked = next(at for at, turn in enumerate(turns) if turn > 0)
    assert 3 < asked < len(turns) - 1, "between two runs"
    assert session.modes[asked][1] == "exact"
    assert {mode for turn, mode in session.modes if turn < 0} == {"fast"}
    assert one.reply.text == POEM
    assert shown.result.comparison is not None
    assert len(shown.result.comparison.runs) == 6


def test_stop_keeps_what_was_measured(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    one = stage(Script(permits=permits)).ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.show_settings((Setting("fast"), Setting("fast", on=True, k=2)))
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.start()
    permits.release(28 + 28 + 28 + 28 + 3)
    one.wait(lambda: shown.bar.value() >= 2)
    assert shown.stop.isVisible()
    shown.stop.click()
    over(one)
    assert shown.words.text() == "Stopped; what was measured is kept."
    assert shown.result.comparison is not None
    assert len(shown.result.comparison.runs) >= 2
    assert "ended before its time" in shown.result.about.text()


def test_what_goes_wrong_is_said(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.start()
    assert shown.words.text() == "There is nothing to answer; write a message first."
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.show_settings((Setting("fast"), Setting("fast")))
    shown.setup.start()
    assert "The setting Off, fast is there twice" in shown.words.text()
    one.session.script.fail_after_rounds, one.session.script.failure = 1, Notice("error.out_of_memory")
    shown.setup.show_settings((Setting("fast"), Setting("exact")))
    shown.setup.start()
    over(one)
    assert shown.words.text().startswith("The memory is used up")
    assert shown.setup.isEnabled()


class Planted(FakeSession):
    """Writes another token where drafts are on."""

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        for event in super().reply(request, control):
            if hasattr(event, "token_ids") and control.speculation.on and request.turn < 0:
                ids = (*event.token_ids[:9], 999, *event.token_ids[10:])
                text = event.text.replace("realm", "whale")
                event = type(event)(event.turn, text, ids, event.pieces, event.reason, event.statistics)
            yield event


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (((2.0, 15.0), (2.0, 15.0)), "No near tie: something else than rounding chose this token."),
        (((15.25, 15.0), (15.0, 15.25)), "A near tie, but exact mode should leave none to chance."),
    ],
)
def test_a_planted_difference_is_shown_with_both_candidates_and_their_gap(
    stage: MakeStage, sides: tuple[tuple[float, float], tuple[float, float]], said: str
) -> None:
    mine, theirs = sides
    script = Script(sides=(Side(999, " whale", mine, mine), Side(9, " realm", theirs, theirs), 0.5))
    one = stage(session=Planted(script)).ready()
    shown = both(one)
    words = verdict(shown)
    assert "identical to “Off, exact” in 0 of 1 only" in words
    assert "First difference in prompt 1, token 10: “ whale” instead of “ realm”" in words
    assert f"logit gap {theirs[1] - theirs[0]:.3f}, in its own pass {mine[1] - mine[0]:.3f}" in words
    assert said in words
    assert cells(shown)["Identical text"] == ["–", "0 of 1; from token 10 on"]
    marked = columns(one)[1].text.extraSelections()
    assert marked[0].cursor.selectedText().startswith("whale")
    assert columns(one)[0].text.extraSelections() == []


def test_the_table_is_copied_as_markdown(stage: MakeStage) -> None:
    one = stage().ready()
    shown = both(one)
    shown.result.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "|  | Off, exact | Self-draft, K 3, exact |"
    assert lines[1] == "| --- | ---: | ---: |"
    assert any(line.startswith("| Tokens a second | ") for line in lines)
    assert any(line.startswith("- Self-draft, K 3, exact: identical") for line in lines)


def test_record_runs_and_picture_are_saved_and_a_record_opened(stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready()
    shown = both(one)
    for name in ("one.json", "one.csv", "one.png"):
        shown.result.save_to(str(tmp_path / name))
        assert shown.words.text() == f"Saved as {name}."
    saved = read((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert saved == shown.result.comparison
    assert len((tmp_path / "one.csv").read_text(encoding="utf-8").splitlines()) == 7
    assert QImage(str(tmp_path / "one.png")).width() > 300
    shown.result.save_to(str(tmp_path / "no" / "one.json"))
    assert shown.words.text().startswith("one.json cannot be written")

    other = stage().ready()
    other.window.comparing.show_compare()
    page(other).open_record(str(tmp_path / "one.json"))
    assert page(other).setup.plan() == saved.plan
    assert [column.text.toPlainText() for column in columns(other)] == [POEM, POEM]
    assert page(other).rounds.isHidden(), "its replies were not written by this model as loaded"
    (tmp_path / "bad.json").write_text(json.dumps({"kind": "bench"}), encoding="utf-8")
    page(other).open_record(str(tmp_path / "bad.json"))
    assert page(other).words.text().startswith("This file is no record of a comparison")
    page(other).open_record(str(tmp_path / "none.json"))
    assert page(other).words.text().startswith("none.json cannot be read")


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


def test_another_model_ends_the_comparison(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    one = stage(Script(permits=permits)).ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.prompt.setPlainText("Hello?")
    shown.setup.start()
    one.window.load(one.window.menu.choice)
    over(one)
    one.wait(lambda: one.window.chat.model is not None)
    assert shown.words.text() == "Stopped; what was measured is kept."
    assert shown.setup.run.isEnabled()


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


class Breaking(FakeSession):
    """Ends in an error that nobody foresaw when two runs are told."""

    def compare(self, plan: Plan, cancel: threading.Event) -> Iterator[CompareEvent]:
        ended = 0
        for event in super().compare(plan, cancel):
            yield event
            ended += isinstance(event, RunEnded)
            if ended == 2:
                raise RuntimeError("no room")


def test_what_was_measured_outlives_an_error_of_the_engine(stage: MakeStage) -> None:
    one = stage(session=Breaking()).ready()
    shown = both(one)
    assert "Something went wrong (no room)" in shown.words.text()
    assert shown.result.comparison is not None
    assert len(shown.result.comparison.runs) == 2
    assert "ended before its time" in shown.result.about.text()


def test_while_it_runs_the_prompt_shown_is_the_one_that_runs(stage: MakeStage) -> None:
    permits = threading.Semaphore(0)
    one = stage(Script(permits=permits)).ready()
    one.window.comparing.show_compare()
    shown = page(one)
    shown.setup.source.setCurrentIndex(shown.setup.source.findData("twelve"))
    shown.setup.start()
    assert not shown.prompts.isEnabled()
    shown.stop.click()
    over(one)
    assert shown.prompts.isEnabled()


def test_nothing_of_a_prompt_file_or_token_is_taken_for_markup(stage: MakeStage) -> None:
    script = Script(
        sides=(Side(999, "<b>x</b>", (2.0, 15.0), (2.0, 15.0)), Side(9, "<i>", (2.0, 15.0), (2.0, 15.0)), 0.5)
    )
    one = stage(session=Planted(script)).ready()
    shown = both(one)
    assert "“<b>x</b>” instead of “<i>”" in verdict(shown)
    labels = [*shown.result.findChildren(QLabel), shown.words, shown.setup.about]
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


def test_the_turn_of_a_difference_is_told_where_a_prompt_has_several(stage: MakeStage) -> None:
    one = stage(session=Planted(Script())).ready()
    shown = both(one)
    found = shown.result.comparison
    assert found is not None
    (first, *_) = found.differences
    turns = replace(found, plan=replace(found.plan, prompts=(Prompt("chat", (QUESTION, "And?")),)))
    shown.show_comparison(replace(turns, differences=(replace(first, step=1),)), is_own=True)
    assert "First difference in prompt 1, turn 2, token 10" in verdict(shown)


def test_a_disk_that_is_full_leaves_the_file_that_was_there(stage: MakeStage, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    one = stage().ready()
    shown = both(one)
    assert shown.result.comparison is not None
    large = {**shown.result.comparison.machine, "ballast": "x" * 1_000_000}
    shown.show_comparison(replace(shown.result.comparison, machine=large), is_own=True)
    file = tmp_path / "one.json"
    file.write_text("as it was", encoding="utf-8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    heeded = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
    try:
        shown.result.save_to(str(file))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, heeded)
    assert shown.words.text() == "one.json cannot be written: File too large."
    assert file.read_text(encoding="utf-8") == "as it was"
    assert list(tmp_path.glob("*one*")) == [file]
    shown.result.save_to(str(file))
    assert read(file.read_text(encoding="utf-8")) == shown.result.comparison


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
