"""H22: nothing that is seen is touched from the engine's thread, not even where something fails."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QLabel

import desktop
from inference.events import Notice
from tests.fake_session import FakeSession, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from inference.events import Event
    from inference.settings import Control, ModelChoice, Request
    from tests.desktop.stage import MakeStage

WINDOW = Path(desktop.__file__).parent
TROUBLE = Notice("error.memory", {"needed_gb": 9.1, "free_gb": 8.0})


class Watched(FakeSession):
    """Notes which files' code runs on the thread it plays on. It breaks in the reply to "Break"."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.files: set[str] = set()

    def load(self, choice: ModelChoice, cancel: threading.Event) -> Iterator[Event]:
        """From now on everything is noted."""
        sys.setprofile(self._note)
        yield from super().load(choice, cancel)

    def reply(self, request: Request, control: Control) -> Iterator[Event]:
        """As scripted, but for one question."""
        if request.messages[-1].content == "Break":
            raise RuntimeError("out of the blue")
        yield from super().reply(request, control)

    def _note(self, frame: Any, event: str, _argument: object) -> None:
        if event == "call":
            self.files.add(frame.f_code.co_filename)


def test_h22_nothing_that_is_seen_is_touched_from_the_engines_thread(
    stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    set_text = QLabel.setText

    def noted(label: QLabel, text: str) -> None:
        threads.add(threading.get_ident())
        set_text(label, text)

    monkeypatch.setattr(QLabel, "setText", noted)
    session = Watched(Script(load_failures=(TROUBLE,), fail_after_rounds=1))
    one = stage(session=session)
    one.wait(lambda: one.window.page.loading.retry.isVisible())
    one.window.page.loading.retry.click()
    one.ready().ask("Fail")
    assert one.reply.failure is not None
    session.script.fail_after_rounds = None
    one.ask("Break")
    assert "out of the blue" in one.page
    one.ask("Go on")
    session.script.permits = threading.Semaphore(1)
    one.window.ask("Stop")
    one.wait(lambda: one.reply.rounds)
    one.window.stop()
    one.wait(lambda: not one.conversation.is_writing)
    one.window.menu.choose("owner/other")
    one.ready()
    run = {Path(name) for name in session.files if Path(name).is_relative_to(WINDOW)}
    assert WINDOW / "worker.py" in run
    assert not [path.name for path in run if "QtWidgets" in path.read_text(encoding="utf-8")]
    assert threads == {threading.get_ident()}
