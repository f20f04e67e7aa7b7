"""A random user at the chat: asks, edits, regenerates, stops, goes on, branches, bins, undoes, searches, goes to hits,
exports and imports; the program is killed and started again. No message is ever lost."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from PySide6.QtCore import QCoreApplication, QObject, Signal

from desktop.chat import Chat
from desktop.exchange.reading import chats_in
from desktop.exchange.writing import exported, imported
from desktop.history.backup import restored, saved
from desktop.history.history import History
from desktop.history.opening import NAME
from desktop.plain_text import storable
from desktop.settings.chat_settings import ChatSettings
from desktop.store import Store
from inference.events import Failed, Finished, Notice, Started
from inference.settings import Control, Request, Speculation
from tests.fake_session import LOADED, next_round, statistics_of

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)
ANY = st.integers(0, 10_000)


class Desk(QObject):
    """Stands for the worker: what it tells is played by the machine."""

    happened = Signal(object)
    counted = Signal(object)
    unloaded = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.request: Request | None = None
        self.text = ""
        self.is_over = True

    def reply(self, request: Request, control: Control) -> None:
        """One after the other: one that was left ends before the next begins."""
        self.end("finish.cancelled")
        self.request, self.text, self.is_over = request, "", False

    def end(self, reason: str) -> None:
        if self.request is not None and not self.is_over:
            self.is_over = True
            self.happened.emit(Finished(self.request.turn, self.text, (1, 2), (), Notice(reason), statistics_of([])))

    def stop(self) -> None:
        pass


class Machine(RuleBasedStateMachine):
    """``expected`` holds the text of every message that was stored and not removed for ever."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.expected: dict[int, str] = {}
        self.chat_of: dict[int, int] = {}
        self.numbers = count(1)
        self.start()

    def start(self) -> None:
        self.store = Store(self.folder)
        assert self.store.trouble is None
        self.history = History(self.store, self.numbers.__next__)
        self.desk = Desk()
        self.chat = Chat(self.desk, self.history)  # type: ignore[arg-type]
        self.chat.on_event(LOADED)
        self.rounds: list[object] = []

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def note(self) -> None:
        """Everything of the open chat counts as stored."""
        conversation = self.chat.conversation
        if conversation.id in self.store.chats:
            for node in conversation.nodes():
                self.expected[node.id] = storable(node.text)
                self.chat_of[node.id] = conversation.id

    def write(self) -> None:
        self.chat.write(Speculation(k=1), ChatSettings())
        self.rounds = []
        self.note()

    def can_ask(self) -> bool:
        return self.chat.can_ask

    def has_turns(self) -> bool:
        return self.chat.can_ask and bool(self.chat.conversation.turns)

    @precondition(can_ask)
    @rule(words=WORDS)
    def ask(self, words: str) -> None:
        self.chat.ask(words)
        self.write()

    @precondition(has_turns)
    @rule(words=WORDS, which=ANY)
    def edit(self, words: str, which: int) -> None:
        turns = self.chat.conversation.turns
        self.chat.edit(turns[which % len(turns)], words)
        self.write()

    @precondition(has_turns)
    @rule(which=ANY)
    def again(self, which: int) -> None:
        turns = self.chat.conversation.turns
        self.chat.again(turns[which % len(turns)])
        self.write()

    @precondition(lambda self: self.has_turns() and self.chat.conversation.turns[-1].reply.can_go_on)
    @rule()
    def go_on(self) -> None:
        before = self.chat.conversation.turns[-1].reply.text
        self.chat.go_on()
        self.write()
        assert self.desk.request is not None
        assert self.desk.request.messages[-1].content == before

    @rule()
    def end_of_what_was_left(self) -> None:
        if not self.chat.is_writing:
            self.desk.end("finish.cancelled")

    @precondition(lambda self: self.chat.is_writing)
    @rule(words=st.lists(WORDS, min_size=1, max_size=4), is_stored=st.booleans())
    def grow(self, words: list[str], is_stored: bool) -> None:
        assert self.desk.request is not None
        turn = self.desk.request.turn
        if not self.rounds:
            self.chat.on_event(Started(turn, 3, 0, 7))
        one = next_round(turn, self.rounds, words, Control(Speculation(k=3)))  # type: ignore[arg-type]
        self.rounds.append(one)
        self.desk.text += "".join(piece.text for piece in one.pieces)
        self.chat.on_event(one)
        if is_stored:
            self.history._keep_growth()
            self.note()

    @precondition(lambda self: self.chat.is_writing)
    @rule(is_stopped=st.booleans(), is_failed=st.booleans())
    def end(self, is_stopped: bool, is_failed: bool) -> None:
        assert self.desk.request is not None
        if is_stopped:
            self.chat.stop()
        if is_failed:
            self.desk.is_over = True
            self.desk.happened.emit(Failed(self.desk.request.turn, Notice("error.out_of_memory")))
        else:
            self.desk.end("finish.cancelled" if is_stopped else "finish.end")
        assert not self.chat.is_writing
        self.note()

    @precondition(has_turns)
    @rule(which=ANY, step=st.sampled_from((-1, 1)), of_question=st.booleans())
    def show_version(self, which: int, step: int, of_question: bool) -> None:
        turns = self.chat.conversation.turns
        self.chat.show_version(turns[which % len(turns)], step, of_question=of_question)
        self.note()

    @precondition(has_turns)
    @rule(which=ANY)
    def branch(self, which: int) -> None:
        turns = self.chat.conversation.turns
        turn = turns[which % len(turns)]
        path = [(one.question, one.reply.text) for one in turns[: turns.index(turn) + 1]]
        copy = self.history.branch(self.chat.conversation, turn)
        self.chat.open(copy.id)
        assert [(one.question, one.reply.text) for one in self.chat.conversation.turns] == [
            (storable(question), storable(text)) for question, text in path
        ]
        self.note()

    @rule(which=ANY)
    def open(self, which: int) -> None:
        chats = [one.id for one in self.store.chats.values() if one.binned is None]
        if chats and chats[which % len(chats)] != self.chat.conversation.id:
            self.note_if_writing()
            self.chat.open(chats[which % len(chats)])
            if not self.chat.is_writing:
                self.note()

    @rule()
    def new_chat(self) -> None:
        self.note_if_writing()
        self.chat.clear()

    def note_if_writing(self) -> None:
        """Leaving a chat stores what there is."""
        if self.chat.is_writing:
            self.note()

    @rule(which=ANY, is_undone=st.booleans())
    def bin(self, which: int, is_undone: bool) -> None:
        chats = sorted(self.store.chats)
        if chats:
            chat = chats[which % len(chats)]
            if chat == self.chat.conversation.id:
                self.note_if_writing()
            self.history.bin(chat)
            self.chat.forget(chat)
            if is_undone:
                self.history.unbin(chat)

    @rule(which=ANY)
    def remove(self, which: int) -> None:
        chats = sorted(one.id for one in self.store.chats.values() if one.binned is not None)
        if chats:
            chat = chats[which % len(chats)]
            self.history.remove(chat)
            gone = [one for one, home in self.chat_of.items() if home == chat]
            for one in gone:
                del self.expected[one], self.chat_of[one]

    @rule(which=ANY, name=WORDS)
    def arrange(self, which: int, name: str) -> None:
        chats = sorted(self.store.chats)
        if chats:
            folder = self.history.add_folder(name)
            self.history.change(chats[which % len(chats)], folder=folder, is_pinned=bool(which % 2))
            if which % 3 == 0:
                self.history.remove_folder(folder)

    @rule(words=WORDS)
    def search(self, words: str) -> None:
        for hit in self.store.search(words):
            assert hit.chat in self.store.chats

    @rule(which=ANY)
    def go_to_any_message(self, which: int) -> None:
        """As a hit of a search does: in whatever version it is, also while a reply is written."""
        here = self.chat.conversation
        nodes = here.nodes()
        if nodes:
            was_writing = self.chat.is_writing
            turn = self.chat.show_message(nodes[which % len(nodes)].id)
            assert self.chat.is_writing == was_writing
            assert was_writing or turn is not None
            assert turn is None or turn in here.turns

    @rule(which=ANY)
    def out_and_in_again(self, which: int) -> None:
        """Exported, perhaps removed for ever, imported: all is there, and what was there has not come twice."""
        chats = sorted(self.store.chats)
        if not chats or self.chat.is_writing:
            return
        path = self.folder / ("all.json" if which % 2 else "all.sqlite")
        before = {one.id: one.text for chat in chats for one in self.store.messages(chat)}
        for _ in exported(self.store, chats, path) if which % 2 else saved(self.store, path):
            pass
        if which % 3 == 0:
            self.chat.clear()
            self.history.remove(*chats)
        for _ in imported(self.store, chats_in(path)) if which % 2 else restored(self.store, path):
            pass
        self.history.reload()
        assert {one.id: one.text for chat in self.store.chats for one in self.store.messages(chat)} == before
        path.unlink()

    @rule()
    def restart(self) -> None:
        self.note()
        assert self.history.end(self.chat.open_conversations)
        self.store.close()
        self.start()

    @rule()
    def kill(self) -> None:
        """What another process finds after this one is gone: the files as they are now."""
        copy = Path(tempfile.mkdtemp())
        for ending in ("", "-wal"):
            if (self.folder / (NAME + ending)).exists():
                shutil.copy(self.folder / (NAME + ending), copy / (NAME + ending))
        for name in ("_growth_timer", "_retry_timer", "_daily_timer"):
            getattr(self.history, name).stop()
        self.store.close()
        shutil.rmtree(self.folder)
        self.folder = copy
        self.start()

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "store"):
            return
        there = {one.id: one.text for chat in self.store.chats for one in self.store.messages(chat)}
        for one, text in self.expected.items():
            assert there.get(one, "").startswith(text) or there[one] == text, (one, text, there.get(one))
        assert not self.store.is_behind

    @invariant()
    def the_tree_is_one(self) -> None:
        if not hasattr(self, "store"):
            return
        conversation = self.chat.conversation
        for turn in conversation.turns:
            assert turn.reply in turn.asked.replies
            for place, total in (turn.question_place, turn.reply_place):
                assert 0 <= place < total
        if conversation.turns and self.chat.can_ask:
            request = conversation.request()
            assert all(message.content for message in request.messages if message.role == "assistant")


@pytest.mark.parametrize("kind", ["quick", pytest.param("long", marks=pytest.mark.slow)])
def test_no_message_is_lost_whatever_the_user_does(qapp: QCoreApplication, kind: str) -> None:
    examples, steps = (12, 30) if kind == "quick" else (100, 60)
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=kind == "quick",
            suppress_health_check=list(HealthCheck),
        ),
    )
