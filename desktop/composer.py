"""Where a message is written: what is attached, the field, and under it what can be done with both.

It knows neither the chat nor the engine; it says what was submitted and what is wanted.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from desktop.attachments.attaching import Attaching
from desktop.attachments.chips import Chips
from desktop.attachments.quoting import Attachment, joined, parted
from desktop.elided import ElidedLabel
from desktop.field import Field, is_long
from desktop.icons import icon
from desktop.recall import Recall
from desktop.settings.level_box import LevelBox

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from desktop.palette import Palette


class Readiness(Enum):
    """What the button does."""

    UNLOADED = "unloaded"
    WAITING = "waiting"
    READY = "ready"
    WRITING = "writing"
    STOPPING = "stopping"


class Composer(QFrame):
    """What is attached, the text field, and its button, which is Send or Stop.

    While a question is asked otherwise, ``editing_ended`` says that it was given up. ``changed`` comes with every
    change of the message; ``refused`` carries a sentence about what could not be attached; ``model_wanted`` says that
    somebody tried to send without a model.
    """

    submitted = Signal(str)
    stop_wanted = Signal()
    model_wanted = Signal()
    editing_ended = Signal()
    changed = Signal()
    refused = Signal(str)
    files_wanted = Signal()
    settings_wanted = Signal()
    thinking_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.attached: list[Attachment] = []
        self.recall = Recall()
        self.attaching = Attaching(self)
        self.chips = Chips(self)
        self.field = Field(self)
        self.field.setPlaceholderText(self.tr("Message"))
        self.field.setAccessibleName(self.tr("Message"))
        hint = self.tr("Attach text, code, PDF or Word files of at most 20 MB (Ctrl+O)")
        self.attach = self._tool(hint, self.files_wanted)
        self.settings = self._tool(self.tr("Chat settings (Ctrl+.)"), self.settings_wanted)
        self.thinking = LevelBox(self)
        self.thinking.setObjectName("thinking")
        self.thinking.hide()
        self.count = ElidedLabel(self)
        self.count.setObjectName("quiet")
        self.button = QPushButton(self)
        self.button.setObjectName("send")
        self.button.setMinimumWidth(84)
        self.editing = QFrame(self)
        self.give_up = QPushButton(self.tr("Cancel"), self.editing)
        self._draft = ""
        self._readiness = Readiness.WAITING
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.field)
        self.show_readiness(Readiness.WAITING)

    # The message

    def text(self) -> str:
        """The whole message: what is attached, quoted, and what is written."""
        return joined(self.attached, self.field.text())

    def draft(self) -> str:
        """What is being written for the chat, beside a question that is asked otherwise."""
        return self._draft if self.is_editing else self.text()

    def put(self, text: str, *, at_end: bool = True) -> None:
        """Replace the message; files that it quotes are attached again."""
        self.attached, words = parted(text)
        if is_long(words):
            self.attached, words = [*self.attached, Attachment("", words)], ""
        self.field.put(words, at_end=at_end)
        self._on_attached()

    def add_files(self, paths: Iterable[Path]) -> None:
        """Read files and attach them."""
        self.attaching.take(paths)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self.attached and self.field.document().isEmpty()

    # Asking otherwise

    @property
    def is_editing(self) -> bool:
        """Whether a question is asked otherwise."""
        return not self.editing.isHidden()

    def begin_editing(self, text: str) -> None:
        """Let a question be asked otherwise; what was being written comes back afterwards."""
        if not self.is_editing:
            self._draft = self.text()
        self.editing.show()
        self.put(text)
        self.field.setFocus()

    def end_editing(self) -> None:
        """Leave the question as it is."""
        if self.is_editing:
            self.editing.hide()
            self.put(self._draft)
            self.editing_ended.emit()

    # What can be done

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.attach.setIcon(icon("paperclip", palette.text))
        self.settings.setIcon(icon("sliders-horizontal", palette.text))

    def offer_thinking(self, levels: Sequence[str], level: str) -> None:
        """How the model can be asked to think, if its template offers that, and how it is asked now."""
        self.thinking.offer(levels, level)
        self.thinking.setVisible(bool(levels))

    def show_count(self, words: str, hint: str = "", *, is_over: bool = False) -> None:
        """How much of the context the message takes."""
        if (words, hint or words) != (self.count.text(), self.count.toolTip()):
            self.count.setText(words)
            self.count.setToolTip(hint or words)
        if is_over != bool(self.count.property("over")):
            self.count.setProperty("over", is_over)
            self.count.style().unpolish(self.count)
            self.count.style().polish(self.count)

    def show_readiness(self, readiness: Readiness) -> None:
        """Send, Stop, or why neither can be pressed."""
        self._readiness = readiness
        is_unloaded = readiness is Readiness.UNLOADED
        self.field.setPlaceholderText(self.tr("No model is loaded") if is_unloaded else self.tr("Message"))
        writing = readiness in (Readiness.WRITING, Readiness.STOPPING)
        labels = {Readiness.WRITING: self.tr("Stop"), Readiness.STOPPING: self.tr("Stopping")}
        self.button.setText(labels.get(readiness, self.tr("Send")))
        if bool(self.button.property("writing")) != writing:
            self.button.setProperty("writing", writing)
            self.button.style().unpolish(self.button)
            self.button.style().polish(self.button)
        self._update_button()

    def submit(self) -> None:
        """Send the message, if it can be sent now."""
        able = (Readiness.READY, Readiness.UNLOADED)
        if self._readiness not in able or self.field.is_composing or self.attaching.waiting:
            return
        text = self.text()
        if text.strip() and self._readiness is Readiness.UNLOADED:
            self.model_wanted.emit()
        elif text.strip():
            was_editing = self.is_editing
            self.put("")
            self.recall.forget()
            self.editing.hide()
            self.submitted.emit(text)
            if was_editing:
                self.put(self._draft)

    # Within

    def _on_attached(self) -> None:
        self.chips.show_all(self.attached, self.attaching.waiting)
        self._on_changed()

    def _on_came(self, attachment: Attachment) -> None:
        self.attached.append(attachment)
        self._on_attached()

    def _on_long(self, text: str) -> None:
        self._on_came(Attachment("", text))

    def _on_removed(self, place: int) -> None:
        del self.attached[place]
        self._on_attached()
        self.field.setFocus()

    def _on_changed(self) -> None:
        self._update_button()
        self.changed.emit()

    def _on_earlier(self) -> None:
        if (text := self.recall.earlier(self.text())) is not None:
            self.put(text, at_end=False)

    def _on_later(self) -> None:
        if (text := self.recall.later(self.text())) is not None:
            self.put(text)

    def _on_picture(self) -> None:
        self.refused.emit(self.tr("Pictures cannot be added: models here read text only."))

    def _update_button(self) -> None:
        readiness = self._readiness
        is_able = readiness in (Readiness.READY, Readiness.UNLOADED)
        is_reading = bool(self.attaching.waiting) and is_able
        hint = {
            Readiness.UNLOADED: self.tr("No model is loaded; sending offers to load one."),
            Readiness.WAITING: self.tr("The model is not ready yet; you can already write."),
            Readiness.READY: self.tr("Send the message (Enter)"),
            Readiness.WRITING: self.tr("Stop writing (Esc)"),
            Readiness.STOPPING: self.tr("The reply is being ended"),
        }[readiness]
        if is_reading:
            hint = self.tr("A file is still being read.")
        self.button.setToolTip(hint)
        self.button.setAccessibleDescription(hint)
        can_send = is_able and not self.is_empty and not is_reading
        self.button.setEnabled(can_send or readiness is Readiness.WRITING)

    def _on_clicked(self) -> None:
        if self._readiness is Readiness.WRITING:
            self.stop_wanted.emit()
        else:
            self.submit()

    def _tool(self, hint: str, wanted: object) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(hint)
        button.setAccessibleName(hint.partition(" (")[0])
        button.clicked.connect(wanted)
        return button

    def _lay_out(self) -> None:
        words = QLabel(self.tr("Asking otherwise; the other version stays."), self.editing)
        words.setObjectName("quiet")
        words.setWordWrap(True)
        about = QHBoxLayout(self.editing)
        about.setContentsMargins(4, 0, 0, 0)
        about.addWidget(words, 1)
        about.addWidget(self.give_up)
        self.editing.hide()
        tools = QHBoxLayout()
        tools.setSpacing(4)
        tools.addWidget(self.attach)
        tools.addWidget(self.settings)
        tools.addWidget(self.thinking)
        tools.addSpacing(4)
        tools.addWidget(self.count, 1)
        tools.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        for part in (self.editing, self.chips, self.field):
            column.addWidget(part)
        column.addLayout(tools)

    def _connect(self) -> None:
        self.field.sent.connect(self.submit)
        self.field.textChanged.connect(self._on_changed)
        self.field.earlier.connect(self._on_earlier)
        self.field.later.connect(self._on_later)
        self.field.files_given.connect(self.add_files)
        self.field.long_given.connect(self._on_long)
        self.field.picture_given.connect(self._on_picture)
        self.attaching.came.connect(self._on_came)
        self.attaching.refused.connect(self.refused)
        self.attaching.changed.connect(self._on_attached)
        self.chips.removed.connect(self._on_removed)
        self.chips.given_up.connect(self.attaching.give_up)
        self.give_up.clicked.connect(self.end_editing)
        self.button.clicked.connect(self._on_clicked)
        self.thinking.activated.connect(lambda: self.thinking_chosen.emit(self.thinking.level))
