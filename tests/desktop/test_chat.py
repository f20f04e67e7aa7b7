"""Asking, answering, stopping, failing: the window and its worker with a scripted session."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from inference.events import GivenUp, Loaded, Notice, Piece, Round, Started
from inference.messages import ENGLISH
from inference.settings import Speculation
from tests.fake_session import LOADED, POEM, Script

if TYPE_CHECKING:
    import pytest

    from tests.desktop.stage import MakeStage, Stage


def ended_with(one: Stage) -> str:
    return one.reply.finished.reason.id if one.reply.finished else ""


def test_a_question_is_answered_and_figures_stand_under_it(stage: MakeStage) -> None:
    one = stage().ready().ask()
    assert one.reply.text == POEM
    assert "They carry salt and silver light, and sing softly through the night." in one.page
    assert "58 tok/s · first 0.2 s · 7" in one.page
    assert "% accepted · self-draft 3-bit · K 3" in one.page


def test_the_engine_runs_on_a_thread_of_its_own_after_the_window_appeared(stage: MakeStage) -> None:
    one = stage()
    assert not one.session.choices
    one.ready()
    assert threading.get_ident() not in one.session.threads


def test_the_second_question_carries_the_whole_chat_with_token_ids(stage: MakeStage) -> None:
    one = stage().ready().ask("First").ask("Second")
    roles = [(m.role, m.content) for m in one.session.requests[-1].messages]
    assert roles == [("user", "First"), ("assistant", POEM), ("user", "Second")]
    finished = one.conversation.turns[0].reply.finished
    assert finished is not None
    assert one.session.requests[-1].messages[1].token_ids == finished.token_ids


def test_text_arrives_while_the_reply_is_written(stage: MakeStage) -> None:
    permits = threading.Semaphore(3)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 3)
    one.wait(lambda: one.reply.text.strip() in one.page)
    assert one.window.composer.button.text() == "Stop"
    permits.release(1000)
    one.wait(lambda: not one.conversation.is_writing)


def test_stop_shows_at_once_and_no_text_follows(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    one.wait(lambda: one.reply.text.strip() in one.page)
    shown = one.page
    one.window.stop()
    assert one.window.composer.button.text() == "Stopping"
    assert not one.window.composer.button.isEnabled()
    late = Round(**{name: getattr(one.reply.rounds[-1], name) for name in Round.__slots__} | {
        "index": 2, "pieces": (Piece(" LATE", "accepted", 2),),
    })  # fmt: skip
    one.window.chat.on_event(late)
    assert not one.window.live.flush.is_waiting
    assert one.page == shown
    one.wait(lambda: not one.conversation.is_writing)
    assert "stopped · 58 tok/s" in one.page
    assert "LATE" not in one.page
    assert one.window.composer.button.text() == "Send"


def test_escape_stops(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(1))).ready()
    one.window.ask("Go")
    one.wait(lambda: one.reply.rounds)
    QTest.keyClick(one.window.composer.field, Qt.Key.Key_Escape)
    one.wait(lambda: not one.conversation.is_writing)
    assert ended_with(one) == "finish.cancelled"


def test_stop_during_prefill_leaves_a_chat_that_goes_on(stage: MakeStage) -> None:
    permits = threading.Semaphore(1)
    one = stage(Script(prefill_permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: one.reply.prefill)
    assert one.window.status_bar.state.text() == "reading 50 %"
    one.window.stop()
    one.wait(lambda: not one.conversation.is_writing)
    assert one.reply.text == ""
    permits.release(100)
    one.ask("And now")
    assert [m.content for m in one.session.requests[-1].messages] == ["And now"]
    assert one.reply.text == POEM


def test_a_failure_is_a_sentence_and_the_chat_goes_on(stage: MakeStage) -> None:
    one = stage(Script(fail_after_rounds=2)).ready().ask("First")
    assert "The memory is used up; choose a smaller context or a smaller model." in one.page
    one.session.script.fail_after_rounds = None
    one.ask("Second")
    assert one.reply.finished is not None
    assert one.session.requests[-1].messages[1].token_ids is None


def test_an_exception_in_the_engine_becomes_a_sentence(stage: MakeStage, monkeypatch: pytest.MonkeyPatch) -> None:
    one = stage().ready()
    boom = RuntimeError("boom\n<b>x</b>")
    monkeypatch.setattr(one.session, "reply", lambda request, control: (_ for _ in ()).throw(boom))
    one.ask("Go")
    assert "Something went wrong (boom <b>x</b>); the chat can go on." in one.page


def test_an_event_of_another_turn_is_dropped(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(1))).ready()
    one.window.ask("Go")
    one.wait(lambda: one.reply.rounds)
    number = one.reply.turn
    one.window.new_chat()
    one.window.chat.on_event(Started(number, 1, 0, 1))
    assert one.conversation.turns == []
    one.session.script.permits = None
    one.ask("Anew")
    assert one.reply.turn == number + 1
    assert one.reply.text == POEM
    assert one.page.count("You    ") == 1


def test_the_switch_changes_the_control_of_the_reply_being_written(stage: MakeStage) -> None:
    permits = threading.Semaphore(1)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 1)
    assert one.reply.rounds[0].k == 3
    one.window.header.switch.click()
    assert one.window.chat.control is not None
    assert one.window.chat.control.speculation == Speculation(on=False, k=3)
    permits.release(1)
    one.wait(lambda: len(one.reply.rounds) == 2)
    assert one.reply.rounds[1].origins == ("plain",)
    one.wait(lambda: one.window.page.status_line.text() == "Off: every word comes from a step of its own")
    permits.release(1000)
    one.wait(lambda: not one.conversation.is_writing)
    assert one.reply.text == POEM


def test_the_k_selector_is_limited_to_what_the_mode_allows(stage: MakeStage) -> None:
    loaded = Loaded(**{n: getattr(LOADED, n) for n in Loaded.__slots__} | {"largest_k": 2})
    one = stage(Script(loaded=loaded), Speculation(k=5)).ready()
    header = one.window.header
    assert [header.length.itemText(i) for i in range(header.length.count())] == ["K auto", "K 0", "K 1", "K 2"]
    assert header.speculation.k == 2
    header.length.setCurrentIndex(1)
    header.length.activated.emit(1)
    assert header.speculation.k == 0
    assert one.window.page.status_line.text() == "Off: K is set to 0"


def test_without_a_drafter_the_switch_rests_and_says_why(stage: MakeStage) -> None:
    loaded = Loaded(**{n: getattr(LOADED, n) for n in Loaded.__slots__} | {
        "drafter": "none", "drafters": ("none",), "no_drafter": Notice("drafter.recurrent"),
    })  # fmt: skip
    one = stage(Script(loaded=loaded)).ready()
    assert not one.window.header.switch.isEnabled()
    reason = "Off: this model keeps a running state that cannot be rolled back"
    assert one.window.header.switch.toolTip() == one.window.page.status_line.text() == reason


def test_again_replaces_the_last_reply(stage: MakeStage) -> None:
    one = stage(Script(replies=("One two three.", "Four five six."))).ready().ask("Go")
    one.window.transcript.again_requested.emit(one.reply.turn)
    one.wait(lambda: not one.conversation.is_writing)
    assert [turn.reply.text for turn in one.conversation.turns] == ["Four five six."]
    assert "One two three" not in one.page
    assert one.page.count("You    ") == one.page.count("Again") == 1
    assert [m.content for m in one.session.requests[-1].messages] == ["Go"]


def test_every_reply_offers_again_and_what_followed_stays_with_the_older_one(stage: MakeStage) -> None:
    one = stage(Script(replies=("A", "B", "C"))).ready().ask("First").ask("Second")
    assert one.page.count("Copy") == one.page.count("Again") == 2
    one.window.transcript.again_requested.emit(one.conversation.turns[0].reply.turn)
    one.wait(lambda: not one.conversation.is_writing)
    assert [(turn.question, turn.reply.text) for turn in one.conversation.turns] == [("First", "C")]
    assert "Second" not in one.page
    assert one.page.count("You    ") == 1
    one.window.versions.step(-1)
    assert [(turn.question, turn.reply.text) for turn in one.conversation.turns] == [("First", "A"), ("Second", "B")]


def test_copy_gives_what_the_model_wrote(stage: MakeStage) -> None:
    one = stage().ready().ask()
    one.window.transcript.copy_requested.emit(one.reply.turn)
    assert QGuiApplication.clipboard().text() == POEM


def test_loading_shows_words_and_a_bar_and_one_can_write_meanwhile(stage: MakeStage) -> None:
    permits = threading.Semaphore(1)
    one = stage(Script(load_permits=permits))
    loading = one.window.page.loading
    one.wait(lambda: loading.words.text() == "Reading starter")
    assert loading.isVisible()
    assert loading.bar.value() == 250
    QTest.keyClicks(one.window.composer.field, "Hello")
    QTest.keyClick(one.window.composer.field, Qt.Key.Key_Return)
    assert one.window.composer.text() == "Hello"
    assert not one.window.composer.button.isEnabled()
    assert "not ready" in one.window.composer.button.toolTip()
    permits.release(100)
    one.ready()
    assert not loading.isVisible()
    QTest.keyClick(one.window.composer.field, Qt.Key.Key_Return)
    one.wait(lambda: one.conversation.turns and not one.conversation.is_writing)
    assert one.conversation.turns[0].question == "Hello"


def test_a_failed_load_says_why_and_can_be_tried_again(stage: MakeStage) -> None:
    one = stage(Script(load_failures=(Notice("error.memory", {"needed_gb": 9.1, "free_gb": 8.0}),)))
    one.wait(lambda: one.window.page.loading.retry.isVisible())
    assert one.window.page.loading.words.text() == "The model needs about 9.1 GB of memory; 8.0 GB are free."
    assert one.window.status_bar.state.text() == "no model"
    one.window.page.loading.retry.click()
    one.ready()
    assert len(one.session.choices) == 2


def test_a_session_that_cannot_be_made_is_a_readable_page(stage: MakeStage) -> None:
    """I01: an import that fails must not take the window with it."""
    one = stage()
    one.worker._thread._make_session = lambda: (_ for _ in ()).throw(ImportError("libtorch.so: not found"))
    one.wait(lambda: one.window.page.loading.retry.isVisible())
    assert "libtorch.so: not found" in one.window.page.loading.words.text()


def test_another_model_ends_the_reply_and_stale_news_of_loading_are_dropped(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(1))).ready()
    one.window.ask("Go")
    one.wait(lambda: one.reply.rounds)
    one.window.menu.choose("owner/first@main")
    one.window.menu.choose(" owner/second ")
    one.window.menu.choose("  ")
    one.ready()
    assert ended_with(one) == "finish.cancelled"
    assert [c.model for c in one.session.choices] == ["starter", "owner/first@main", "owner/second"]


def test_a_suggestion_goes_into_the_composer(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.page.welcome.suggestions[0].click()
    assert one.window.composer.text() == "Write a short poem about the sea."
    one.window.composer.button.click()
    one.wait(lambda: one.conversation.turns and not one.conversation.is_writing)
    assert one.window.page.pages.currentWidget() is one.window.transcript


def test_the_status_bar_tells_device_threads_and_mode(stage: MakeStage) -> None:
    one = stage().ready()
    bar = one.window.status_bar
    assert bar.facts.text().startswith(" · CPU · 2 threads · ")
    assert bar.mode.text() == " · exact"
    assert bar.mode.toolTip() == "Exact: speculation changes no bit of the answer"
    first, parts, order = bar.facts.toolTip().split("\n")
    assert first == bar.facts.text()
    assert parts == "the model 0.33 GB, its low-bit copy 0.09 GB, the context 0.19 GB"
    assert order == ENGLISH["memory.order"]


def test_what_was_given_up_is_said_over_the_composer_and_the_model_is_shown_as_it_is(stage: MakeStage) -> None:
    one = stage().ready()
    model = one.window.chat.model
    assert model is not None
    less = replace(model, context=2048, drafters=("none",), taken={"target": 330_000_000, "cache": 50_000_000})
    one.window.chat.on_event(GivenUp(Notice("memory.less_context", {"context": 2048}), less))
    assert one.window.notice.words.text() == "Memory ran out: the context holds 2048 tokens from now on."
    assert one.window.chat.model == less
    assert "the context 0.05 GB" in one.window.status_bar.facts.toolTip()
    assert "low-bit copy 0" not in one.window.status_bar.facts.toolTip()
    one.window.chat.on_event(replace(less, given_up=(Notice("memory.no_graphs"), Notice("memory.no_twin"))))
    assert one.window.notice.words.text().endswith("is slower. Memory ran out: the low-bit copy was let go.")
