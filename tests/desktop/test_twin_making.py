"""The twin is made on the engine's thread while nothing else is wanted, and the window says how far it is."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from inference.events import DraftersChanged, Notice, TwinProgress
from inference.settings import ModelChoice
from tests.fake_session import LOADED, Script

if TYPE_CHECKING:
    from tests.desktop.stage import MakeStage

LATER = replace(
    LOADED, drafter="twin", drafters=("none", "ngram"), no_drafter=Notice("drafter.later"),
    refused={"twin": Notice("drafter.later")},
)  # fmt: skip


def steps(count: int, last: Notice | None = None) -> tuple[TwinProgress | DraftersChanged, ...]:
    values = [{"done": step, "total": count, "left": float(count - step)} for step in range(count)]
    made = [TwinProgress(Notice("load.twin", value), value["done"] / count) for value in values]
    if last is not None:
        return (
            *made,
            TwinProgress(last, 1.0),
            DraftersChanged(("none", "ngram"), {"twin": Notice("drafter.not_made")}),
        )
    return (*made, DraftersChanged(("none", "twin", "ngram"), {}))


def test_the_chat_goes_on_while_the_twin_is_made_and_takes_it_up(stage: MakeStage) -> None:
    permits = threading.Semaphore(2)
    one = stage(Script(loaded=LATER, twin_steps=steps(4), twin_permits=permits)).ready()
    one.window.chat.load(ModelChoice(twin_later=True))
    line = one.window.status_bar.twin
    one.wait(lambda: "1 of 4 layers, about 3 s left" in line.text())
    assert line.isVisible()
    assert one.window.chat.model is not None
    assert one.window.chat.model.no_drafter == Notice("drafter.later")
    one.window.ask("Between two layers")
    permits.release(1)
    one.wait(lambda: one.reply.finished is not None)
    permits.release(1000)
    one.wait(lambda: not line.isVisible())
    assert one.window.chat.model.no_drafter is None
    assert "twin" in one.window.chat.model.drafters


def test_another_model_ends_the_making(stage: MakeStage) -> None:
    permits = threading.Semaphore(1)
    one = stage(Script(loaded=LATER, twin_steps=steps(4), twin_permits=permits)).ready()
    one.window.chat.load(ModelChoice(twin_later=True))
    one.wait(lambda: one.window.status_bar.twin.isVisible())
    one.window.chat.load(ModelChoice(model="other"))
    one.wait(lambda: len(one.session.choices) == 3 and not one.window.chat.is_loading)
    assert not one.window.status_bar.twin.isVisible()


def test_why_there_is_no_twin_stays_on_screen(stage: MakeStage) -> None:
    disk = Notice("error.disk", {"folder": "/full", "needed_mb": 80.0, "free_mb": 3.0})
    one = stage(Script(loaded=LATER, twin_steps=steps(1, disk))).ready()
    one.window.chat.load(ModelChoice(twin_later=True))
    one.wait(lambda: "80 MB" in one.window.status_bar.twin.text())
    one.ask("And now?")
    assert one.window.status_bar.twin.isVisible()
