"""The turns of a chat without a window, and what is stored of a person's preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings

from desktop.conversation import Conversation
from desktop.reply import in_halves
from desktop.settings.chat_settings import ChatSettings
from desktop.settings.preferences import Preferences, read, write
from inference.events import Event, Failed, Finished, Notice, Piece, Prefill
from inference.settings import Control, Sampling, Speculation
from tests.fake_session import POEM, FakeSession, next_round, statistics_of

if TYPE_CHECKING:
    from pathlib import Path


def played(conversation: Conversation, text: str = POEM) -> list[Event]:
    session = FakeSession()
    session.script.replies = (text,)
    request = conversation.request(ChatSettings(max_new_tokens=100))
    return list(session.reply(request, Control(Speculation(k=3))))


def test_spans_cover_the_text_in_qts_units() -> None:
    chat = Conversation()
    chat.ask("q")
    for event in played(chat, "One 😀 two 👩‍🚀 three"):
        assert chat.record(event)
    reply = chat.turns[0].reply
    assert reply.text == "One 😀 two 👩‍🚀 three"
    assert [span.start for span in reply.spans] == [0, *[span.end for span in reply.spans]][:-1]
    assert reply.spans[-1].end == len(reply.wide) == len(reply.text.encode("utf-16-le")) // 2
    assert in_halves("plain é") == "plain é"


def test_the_final_text_wins_over_what_was_shown() -> None:
    chat = Conversation()
    reply = chat.ask("q").reply
    chat.record(next_round(reply.turn, [], ["One", " two STOP"], Control(Speculation(k=1))))
    end = Finished(reply.turn, "One", (1,), (), Notice("finish.stop"), statistics_of([]))
    assert chat.record(end)
    assert reply.text == reply.wide == "One"
    assert [(span.start, span.end) for span in reply.spans] == [(0, 3)]


def test_events_after_the_end_and_of_other_turns_are_dropped() -> None:
    chat = Conversation()
    number = chat.ask("q").reply.turn
    assert not chat.record(Prefill(number + 1, 1, 2))
    assert chat.record(Failed(number, Notice("error.busy")))
    assert not chat.record(Prefill(number, 1, 2))
    chat.again()
    assert not chat.record(Failed(number, Notice("error.busy")))
    assert chat.record(Failed(number + 1, Notice("error.busy")))
    chat.clear()
    assert chat.ask("anew").reply.turn == number + 2


def test_turns_without_a_reply_are_left_out_of_the_prompt() -> None:
    chat = Conversation()
    chat.ask("lost")
    chat.record(Failed(1, Notice("error.busy")))
    chat.ask("kept")
    for event in played(chat, "Yes."):
        chat.record(event)
    chat.ask("now")
    chat.turns[-1].reply.add([Piece("half", "plain", 0)])
    assert [m.content for m in chat.request().messages] == ["kept", "Yes.", "now"]


def settings_in(folder: Path) -> QSettings:
    return QSettings(str(folder / "s.ini"), QSettings.Format.IniFormat)


def test_preferences_come_back(tmp_path: Path) -> None:
    wanted = Preferences(130, ChatSettings(Sampling(temperature=0.0, top_p=0.5, seed=7), 99, ("\nHuman:",), "off"))
    settings = settings_in(tmp_path)
    write(settings, wanted)
    settings.sync()
    assert read(settings_in(tmp_path)) == wanted
    assert read(settings_in(tmp_path / "empty")) == Preferences()


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", "hot"), ("top_p", "7"), ("text_size", "9999"), ("seed", "x")]
)
def test_stored_nonsense_is_replaced(tmp_path: Path, name: str, value: str) -> None:
    settings = settings_in(tmp_path)
    settings.setValue(name, value)
    preferences = read(settings)
    assert preferences.usual == ChatSettings()
    assert 80 <= preferences.text_size <= 200
