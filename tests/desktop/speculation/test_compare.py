"""The page Compare, played by a session of scripted events: what runs, what is shown, copied and saved."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QLabel

from inference.bench.comparison import Plan, RunEnded, Setting, Side
from inference.bench.prompts import Prompt
from inference.bench.record import read
from inference.messages import Notice
from tests.desktop.speculation.compare_for_tests import QUESTION, both, cells, columns, over, page, verdict
from tests.desktop.steps import follow
from tests.fake_session import LOADED, POEM, FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.bench.comparison import CompareEvent
    from inference.events import Event
    from inference.settings import Control, Request
    from tests.desktop.stage import MakeStage


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


def test_nothing_of_a_prompt_file_or_token_is_taken_for_markup(stage: MakeStage) -> None:
    script = Script(
        sides=(Side(999, "<b>x</b>", (2.0, 15.0), (2.0, 15.0)), Side(9, "<i>", (2.0, 15.0), (2.0, 15.0)), 0.5)
    )
    one = stage(session=Planted(script)).ready()
    shown = both(one)
    assert "“<b>x</b>” instead of “<i>”" in verdict(shown)
    labels = [*shown.result.findChildren(QLabel), shown.words, shown.setup.about]
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}
