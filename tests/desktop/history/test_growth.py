"""H03: a reply is stored as it grows; the process may be killed at any moment."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from desktop.history.history import History
from desktop.history.trees import nodes_of
from desktop.store import Store
from tests.desktop.history import growing_child

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QCoreApplication

PROCESSES = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
if sys.platform != "win32":
    PROCESSES.set_forkserver_preload([growing_child.__name__])  # imported once
MOST_LOST_ROUNDS = round(1.0 / growing_child.ROUND_SECONDS)
"""A round takes so long or longer, so these take a second or longer."""


def killed_while_writing(folder: Path, number: int, rounds: int) -> list[tuple[int, int]]:
    """What was on screen before a process was killed so many rounds behind the first words: (id, its length)."""
    ours, theirs = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=growing_child.write, args=(folder, number, theirs))
    child.start()
    theirs.close()
    shown = [ours.recv() for _ in range(1 + rounds)]
    child.kill()
    with contextlib.suppress(EOFError, OSError):  # the last one may be cut
        while True:
            shown.append(ours.recv())
    child.join()
    child.close()
    ours.close()
    return shown


def check(folder: Path, kills: list[list[tuple[int, int]]]) -> int:
    """At most a second's text of each is lost, and the file is sound; the most rounds that were lost."""
    store = Store(folder)
    assert store.trouble is None
    assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    stored = {one.id: one for chat in store.chats for one in store.messages(chat)}
    worst = 0
    for shown in kills:
        record = stored[shown[-1][0]]
        assert record.state == "interrupted"
        lost = sum(length > len(record.text) for _reply, length in shown)
        worst = max(worst, lost)
        assert lost <= MOST_LOST_ROUNDS
    store.close()
    return worst


def test_h03_killed_in_the_middle_of_a_reply(qapp: QCoreApplication, tmp_path: Path) -> None:
    kills = [killed_while_writing(tmp_path, number, 130 - 33 * number) for number in range(3)]
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
    moments = [[dice.randrange(160) for _ in range(10)] for _ in range(5)]

    def history(number: int) -> int:
        folder = tmp_path / str(number)
        return check(folder, [killed_while_writing(folder, *one) for one in enumerate(moments[number])])

    with ThreadPoolExecutor(len(moments)) as pool:
        worst = max(pool.map(history, range(len(moments))))
    assert 0 < worst <= MOST_LOST_ROUNDS
