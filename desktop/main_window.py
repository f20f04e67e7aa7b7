"""The window: puts the parts together, hands on what the user does, and shows the chat as it changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QWidget

from desktop.body import Body
from desktop.chat import Chat
from desktop.desk import Desk
from desktop.header import Header
from desktop.history.history import History
from desktop.jobs import Jobs
from desktop.live import Live
from desktop.model_menu import STARTER, ModelMenu
from desktop.models.shelf import Shelf
from desktop.page import Page, stacked
from desktop.pages import Pages
from desktop.palette import style_sheet
from desktop.preferring import Preferring
from desktop.sentences import sentence
from desktop.sheets import Sheets
from desktop.sidebar.commands import Commands
from desktop.sidebar.sidebar import Sidebar
from desktop.speculation.comparing import Comparing
from desktop.speculation.panel import Panel
from desktop.status_bar import StatusBar
from desktop.store import Unavailable
from desktop.versions import Versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QSettings
    from PySide6.QtGui import QCloseEvent, QPaintEvent

    from desktop.composer import Composer
    from desktop.conversation import Turn
    from desktop.notice_bar import NoticeBar
    from desktop.palette import Palette
    from desktop.store import Store
    from desktop.transcript.view import Transcript
    from desktop.worker import Worker
    from inference.settings import ModelChoice, Speculation


class MainWindow(QMainWindow):
    """``appeared`` comes once, after the window was painted; ``closed`` once, when it is gone."""

    appeared = Signal()
    closed = Signal()

    def __init__(
        self,
        worker: Worker,
        choice: ModelChoice,
        speculation: Speculation,
        palette: Palette,
        settings: QSettings,
        store: Store,
    ) -> None:
        super().__init__()
        self._worker = worker
        self._settings = settings
        self.preferring = Preferring(settings, self)
        self._roles = palette
        self._has_appeared = False
        self._is_closed = False
        self.history = History(store, count(1).__next__, self)
        self.chat = Chat(worker, self.history, self)
        self._build(choice, speculation)
        self._connect()
        self.apply_palette(palette)
        self.live.show_state()
        self.status_bar.show_offline()
        self.composer.setFocus()
        self.history.begin()
        self.commands.begin()
        self.desk.arrive()

    # Its parts

    @property
    def transcript(self) -> Transcript:
        """The chat as it is shown."""
        return self.page.transcript

    @property
    def composer(self) -> Composer:
        """Where a message is written."""
        return self.page.composer

    @property
    def notice(self) -> NoticeBar:
        """What there is to say."""
        return self.page.notice

    # Commands

    def load(self, choice: ModelChoice) -> None:
        """Load a model; a reply still being written is ended."""
        self.live.flush.stop()
        self.status_bar.show_loaded(None)
        self.page.loading.show_waiting(is_starter=choice.model == STARTER)
        self.chat.load(choice)

    def ask(self, question: str) -> None:
        """Put a question and have it answered; while one is edited, put it beside that one."""
        if not self.chat.can_ask:
            return
        edited = self.versions.take_edited()
        if edited is not None:
            self.chat.edit(edited, question)
            self.transcript.show_turns(self.chat.conversation.turns[:-1])
        else:
            self.chat.ask(question)
        turn = self.chat.conversation.turns[-1]
        self.page.show_chat(True)
        self.transcript.show_question(question, turn)
        self.transcript.follow()
        self._write(turn)

    def again(self, number: int = 0) -> None:
        """Have a question answered anew, the last one unless a reply is named; that reply stays as another version."""
        conversation = self.chat.conversation
        turn = conversation.turn_of(number) or conversation.last
        if turn is not None and self._is_ready(lambda: self.again(number)):
            is_last = turn is conversation.last
            self.chat.again(turn)
            new = conversation.turns[-1]
            if is_last:
                self.transcript.drop_reply()
            else:
                self.transcript.show_turns(conversation.turns[:-1])
                self.transcript.show_question(new.question, new)
                self.transcript.follow()
            self._write(new)
            how = (conversation.settings or self.preferring.current.usual).sampling
            if how.temperature == 0:
                self.notice.say(self.tr("At temperature 0 the same reply comes again; raise it in the settings."))
            elif how.seed is not None:
                self.notice.say(self.tr("With a fixed seed the same reply comes again; empty it in the settings."))

    def go_on(self) -> None:
        """Let the last reply go on where it ended."""
        last = self.chat.conversation.last
        if self._is_ready(self.go_on) and last is not None and last.reply.can_go_on:
            self.transcript.drop_reply()
            self.chat.go_on()
            self._write(last)
            self.transcript.extend()

    def show_chat(self, chat: int, message: int | None) -> None:
        """Open a stored chat, at a message if one is given."""
        if chat != self.chat.conversation.id:
            self._leave()
            try:
                self.chat.open(chat)
            except Unavailable as reason:
                self.notice.tell(reason.trouble)
                return
            self.desk.arrive()
        turn = self.chat.show_message(message) if message is not None else None
        self._show_conversation(turn)
        self.sheets.uncover()
        self.composer.setFocus()
        if message is not None and turn is None and self.chat.is_writing:
            self.notice.say(self.tr("What was found is in another version; stop the reply to see it."))

    def stop(self) -> None:
        """End the reply; it shows at once, and nothing more is shown but what the engine ends with."""
        self.live.flush.stop()
        self.chat.stop()

    def new_chat(self) -> None:
        """Begin anew."""
        self.pages.go_back()
        self._leave()
        self.chat.clear()
        self.desk.arrive()
        self._show_conversation()
        self.composer.setFocus()

    def come_forward(self) -> None:
        """Be seen, in front of other windows."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def toggle_panel(self) -> None:
        """Open or close the rounds."""
        self.sheets.toggle_panel()

    def toggle_side(self) -> None:
        """Open or close the chats."""
        self.sheets.toggle_side()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours, everywhere."""
        self._roles = palette
        self.setStyleSheet(style_sheet(palette, self.preferring.current.scale))
        for part in (self.header, self.panel, self.notice, self.composer):
            part.apply_palette(palette)
        self.sidebar.apply_look(palette, self.preferring.current.scale)
        self.comparing.apply_palette(palette)
        self.shelf.apply_palette(palette)
        self.transcript.apply_look(palette, self.preferring.current.scale, self.chat.conversation.turns)

    # What the user does

    def _is_ready(self, then: Callable[[], object]) -> bool:
        """Whether something can be written now; if not, it is said, and can be done ``then`` with a model."""
        if self.chat.model is None and not self.chat.is_loading:
            self.shelf.unloading.offer(then)
        elif self.chat.model is None:
            self.notice.say(self.tr("The model is not ready yet; try again when it is."))
        elif self.chat.is_writing:
            self.notice.say(self.tr("A reply is still being written; stop it first."))
        return self.chat.can_ask

    def _write(self, turn: Turn) -> None:
        self.transcript.begin_reply(turn.reply, turn)
        self.panel.show_reply(turn.reply)
        speculation = replace(self.header.speculation, rule=self.preferring.current.rule)
        self.chat.write(speculation, self.preferring.current.usual)
        self.desk.keep()
        self.sidebar.show_open(self.chat.conversation.id)

    def _leave(self) -> None:
        """What is being shown or edited of this chat ends."""
        self.live.flush.stop()
        self.composer.end_editing()
        self.desk.keep()

    def _show_conversation(self, turn: Turn | None = None) -> None:
        """Show the chat as it is now, at a turn if one is given."""
        conversation = self.chat.conversation
        last = conversation.last
        self.page.show_chat(bool(last))  # first: what is hidden has no width to lay text out in
        self.transcript.show_turns(conversation.turns, turn)
        self.panel.show_reply(last.reply if last else None)
        self.header.show_round(None)
        self.sidebar.show_open(conversation.id)
        if turn is not None:
            self.transcript.go_to(turn.reply)

    def _show_conversation_here(self) -> None:
        """Show the chat as it is now, without moving the page."""
        place = self.transcript.verticalScrollBar().value()
        self._show_conversation()
        self.transcript.verticalScrollBar().setValue(place)

    def _on_gone(self, chat: int) -> None:
        if chat == self.chat.conversation.id:
            self._leave()
            self.chat.forget(chat)
            self.desk.arrive()
            self._show_conversation()
        else:
            self.chat.forget(chat)

    def _on_came_in(self) -> None:
        if self.chat.look_again():
            self._show_conversation_here()

    def _on_branched(self, chat: int | None, question: str) -> None:
        if chat is None:
            self.new_chat()
        else:
            self.show_chat(chat, None)
        if question:
            self._on_suggestion(question)

    def _on_escape(self) -> None:
        if not self.pages.is_chat:
            self.comparing.go_back()
        elif self.chat.is_writing:
            self.stop()
        elif self.composer.is_editing:
            self.composer.end_editing()
        else:
            self.sheets.put_away()

    def _on_suggestion(self, text: str) -> None:
        """Put a text to be sent; what is being written stays before it."""
        before = self.composer.text()
        self.composer.put(f"{before}\n\n{text}" if before.strip() and before != text else text)
        self.composer.setFocus()

    def _show_settings(self) -> None:
        self.preferring.ask(self.shelf, self.desk.thinking)

    def _on_resized(self) -> None:
        self.apply_palette(self._roles)

    # Construction

    def _build(self, choice: ModelChoice, speculation: Speculation) -> None:
        self.setWindowTitle("Borrador")
        self.menu = ModelMenu(choice, self)
        self.header = Header(self._roles, speculation, self.menu, self)
        self.page = Page(self._roles, self.preferring.current.scale, self)
        self.panel = Panel(self._roles, self)
        self.status_bar = StatusBar(self)
        self.live = Live(self.chat, self.header, self.page, self.panel, self.status_bar, self)
        self.sidebar = Sidebar(self.history, self._roles, self)
        self.commands = Commands(self.history, self.sidebar, self.notice, self)
        self.versions = Versions(self.chat, self.history, self.transcript, self.composer, self)
        self.desk = Desk(self.chat, self.history, self.page, self._settings, self.preferring.usual, self)
        self.body = Body(self)
        self.body.hold(self.sidebar, self.page, self.panel)
        whole = QWidget(self)
        self.pages = Pages(self.body, self)
        self.sheets = Sheets(self.body, self.pages, self.header, self.sidebar, self.panel, self._settings)
        self.comparing = Comparing(
            self.pages, self._worker, self.chat, self._roles,
            lambda: (self.chat.conversation.settings or self.preferring.current.usual).sampling,
            lambda: replace(self.header.speculation, rule=self.preferring.current.rule),
            self.panel, self.transcript, self.page.status_line.setText, self,
        )  # fmt: skip
        self.shelf = Shelf(
            Jobs(self), self.pages, self.chat, self.header, self.menu, self.page, self._settings, self._roles, self
        )
        stacked(whole, (self.header, self.pages, self.status_bar)).setStretch(1, 1)
        self.setCentralWidget(whole)
        self.setMinimumSize(420, 360)

    def _connect(self) -> None:
        self.menu.chosen.connect(self.load)
        self.header.new_chat_wanted.connect(self.new_chat)
        self.header.settings_wanted.connect(self._show_settings)
        self.header.panel_wanted.connect(self.toggle_panel)
        self.page.welcome.chosen.connect(self._on_suggestion)
        self.composer.submitted.connect(self.ask)
        self.composer.stop_wanted.connect(self.stop)
        self.desk.made_usual.connect(self.preferring.keep_usual)
        self.page.loading.retry_wanted.connect(lambda: self.load(self.menu.choice))
        self.page.loading.folder_wanted.connect(self.menu.ask_for_folder)
        self.page.loading.starter_wanted.connect(lambda: self.menu.choose(STARTER))
        self.shelf.reached.connect(self.status_bar.show_offline)
        self.transcript.again_requested.connect(self.again)
        self.transcript.continue_requested.connect(self.go_on)
        self.comparing.seed_kept.connect(self.desk.fix_seed)
        self.versions.changed.connect(self._show_conversation_here)
        self.versions.branched.connect(self._on_branched)
        self.history.told.connect(self.notice.tell)
        self.chat.lacked.connect(lambda given_up: self.notice.say(" ".join(map(sentence, given_up))))
        self.header.side_wanted.connect(self.toggle_side)
        self.preferring.resized.connect(self._on_resized)
        self.sidebar.chosen.connect(self.show_chat)
        self.sidebar.left.connect(self.composer.setFocus)
        self.commands.opened.connect(lambda chat: self.show_chat(chat, None))
        self.commands.gone.connect(self._on_gone)
        self.commands.came_in.connect(self._on_came_in)
        self.panel.colour_wanted.connect(self.transcript.colour)
        self.panel.close_wanted.connect(self.toggle_panel)
        for keys, command in (
            ("Ctrl+B", self.toggle_side),
            ("Ctrl+J", self.toggle_panel),
            ("Ctrl+K", self.sheets.search),
            ("Alt+Left", lambda: self.versions.step(-1)),
            ("Alt+Right", lambda: self.versions.step(1)),
            ("Ctrl+N", self.new_chat),
            ("Ctrl+R", self.again),
            ("Ctrl+,", self._show_settings),
            ("Ctrl+.", self.desk.show_settings),
            ("Ctrl+O", self.desk.ask_for_files),
            ("Ctrl+Q", self.close),
            ("Esc", self._on_escape),
        ):
            QShortcut(QKeySequence(keys), self, command)

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(1180, 780)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._has_appeared:
            self._has_appeared = True
            QTimer.singleShot(0, self.appeared.emit)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        if not self._is_closed:
            self._is_closed = True
            self.live.flush.stop()
            self.desk.close()
            self.shelf.close()
            self._worker.close()
            self.commands.end(self.chat.open_conversations)
            self.closed.emit()
