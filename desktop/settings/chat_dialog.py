"""The dialog for one chat: its system prompt and how its replies are asked for. It gives back; it stores no chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QWidget

from desktop.plain_text import cleaned
from desktop.sentences import filled
from desktop.settings.form import Form
from desktop.settings.preset_bar import PresetBar
from desktop.settings.scrolled import lay_out, size_beside
from inference.events import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QSettings, QSize
    from PySide6.QtGui import QKeyEvent

    from desktop.settings.chat_settings import ChatSettings


class ChatDialog(QDialog):
    """Call `system` and `settings` after it was accepted.

    ``last_seed`` is that of the newest reply, ``thinking`` the levels that the model's template knows. ``made_usual``
    carries settings that new chats are to have.
    """

    made_usual = Signal(object)

    def __init__(
        self,
        system: str,
        settings: ChatSettings | None,
        usual: ChatSettings,
        store: QSettings,
        parent: QWidget | None = None,
        *,
        last_seed: int | None = None,
        thinking: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Chat settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._usual = usual
        self._settings = settings
        self.system_prompt = QPlainTextEdit(self)
        self.system_prompt.setObjectName("lines")
        self.system_prompt.setPlainText(system)
        self.system_prompt.setPlaceholderText(self.tr("What the model should always keep in mind in this chat"))
        self.system_prompt.setAccessibleName(self.tr("System prompt"))
        self.system_prompt.setTabChangesFocus(True)
        self.system_prompt.setFixedHeight(96)
        self.form = Form(self)
        self.form.offer_thinking(thinking)
        self.form.show_settings(settings or usual)
        self.presets = PresetBar(self.form, store, usual, self)
        self.presets.show_choice()
        self.last_seed = QPushButton(self)
        self.last_seed.setVisible(last_seed is not None)
        if last_seed is not None:
            self.last_seed.setText(filled(self.tr("Keep the seed of the last reply: {seed}"), seed=last_seed))
            self.last_seed.clicked.connect(lambda: self.form.seed.setText(str(last_seed)))
        self.make_usual = QPushButton(self.tr("Use for new chats, too"), self)
        self.make_usual.clicked.connect(self._on_make_usual)
        lay_out(
            self,
            (
                self.tr("System prompt"),
                self.system_prompt,
                self.tr("Preset"),
                self.presets,
                self.presets.said,
                self.form,
                self.last_seed,
                self.make_usual,
            ),
        )

    @property
    def system(self) -> str:
        """The system prompt, with its no-break spaces; blank is none."""
        text = cleaned(self.system_prompt.document().toRawText())
        return text if text.strip() else ""

    @property
    def settings(self) -> ChatSettings | None:
        """The chat's settings; None where they are those for new chats."""
        return self._settings

    def accept(self) -> None:
        """Close, unless a field holds what cannot be."""
        if (settings := self._read()) is not None:
            self._settings = settings if settings != self._usual else None
            super().accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self.focusWidget(), QPlainTextEdit):
            return
        super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return size_beside(self.parentWidget())

    # Within

    def _read(self) -> ChatSettings | None:
        try:
            settings = self.form.settings()
        except Problem as problem:
            self.form.more.setChecked(True)
            self.form.complain(problem)
            return None
        self.form.complain(None)
        return settings

    def _on_make_usual(self) -> None:
        if (settings := self._read()) is not None:
            self._usual = settings
            self.made_usual.emit(settings)
            self.make_usual.setText(self.tr("New chats begin with these"))
            self.make_usual.setEnabled(False)
            self.form.changed.connect(self._offer_usual)

    def _offer_usual(self) -> None:
        self.make_usual.setText(self.tr("Use for new chats, too"))
        self.make_usual.setEnabled(True)
