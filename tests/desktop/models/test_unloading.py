"""Letting the model go: at every moment, with what was written kept, and the way back to a model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from desktop.models.item import Item, State
from inference.events import LoadFailed, Notice
from inference.settings import ModelChoice
from tests.desktop.models.by_keys import CONTROL, focused, press
from tests.desktop.models.entries import entry
from tests.desktop.steps import follow
from tests.fake_session import FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inference.events import Event
    from tests.desktop.stage import MakeStage, Stage

NONE = "No model loaded"


class SecondFails(FakeSession):
    """Has the starter only, as the hub knows no other model."""

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        if choice.model == "starter":
            yield from super().load(choice, cancel)
        else:
            self.close()
            self.choices.append(choice)
            yield LoadFailed(Notice("error.not_installed", {"model": choice.model}))


def header(one: Stage) -> str:
    return one.window.header.model.toolTip().partition(" (")[0]


def freed(one: Stage) -> None:
    """The engine has let the model go."""
    with one.qtbot.waitSignal(one.worker.unloaded):
        one.window.shelf.unloading.unload()


def is_without_model(one: Stage) -> bool:
    window = one.window
    return (
        header(one) == NONE and window.status_bar.state.text() == "no model" and not window.menu.unload.isVisible()
        and not window.header.switch.isEnabled() and not window.status_bar.mode.isVisible()
        and window.composer.field.placeholderText() == "No model is loaded" and not window.page.loading.isVisible()
    )  # fmt: skip


def test_unloaded_while_nothing_is_written(stage: MakeStage) -> None:
    one = stage().ready().ask()
    text = one.reply.text
    freed(one)
    assert one.session.is_closed and is_without_model(one)
    assert one.reply.text == text and "The waves of the sea" in one.page
    assert one.window.notice.words.text() == "SmolLM2 135M is unloaded, and its memory is free."


def test_unloaded_while_a_reply_streams_keeps_its_text(stage: MakeStage) -> None:
    permits = threading.Semaphore(3)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Write")
    one.wait(lambda: len(one.reply.rounds) == 3)
    written = one.reply.text
    freed(one)
    one.wait(lambda: not one.conversation.is_writing)
    assert written and one.reply.text == written and one.reply.can_go_on
    assert is_without_model(one) and one.session.is_closed
    assert one.window.page.status_line.text() == "No model is loaded; choose one first."
    assert one.window.header.speed.text() == ""
    permits.release(500)
    one.window.menu.choose("starter")
    one.ready()
    one.window.go_on()
    one.wait(lambda: not one.conversation.is_writing)
    assert one.reply.text.startswith(written) and len(one.reply.text) > len(written)


def test_unloaded_while_a_prompt_is_read(stage: MakeStage) -> None:
    one = stage(Script(prefill_permits=threading.Semaphore(1))).ready()
    one.window.ask("Write")
    one.wait(lambda: one.reply.prefill is not None)
    freed(one)
    one.wait(lambda: not one.conversation.is_writing)
    assert is_without_model(one) and one.conversation.turns[0].question == "Write"


def test_unloaded_while_it_is_loaded(stage: MakeStage) -> None:
    one = stage(Script(load_permits=threading.Semaphore(1)))
    one.wait(lambda: one.window.page.loading.words.text() == "Reading starter")
    assert one.window.menu.unload.text() == "Stop loading" and header(one) == "Loading starter…"
    freed(one)
    assert is_without_model(one)
    assert one.window.notice.words.text() == "Loading starter was stopped."
    one.session.script.load_permits = None
    one.window.menu.choose("owner/other")
    one.ready()
    assert one.session.choices[-1].model == "owner/other" and header(one) == "SmolLM2 135M"


def test_unloaded_twice_and_loaded_again(stage: MakeStage) -> None:
    one = stage().ready()
    told: list[bool] = []
    one.worker.unloaded.connect(lambda: told.append(True))
    one.window.shelf.unloading.unload()
    one.window.shelf.unloading.unload()
    one.wait(lambda: told)
    assert is_without_model(one)
    one.window.menu.choose("starter")
    one.ready().ask()
    assert told == [True] and "waves of the sea" in one.page and header(one) == "SmolLM2 135M"
    assert one.window.header.switch.isEnabled()


def test_unloaded_and_loaded_at_once_says_nothing_of_the_first(stage: MakeStage) -> None:
    one = stage().ready()
    for _ in range(5):
        one.window.shelf.unloading.unload()
        one.window.menu.choose("starter")
    one.wait(lambda: len(one.session.choices) >= 6)
    one.ready()
    assert header(one) == "SmolLM2 135M" and one.window.chat.can_ask and not one.window.notice.isVisible()


def test_unloaded_by_the_keyboard_from_the_picker(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.activateWindow()
    menu = one.window.menu

    def choose() -> None:
        menu.setActiveAction(menu.unload)
        assert menu.unload.text() == "Unload SmolLM2 135M"
        QTest.keyClick(menu, Qt.Key.Key_Return)

    menu.aboutToShow.connect(lambda: QTimer.singleShot(0, choose))
    with one.qtbot.waitSignal(one.worker.unloaded):
        press(Qt.Key.Key_L, CONTROL)
    assert is_without_model(one)
    name = QAccessible.queryAccessibleInterface(one.window.header.model).text(QAccessible.Text.Name)
    assert name == "Model: No model loaded"


def test_sending_offers_to_load_it_again_and_sends(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.activateWindow()
    freed(one)
    composer, notice = one.window.composer, one.window.notice
    composer.setFocus()
    QTest.keyClicks(composer.field, "Of the sea")
    press(Qt.Key.Key_Return)
    assert notice.words.text() == "No model is loaded." and notice.button.text() == "Load SmolLM2 135M and send"
    assert one.conversation.turns == [] and composer.text() == "Of the sea" and focused() is notice.button
    press(Qt.Key.Key_Space)
    one.wait(lambda: one.conversation.turns and not one.conversation.is_writing)
    assert one.conversation.turns[0].question == "Of the sea" and composer.text() == ""
    assert one.session.choices[-1].model == "starter"


def test_a_message_changed_meanwhile_is_not_sent(stage: MakeStage) -> None:
    permits = threading.Semaphore(10)
    one = stage(Script(load_permits=permits)).ready()
    freed(one)
    while permits.acquire(blocking=False):
        pass
    one.window.composer.put("Of the")
    one.window.composer.submit()
    one.window.notice.button.click()
    one.window.composer.put("Of the sea")
    permits.release(10)
    one.ready()
    one.qtbot.wait(0)
    assert one.conversation.turns == [] and one.window.composer.text() == "Of the sea"


def test_what_was_wanted_is_not_done_in_another_chat(stage: MakeStage) -> None:
    permits = threading.Semaphore(10)
    one = stage(Script(load_permits=permits)).ready().ask()
    first = one.conversation.id
    one.window.new_chat()
    one.ask("Another")
    freed(one)
    while permits.acquire(blocking=False):
        pass
    one.window.again()
    assert one.window.notice.button.text() == "Load SmolLM2 135M"
    one.window.notice.button.click()
    one.window.show_chat(first, None)
    permits.release(10)
    one.ready()
    one.qtbot.wait(0)
    assert len(one.session.requests) == 2 and one.conversation.id == first


def test_again_offers_a_model_and_is_done_with_it(stage: MakeStage) -> None:
    one = stage().ready().ask()
    freed(one)
    follow(one, "again/1")
    assert one.window.notice.button.text() == "Load SmolLM2 135M"
    one.window.notice.button.click()
    one.wait(lambda: len(one.session.requests) == 2 and not one.conversation.is_writing)
    assert len(one.conversation.turns) == 1


def test_another_model_chosen_meanwhile_ends_the_offer(stage: MakeStage) -> None:
    one = stage().ready()
    freed(one)
    one.window.composer.put("Of the sea")
    one.window.composer.submit()
    assert one.window.notice.isVisible()
    one.window.menu.choose("owner/other")
    one.ready()
    one.qtbot.wait(0)
    assert not one.window.notice.isVisible() and one.conversation.turns == []


def test_after_a_failed_load_the_header_names_no_model(stage: MakeStage) -> None:
    one = stage(session=SecondFails()).ready()
    one.window.menu.choose("owner/gone")
    one.wait(lambda: one.window.page.loading.starter.isVisible())
    assert header(one) == NONE and one.window.status_bar.state.text() == "no model"
    assert not one.window.header.switch.isEnabled() and not one.window.menu.unload.isVisible()
    one.window.composer.put("Of the sea")
    one.window.composer.submit()
    assert one.window.notice.button.text() == "Load SmolLM2 135M and send"  # the one that worked
    one.window.notice.button.click()
    one.wait(lambda: one.conversation.turns and not one.conversation.is_writing)
    assert header(one) == "SmolLM2 135M" and one.session.choices[-1].model == "starter"


def test_a_load_that_fails_at_the_start_names_no_model(stage: MakeStage) -> None:
    one = stage(Script(load_failures=(Notice("error.memory", {"needed_gb": 9.1, "free_gb": 8.0}),)))
    one.wait(lambda: one.window.page.loading.retry.isVisible())
    assert header(one) == NONE


def test_unloaded_while_the_twin_is_made(stage: MakeStage) -> None:
    from inference.events import TwinProgress

    steps = tuple(TwinProgress(Notice("load.twin", {"done": n, "total": 9, "left": 3.0}), n / 9) for n in range(9))
    one = stage(Script(twin_steps=steps, twin_permits=threading.Semaphore(2)))
    one.window.load(ModelChoice(twin_later=True))
    one.wait(lambda: one.window.status_bar.twin.isVisible())
    one.session.script.twin_permits.release(100)  # it waits inside a step otherwise
    freed(one)
    assert is_without_model(one) and not one.window.status_bar.twin.isVisible()


def test_ten_switches_while_a_reply_streams(stage: MakeStage) -> None:
    permits = threading.Semaphore(3)
    one = stage(Script(permits=permits)).ready()
    one.window.ask("Write")
    one.wait(lambda: len(one.reply.rounds) == 3)
    written = one.reply.text
    for number in range(10):
        one.window.menu.choose(f"owner/model-{number}")
        if number % 3 == 0:
            one.window.shelf.unloading.unload()
    one.window.menu.choose("owner/last")
    one.wait(lambda: one.session.choices[-1].model == "owner/last")
    one.ready()
    assert one.reply.text == written and not one.conversation.is_writing and header(one) == "SmolLM2 135M"
    permits.release(500)
    one.ask("And now")
    assert "waves of the sea" in one.reply.text and len(one.session.requests) == 2


def test_unloaded_as_a_download_ends_both_are_told_and_nothing_else_is_hidden(stage: MakeStage) -> None:
    one = stage().ready()
    item = Item("owner/sea", "sea", state=State.DONE, model="owner/sea")
    one.window.shelf.unloading.unload()
    one.window.shelf.queue.arrived.emit(item)
    one.wait(lambda: one.session.is_closed)
    one.qtbot.wait(0)
    assert one.window.notice.words.text() == "sea is here."
    one.window.composer.put("Of the sea")
    one.window.composer.submit()
    one.window.shelf.queue.arrived.emit(item)
    assert (one.window.notice.words.text(), one.window.notice.button.text()) == ("sea is here.", "Load")
    one.window.menu.choose("starter")
    one.ready()
    assert one.window.notice.isVisible() and one.window.composer.text() == "Of the sea"
    one.window.notice.button.click()
    one.wait(lambda: one.session.choices[-1].model == "owner/sea")


def test_a_loaded_model_whose_files_are_gone_can_still_be_unloaded(stage: MakeStage) -> None:
    one = stage().ready()
    here = entry("SmolLM2", model="starter", source="starter")
    one.window.shelf._on_library({"models": [here], "folders": []})
    one.window.shelf._on_library({"models": [], "folders": []})
    assert header(one) == "SmolLM2 135M" and one.window.menu.unload.isVisible()
    one.ask("Still there")
    freed(one)
    assert is_without_model(one)


def test_closing_while_the_model_is_let_go(stage: MakeStage) -> None:
    one = stage(Script(permits=threading.Semaphore(2))).ready()
    one.window.ask("Write")
    one.wait(lambda: one.reply.rounds)
    one.window.shelf.unloading.unload()
    one.window.close()
    assert one.worker.has_ended(5_000) and one.session.is_closed


@pytest.mark.parametrize("width", [480, 1180])
def test_what_is_said_without_a_model_in_spanish(stage: MakeStage, spanish: None, width: int) -> None:
    one = stage(size=(width, 700))
    one.wait(lambda: one.window.chat.can_ask)
    freed(one)
    assert header(one) == "Ningún modelo cargado"
    one.window.composer.put("Del mar")
    one.window.composer.submit()
    notice = one.window.notice
    assert notice.button.text() == "Cargar SmolLM2 135M y enviar"
    one.wait(lambda: notice.button.width() >= notice.button.sizeHint().width())
    assert one.window.width() == width
