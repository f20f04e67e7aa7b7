"""The line over the page: which model, whether it speculates and how far. Knows nothing of the engine's thread."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from desktop.icons import icon
from desktop.model_menu import short_name
from desktop.sentences import filled, sentence
from desktop.speculation.switch import Switch
from inference.events import Notice
from inference.settings import LARGEST_K, Speculation

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from desktop.model_menu import ModelMenu
    from desktop.palette import Palette
    from inference.events import Round

NARROW = 640
"""Below this width the words beside the switch and the speed are left out."""

AROUND_NAME = 36
"""What the model button needs beside its text."""


class Header(QFrame):
    """``speculation_changed`` carries the new setting."""

    speculation_changed = Signal(object)
    new_chat_wanted = Signal()
    settings_wanted = Signal()
    panel_wanted = Signal()
    side_wanted = Signal()

    def __init__(
        self, palette: Palette, speculation: Speculation, menu: ModelMenu, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._speculation = speculation
        self.chats = self._button(self.tr("Chats"), "Ctrl+B", self.side_wanted)
        self.chats.setCheckable(True)
        self.new_chat = self._button(self.tr("New chat"), "Ctrl+N", self.new_chat_wanted)
        self.model = _ModelButton(self)
        self.model.setMenu(menu)
        self.model.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.switch = Switch(self.tr("Speculation"), palette, self)
        self.switch.setChecked(speculation.on)
        self.switch.toggled.connect(self._on_switched)
        self.length = QComboBox(self)
        self.length.setAccessibleName(self.tr("Draft length K"))
        self.length.setToolTip(self.tr("How many tokens are drafted in a round"))
        self.show_largest_k(LARGEST_K)
        self.length.activated.connect(self._on_length_chosen)
        self.speed = QLabel(self)
        self.speed.setObjectName("speed")
        self.speed.setMinimumWidth(self.fontMetrics().horizontalAdvance("K 8 · 0.0x "))
        self.settings = self._button(self.tr("Settings"), "Ctrl+,", self.settings_wanted)
        self.rounds = self._button(self.tr("Rounds"), "Ctrl+J", self.panel_wanted)
        self.rounds.setCheckable(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(self.chats)
        row.addWidget(self.new_chat)
        row.addWidget(self.model, 1, Qt.AlignmentFlag.AlignLeft)
        for part in (self.switch, self.length, self.speed, self.settings, self.rounds):
            row.addWidget(part)
        self.apply_palette(palette)
        self.show_model("")

    @property
    def speculation(self) -> Speculation:
        """What is set now."""
        return self._speculation

    def speculation_in_words(self) -> str:
        """What is set now, and what comes of it."""
        if not self._speculation.on:
            return sentence(Notice("speculation.off"))
        if self._speculation.k == 0:
            return sentence(Notice("speculation.zero"))
        return self.tr("On: drafts begin with the next reply")

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.chats.setIcon(icon("panel-left", palette.text))
        self.new_chat.setIcon(icon("plus", palette.text))
        self.settings.setIcon(icon("settings-2", palette.text))
        self.rounds.setIcon(icon("panel-right", palette.text))
        self.switch.apply_palette(palette)

    def show_model(self, name: str) -> None:
        """The name of the model, or that there is none."""
        self.model.show_name(name or self.tr("No model loaded"))

    def show_loading(self, name: str) -> None:
        """Which model is being loaded, if one is; its name follows when it is ready."""
        if name:
            self.model.show_name(filled(self.tr("Loading {name}…"), name=short_name(name)))

    def show_largest_k(self, largest: int) -> None:
        """Offer automatic and 0 to ``largest``; a longer choice becomes the largest."""
        self.length.clear()
        self.length.addItem(self.tr("K auto"), None)
        for k in range(min(largest, LARGEST_K) + 1):
            self.length.addItem(f"K {k}", k)
        chosen = self._speculation.k
        if chosen is not None and chosen > largest:
            chosen = largest
            self._set(replace(self._speculation, k=chosen))
        self.length.setCurrentIndex(0 if chosen is None else chosen + 1)

    def show_drafting_possible(self, is_possible: bool, reason: str) -> None:
        """Without a drafter the controls of speculation rest, with the reason."""
        for part in (self.switch, self.length):
            part.setEnabled(is_possible)
            part.setToolTip(reason)

    def choose_drafter(self, name: str | None) -> None:
        """Let another drafter draft from the next round on; None is the one the model was loaded with."""
        if name != self._speculation.drafter:
            self._set(replace(self._speculation, drafter=name))

    def look_in_other_chats(self, does: bool) -> None:
        """Whether drafts may come from other chats, from the next round on."""
        self._set(replace(self._speculation, other_chats=does))

    def show_round(self, last: Round | None) -> None:
        """Draft length and speed-up of the round just written."""
        if last is None or not last.k or last.plain_tokens_per_second <= 0:
            self.speed.clear()
            return
        gain = last.tokens_per_second / last.plain_tokens_per_second
        self.speed.setText(filled("K {k} · {gain:.1f}x", k=last.k, gain=gain))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = event.size().width() >= NARROW
        self.switch.show_text(is_wide)
        self.speed.setVisible(is_wide)

    def _button(self, name: str, keys: str, wanted: object) -> QToolButton:
        button = QToolButton(self)
        button.setAccessibleName(name)
        shown = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{name} ({shown})")
        button.clicked.connect(wanted)
        return button

    def _on_switched(self, is_on: bool) -> None:
        self._set(replace(self._speculation, on=is_on))

    def _on_length_chosen(self, index: int) -> None:
        self._set(replace(self._speculation, k=self.length.itemData(index)))

    def _set(self, speculation: Speculation) -> None:
        self._speculation = speculation
        self.speculation_changed.emit(speculation)


class _ModelButton(QToolButton):
    """The model's name, cut where there is no room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("model")
        self._name = ""

    def show_name(self, name: str) -> None:
        self._name = name
        self.setAccessibleName(self.tr("Model: {name}").format(name=name))
        self.setToolTip(f"{name} ({QKeySequence('Ctrl+L').toString(QKeySequence.SequenceFormat.NativeText)})")
        self.updateGeometry()
        self._cut()

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self._name) + AROUND_NAME
        return QSize(words, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(64, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        room = self.width() - AROUND_NAME + 2
        text = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideRight, room)
        if text != self.text():
            self.setText(text)
