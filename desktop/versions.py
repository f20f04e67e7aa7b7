"""What is done to a turn on the page: copied, asked otherwise, shown in another version, branched off from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
    from desktop.chat import Chat
    from desktop.composer import Composer
    from desktop.conversation import Turn
    from desktop.history.history import History
    from desktop.transcript.view import Transcript


class Versions(QObject):
    """``changed`` comes when another version is on the page.

    ``branched`` carries a chat that was made of this one, None for an empty one, and a question to be asked in it.
    """

    changed = Signal()
    branched = Signal(object, str)

    def __init__(
        self, chat: Chat, history: History, transcript: Transcript, composer: Composer, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._history = history
        self._transcript = transcript
        self._composer = composer
        self._edited: Turn | None = None
        transcript.copy_requested.connect(self.copy)
        transcript.edit_requested.connect(self.edit)
        transcript.branch_requested.connect(self.branch)
        transcript.version_requested.connect(self.show)
        composer.editing_ended.connect(self.take_edited)

    def copy(self, number: int) -> None:
        """Put the text of a reply on the clipboard, as the model wrote it."""
        turn = self._chat.conversation.turn_of(number)
        if turn is not None:
            QGuiApplication.clipboard().setText(turn.reply.answer or turn.reply.text)

    def edit(self, number: int) -> None:
        """Let a question be asked otherwise."""
        turn = self._chat.conversation.turn_of(number)
        if turn is not None:
            self._edited = turn
            self._composer.begin_editing(turn.question)

    def take_edited(self) -> Turn | None:
        """The turn whose question was being edited; that is over now."""
        edited, self._edited = self._edited, None
        return edited

    def show(self, number: int, step: int, of_question: bool) -> None:
        """Show another version of a question or a reply."""
        turn = self._chat.conversation.turn_of(number)
        if turn is not None and self._chat.show_version(turn, step, of_question=of_question):
            self._composer.end_editing()
            self.changed.emit()

    def step(self, step: int) -> None:
        """Show the version before or after, of the last turn in view that has any."""
        turn = self._transcript.turn_in_view()
        if turn is not None:
            self.show(turn.reply.turn, step, turn.reply_place[1] < 2)

    def branch(self, number: int, before_question: bool) -> None:
        """Go on in a new chat from a reply, or from before its question, which waits there to be asked otherwise."""
        conversation = self._chat.conversation
        turn = conversation.turn_of(number)
        if turn is None:
            return
        if not before_question:
            self.branched.emit(self._history.branch(conversation, turn).id, "")
        elif turn is conversation.turns[0]:
            self.branched.emit(None, turn.question)
        else:
            before = conversation.turns[conversation.turns.index(turn) - 1]
            self.branched.emit(self._history.branch(conversation, before).id, turn.question)
