"""Joins the pages Compare and One round, and a reply's record, to the chat and the engine; made when first wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from inference.bench.comparison import ModeName, Setting
from inference.settings import Message, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from desktop.chat import Chat
    from desktop.conversation import Turn
    from desktop.pages import Pages
    from desktop.palette import Palette
    from desktop.reply import Reply
    from desktop.speculation.compare import Compare
    from desktop.speculation.lab import Lab
    from desktop.speculation.panel import Panel
    from desktop.transcript.view import Transcript
    from desktop.worker import Worker
    from inference.bench.comparison import CompareEvent, Plan
    from inference.events import Loaded
    from inference.explained import Explained, ExplainFailed

COMPARE, LAB = "compare", "lab"
LEAST_TOKENS, MOST_TOKENS = 16, 512
"""Of a reply that is run both ways: how long the runs may be."""


class Comparing(QObject):
    """``usual`` gives the sampling of new replies, ``speculation`` what the header says.

    ``say`` tells of a question that waits for a comparison.
    ``seed_kept`` carries the seed with which the chat's next replies are to begin.
    """

    seed_kept = Signal(object)

    def __init__(
        self,
        pages: Pages,
        worker: Worker,
        chat: Chat,
        palette: Palette,
        usual: Callable[[], Sampling],
        speculation: Callable[[], Speculation],
        panel: Panel,
        transcript: Transcript,
        say: Callable[[str], object],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._pages = pages
        self._worker = worker
        self._chat = chat
        self._roles = palette
        self._usual = usual
        self._speculation = speculation
        self._say = say
        self._window = window
        self._focus: QWidget | None = None
        self._is_from_compare = False
        pages.offer(COMPARE, self._make_compare)
        pages.offer(LAB, self._make_lab)
        worker.compared.connect(self._on_compared)
        worker.explained.connect(self._on_explained)
        chat.loaded.connect(self._show_model)
        chat.drafters_changed.connect(self._show_model)
        chat.state_changed.connect(self._on_state)
        panel.compare_wanted.connect(self.show_compare)
        panel.round_wanted.connect(self.show_round)
        transcript.both_requested.connect(self.run_both)
        transcript.figures_requested.connect(self.show_record)
        QShortcut(QKeySequence("Ctrl+Shift+C"), window, self.show_compare)
        QShortcut(QKeySequence("Ctrl+Shift+R"), window, lambda: self.run_both(0))

    @property
    def compare(self) -> Compare:
        """The page that runs settings side by side."""
        return cast("Compare", self._pages.page(COMPARE))

    @property
    def lab(self) -> Lab:
        """The page that goes through one round."""
        return cast("Lab", self._pages.page(LAB))

    @property
    def is_running(self) -> bool:
        """Whether a comparison is waiting or running."""
        return self._pages.made(COMPARE) is not None and self.compare.is_running

    def show_compare(self) -> None:
        """Go to the page Compare."""
        self._go(COMPARE)
        if not self.compare.is_running:
            self.compare.setup.show_model(self._chat.model, self._usual())
        (self.compare.stop if self.compare.is_running else self.compare.setup.source).setFocus()

    def run_both(self, number: int) -> None:
        """Have the question of a reply, 0 for the last, answered with speculation off and on, and show both."""
        turn = self._chat.conversation.turn_of(number) or self._chat.conversation.last
        if turn is None:
            return
        self.show_compare()
        if self.compare.is_running:
            return
        model = self._chat.model
        sampling = turn.reply.manner.sampling if turn.reply.manner is not None else self._usual()
        sampling = replace(sampling, seed=turn.reply.seed if turn.reply.seed is not None else sampling.seed)
        setup = self.compare.setup
        setup.show_settings(self._both(model))
        setup.show_question(turn.question, self._before(turn), sampling, _length(turn.reply))
        if model is not None:
            setup.start()

    def show_round(self, turn: int, index: int) -> None:
        """Go to the page that lays one round of a reply open."""
        self._go(LAB)
        self.lab.ask(turn, index)
        if self._chat.is_writing or self.is_running:
            self.lab.show_waiting()

    def show_rounds(self, number: int) -> None:
        """Lay the first round of a reply open that had a draft, or its first one."""
        turn = self._chat.conversation.turn_of(number)
        if turn is not None and turn.reply.rounds:
            drafted = (one.index for one in turn.reply.rounds if one.drafted)
            self.show_round(number, next(drafted, 0))

    def show_record(self, number: int) -> None:
        """All figures of a reply."""
        turn = self._chat.conversation.turn_of(number)
        if turn is None:
            return
        from desktop.speculation.reply_record import ReplyRecord

        record = ReplyRecord(turn.reply, self._window)
        record.both_wanted.connect(self.run_both)
        record.rounds_wanted.connect(self.show_rounds)
        record.seed_kept.connect(self.seed_kept)
        record.open()

    def go_back(self) -> None:
        """Back to the chat, or to the comparison whose round was looked at."""
        if self._pages.currentWidget() is self._pages.made(LAB) and self._is_from_compare:
            self._pages.go(COMPARE)
            return
        self._pages.go_back()
        if self._focus is not None:
            self._focus.setFocus()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        for name in (COMPARE, LAB):
            page = cast("Compare | Lab | None", self._pages.made(name))
            if page is not None:
                page.apply_palette(palette)

    # Within

    def _go(self, name: str) -> None:
        if self._pages.is_chat:
            self._focus = self._window.focusWidget()
        self._is_from_compare = self._pages.currentWidget() is self._pages.made(COMPARE)
        self._pages.go(name)

    def _make_compare(self) -> Compare:
        from desktop.speculation.compare import Compare

        page = Compare(self._roles, self._window)
        page.wanted.connect(self._on_wanted)
        page.stop_wanted.connect(self._worker.stop_comparing)
        page.back_wanted.connect(self.go_back)
        page.round_wanted.connect(lambda turn: self.show_round(turn, 0))
        page.setup.show_model(self._chat.model, self._usual())
        model = self._chat.model
        if model is not None:
            page.setup.show_settings(self._usual_settings(model))
        return page

    def _make_lab(self) -> Lab:
        from desktop.speculation.lab import Lab

        page = Lab(self._roles, self._window)
        page.wanted.connect(self._worker.explain)
        page.back_wanted.connect(self.go_back)
        return page

    def _usual_settings(self, model: Loaded) -> tuple[Setting, ...]:
        """Plain decoding in fast mode, and off and on in the mode in force."""
        off, on = self._both(model)
        return (off, on) if off.mode == "fast" else (Setting("fast"), off, on)

    def _both(self, model: Loaded | None) -> tuple[Setting, Setting]:
        spec = self._speculation()
        mode: ModeName = model.mode if model is not None else "fast"
        drafter = spec.drafter or (model.drafter if model is not None else "twin")
        if (model is not None and drafter not in model.drafters) or drafter == "none":
            drafter = next((name for name in model.drafters if name != "none"), "twin") if model else "twin"
        k = spec.k if spec.k else None
        return Setting(mode), Setting(mode, on=True, drafter=drafter, k=k, rule=spec.rule)

    def _before(self, turn: Turn) -> tuple[Message, ...]:
        """The messages before a question, as they were read for its reply: turns without an answer are left out.

        Tokens go along where the loaded model wrote them.
        """
        conversation, model = self._chat.conversation, self._chat.model
        found = [Message("system", conversation.system)] if conversation.system.strip() else []
        for one in conversation.turns:
            if one.reply is turn.reply:
                break
            if one.reply.answer.strip():
                finished = one.reply.finished
                is_known = finished is not None and model is not None and finished.statistics.identity == model.identity
                ids = finished.token_ids if finished is not None and is_known else None
                found += [Message("user", one.question), Message("assistant", one.reply.text, ids)]
        return tuple(found)

    def _on_wanted(self, plan: Plan) -> None:
        self._worker.compare(plan)
        if self._chat.is_writing:
            self.compare.show_waiting()

    def _on_compared(self, event: CompareEvent) -> None:
        if self._pages.made(COMPARE) is not None:
            self.compare.take(event)

    def _on_explained(self, event: Explained | ExplainFailed) -> None:
        if self._pages.made(LAB) is not None:
            self.lab.take(event)

    def _show_model(self) -> None:
        if self._pages.made(COMPARE) is not None and not self.compare.is_running:
            self.compare.setup.show_model(self._chat.model, self._usual())

    def _on_state(self) -> None:
        if self._chat.model is None and self._pages.made(COMPARE) is not None:
            self.compare.setup.show_model(None, self._usual())
        last = self._chat.conversation.last
        if self._chat.is_writing and self.is_running and last is not None and last.reply.prefill is None:
            self._say(self.tr("Waiting for a run of the comparison to end"))


def _length(reply: Reply) -> int:
    """As many tokens as the reply has, within reason."""
    if reply.finished is None:
        return MOST_TOKENS
    return max(LEAST_TOKENS, min(MOST_TOKENS, reply.finished.statistics.tokens))
