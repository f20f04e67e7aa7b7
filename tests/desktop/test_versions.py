"""Versions of questions and replies, going on and branching off, as a person does it in the window."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from desktop.settings.chat_settings import ChatSettings
from desktop.settings.preferences import Preferences
from inference.settings import Sampling
from tests.desktop.steps import edit, ended, follow, places, questions, reopened, replies
from tests.fake_session import POEM, Script

if TYPE_CHECKING:
    from tests.desktop.stage import MakeStage, Stage


def test_h23_versions_stay_right_through_edits_regeneration_and_a_restart(stage: MakeStage) -> None:
    one = stage(replies("A1", "A2", "A3", "B1", "C1", "C2", "C3", "D1")).ready().ask("a")
    one.window.again()
    ended(one)
    one.window.again()
    ended(one)
    one.ask("b")
    assert questions(one) == [("a", "A3"), ("b", "B1")]
    assert places(one) == [((0, 1), (2, 3)), ((0, 1), (0, 1))]
    edit(one, 0, "a otherwise")
    assert questions(one) == [("a otherwise", "C1")]
    assert places(one) == [((1, 2), (0, 1))]
    assert [m.content for m in one.session.requests[-1].messages] == ["a otherwise"]
    follow(one, f"question/{one.reply.turn}/-1")
    assert questions(one) == [("a", "A3"), ("b", "B1")]
    assert "You\u00a0" not in one.page
    assert "1/2" in one.page
    assert "3/3" in one.page
    for text in ("third", "fourth", "fifth"):
        follow(one, f"edit/{one.conversation.turns[0].reply.turn}")
        assert one.window.composer.text() == one.conversation.turns[0].question
        one.window.composer.put(text)
        one.window.composer.submit()
        ended(one)
    assert places(one)[0][0] == (4, 5)
    assert [m.content for m in one.session.requests[-1].messages] == ["fifth"]
    other = reopened(one, stage)
    assert questions(other) == [("fifth", "D1")]
    assert places(other)[0][0] == (4, 5)
    for _ in range(4):
        other.window.versions.step(-1)
    assert questions(other) == [("a", "A3"), ("b", "B1")]
    follow(other, f"reply/{other.conversation.turns[0].reply.turn}/-1")
    assert questions(other) == [("a", "A2")]
    third = reopened(other, stage)
    assert questions(third) == [("a", "A2")]
    assert len(third.conversation.nodes()) == 5 + 3 + 1 + 1 + 4


def test_alt_left_and_right_step_through_the_versions_in_view(stage: MakeStage) -> None:
    one = stage(replies("One.", "Two.")).ready().ask("Go")
    one.window.again()
    ended(one)
    alt = Qt.KeyboardModifier.AltModifier
    for key, text in ((Qt.Key.Key_Left, "One."), (Qt.Key.Key_Left, "One."), (Qt.Key.Key_Right, "Two.")):
        QTest.keyClick(one.window.composer.field, key, alt)
        assert one.reply.text == text
        assert text in one.page


def test_b11_again_says_when_the_reply_will_be_the_same(stage: MakeStage) -> None:
    one = stage().ready().ask()
    one.window.again()
    ended(one)
    assert one.window.notice.isHidden()
    assert one.session.requests[-1].sampling.seed is None
    one.window.preferring.keep(Preferences(usual=ChatSettings(Sampling(temperature=0))))
    one.window.again()
    ended(one)
    assert one.window.notice.words.text() == "At temperature 0 the same reply comes again; raise it in the settings."
    one.window.preferring.keep(Preferences(usual=ChatSettings(Sampling(seed=7))))
    one.window.again()
    ended(one)
    assert "With a fixed seed" in one.window.notice.words.text()


def test_a_stopped_reply_goes_on_where_it_ended(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(replies=(POEM, " And on it went."), permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    one.window.stop()
    ended(one)
    before = one.reply.text
    assert before
    assert "Continue" in one.page
    permits.release(1000)
    follow(one, f"continue/{one.reply.turn}")
    ended(one)
    assert one.reply.text == before + " And on it went."
    roles = [(m.role, m.content) for m in one.session.requests[-1].messages]
    assert roles == [("user", "Go"), ("assistant", before)]
    assert places(one) == [((0, 1), (0, 1))]
    assert "Continue" not in one.page
    assert " ".join((before + " And on it went.").split()) in " ".join(one.page.split())
    other = reopened(one, stage)
    assert other.reply.text == before + " And on it went."
    assert len(other.reply.earlier) == 1


def test_a_branch_is_a_chat_of_its_own(stage: MakeStage) -> None:
    one = stage(replies("A", "B", "C")).ready().ask("a").ask("b")
    first = one.conversation.id
    follow(one, f"branch/{one.conversation.turns[0].reply.turn}")
    assert one.conversation.id != first
    assert questions(one) == [("a", "A")]
    one.ask("c")
    assert questions(one) == [("a", "A"), ("c", "C")]
    one.window.show_chat(first, None)
    assert questions(one) == [("a", "A"), ("b", "B")]
    titles = [chat.title for chat in one.window.history.store.chats.values()]
    assert titles == ["a", "a"]


def test_a_branch_before_a_question_brings_the_question_along(stage: MakeStage) -> None:
    one = stage(replies("A", "B", "C")).ready().ask("a").ask("b")
    first = one.conversation.id
    follow(one, f"fork/{one.reply.turn}")
    assert one.conversation.id != first
    assert questions(one) == [("a", "A")]
    assert one.window.composer.text() == "b"
    one.window.composer.put("b otherwise")
    one.window.composer.submit()
    ended(one)
    assert questions(one) == [("a", "A"), ("b otherwise", "C")]
    one.window.show_chat(first, None)
    assert questions(one) == [("a", "A"), ("b", "B")]


def test_a_branch_before_the_first_question_is_an_empty_chat(stage: MakeStage) -> None:
    one = stage().ready().ask("a")
    first = one.conversation.id
    follow(one, f"fork/{one.reply.turn}")
    assert one.conversation.turns == []
    assert one.window.composer.text() == "a"
    assert list(one.window.history.store.chats) == [first]


def test_a_branch_does_not_take_the_place_of_what_was_being_written(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.composer.put("half a thought")
    one.window.new_chat()
    one.window.composer.put("")
    one.ask("a")
    one.window.new_chat()
    one.window.composer.put("half a thought")
    one.window.show_chat(next(iter(one.window.history.store.chats)), None)
    follow(one, f"fork/{one.reply.turn}")
    assert one.window.composer.text() == "half a thought\n\na"


def test_a_stopped_reply_goes_on_after_a_restart(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(replies=(POEM, " And on it went."), permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    one.window.stop()
    ended(one)
    before = one.reply.text
    other = reopened(one, stage)
    assert "Continue" in other.page
    other.session.script.permits = None
    other.session.script.replies = (" And on it went.",)
    follow(other, f"continue/{other.reply.turn}")
    ended(other)
    assert other.reply.text == before + " And on it went."
    asked = [(m.role, m.content) for m in other.session.requests[-1].messages]
    assert asked == [("user", "Go"), ("assistant", before)]


def links(one: Stage) -> list[str]:
    """Where the words on the page lead that can be pressed."""
    found: list[str] = []
    block = one.window.transcript.document().begin()
    while block.isValid():
        walk = block.begin()
        while not walk.atEnd():
            href = walk.fragment().charFormat().anchorHref()
            if href and href not in found:
                found.append(href)
            walk += 1
        block = block.next()
    return found


def press(one: Stage, what: str) -> None:
    """Press the first such word on the page."""
    one.window.transcript.anchorClicked.emit(QUrl(next(href for href in links(one) if f":{what}/" in href)))


def test_what_stands_at_a_question_works_after_its_reply_went_on_or_came_again(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(replies=(POEM, " On it went.", "Again."), permits=permits)).ready()
    one.window.ask("Go")
    one.wait(lambda: len(one.reply.rounds) == 2)
    one.window.stop()
    ended(one)
    one.session.script.permits = None
    press(one, "continue")
    ended(one)
    one.window.again()
    ended(one)
    first = one.conversation.id
    press(one, "fork")
    assert one.conversation.id != first
    assert one.window.composer.text() == "Go"


def test_continue_and_again_say_why_they_do_nothing(stage: MakeStage) -> None:
    one = stage().ready().ask("a")
    one.session.script.permits = threading.Semaphore(1)
    one.window.ask("b")
    one.wait(lambda: one.reply.rounds)
    one.window.again()
    assert one.window.notice.words.text() == "A reply is still being written; stop it first."
    one.window.stop()
    ended(one)
    one.window.chat.model, one.window.chat.is_loading = None, True
    press(one, "continue")
    assert one.window.notice.words.text() == "The model is not ready yet; try again when it is."
