"""H03: a reply is stored as it grows; the process may be killed at any moment."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop.history.history import History
from desktop.history.trees import nodes_of
from desktop.store import Store

if TYPE_CHECKING:
    from PySide6.QtCore import QCoreApplication

ROOT = Path(__file__).resolve().parents[3]
CHILD = [sys.executable, "-m", "tests.desktop.history.growing_child"]
MOST_LOST_SECONDS = 1.0


def killed_while_writing(folder: Path, number: int, after: float) -> tuple[float, list[tuple[float, int, int]]]:
    """When it was killed, and what was on screen before: (time, id of the reply, its length)."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    child = subprocess.Popen(
        [*CHILD, str(folder), str(number)], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    lines = [child.stdout.readline()]
    end = time.monotonic() + after
    while time.monotonic() < end:
        lines.append(child.stdout.readline())
    moment = time.monotonic()
    child.kill()
    lines += child.stdout.readlines()
    child.wait()
    child.stdout.close()
    shown = []
    for line in lines:
        if line.endswith("\n"):
            at, reply, length = line.split()
            shown.append((float(at), int(reply), int(length)))
    return moment, shown


def check(folder: Path, kills: list[tuple[float, list[tuple[float, int, int]]]]) -> float:
    """At most a second of each is lost, and the file is sound; the longest time that was lost."""
    store = Store(folder)
    assert store.trouble is None
    assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    stored = {one.id: one for chat in store.chats for one in store.messages(chat)}
    worst = 0.0
    for moment, shown in kills:
        record = stored[shown[-1][1]]
        assert record.state == "interrupted"
        on_screen = [at for at, _reply, length in shown if length <= len(record.text)]
        lost = moment - max(on_screen, default=shown[0][0])
        worst = max(worst, lost)
        assert lost <= MOST_LOST_SECONDS
    store.close()
    return worst


def test_h03_killed_in_the_middle_of_a_reply(qapp: QCoreApplication, tmp_path: Path) -> None:
    kills = [killed_while_writing(tmp_path, number, 1.3 - number / 3) for number in range(3)]
    check(tmp_path, kills)
    store = Store(tmp_path)
    history = History(store, iter(range(1, 99)).__next__)
    for chat in store.chats:
        conversation = history.open(chat)
        (turn,) = conversation.turns
        assert turn.reply.is_over
        assert turn.reply.is_interrupted
        assert turn.reply.can_go_on
        assert turn.reply.seed == 7
        conversation.ask("And then?")
        roles = [(one.role, bool(one.content)) for one in conversation.request().messages]
        assert roles == [("user", True), ("assistant", True), ("user", True)]
    store.close()


def test_h03_killed_before_the_first_word_leaves_nothing_for_the_template(
    qapp: QCoreApplication, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    history = History(store, iter(range(1, 99)).__next__)
    conversation = history.blank()
    conversation.ask("Question")
    history.keep(conversation)
    store.connection.close()  # as a kill does
    again = Store(tmp_path)
    history = History(again, iter(range(1, 99)).__next__)
    conversation = history.open(next(iter(again.chats)))
    assert [turn.question for turn in conversation.turns] == ["Question"]
    assert conversation.turns[0].reply.is_over
    conversation.ask("Next")
    assert [one.content for one in conversation.request().messages] == ["Next"]
    assert nodes_of([]) == []
    again.close()


@pytest.mark.slow
def test_h03_fifty_replies_killed(tmp_path: Path) -> None:
    dice = random.Random(1)
    kills = [killed_while_writing(tmp_path, number, dice.uniform(0.0, 1.6)) for number in range(50)]
    worst = check(tmp_path, kills)
    assert 0 < worst <= MOST_LOST_SECONDS
