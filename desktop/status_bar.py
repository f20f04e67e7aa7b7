"""The lowest line: device, threads, memory, mode, whether the hub is left alone, and what the program is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from desktop.elided import ElidedLabel
from desktop.sentences import filled, sentence
from desktop.settings.network import is_offline
from inference.events import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop.chat import Chat
    from inference.events import Loaded

GB = 1e9
EVERY_MS = 2000
SEPARATOR = " · "


class StatusBar(QFrame):
    """Facts to the left, the state to the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        self._process = psutil.Process()
        self._total = psutil.virtual_memory().total
        self._machine = ""
        self._parts = ""
        self.mode = ElidedLabel(self)
        self.facts = ElidedLabel(self)
        self.state = ElidedLabel(self)
        self.state.setAccessibleName(self.tr("State"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 16, 4)
        row.setSpacing(0)
        row.addWidget(self.state)
        row.addWidget(self.mode)
        self.offline = ElidedLabel(self)
        self.offline.setVisible(False)
        row.addWidget(self.offline)
        row.addWidget(self.facts, 1)
        self.twin = ElidedLabel(self)
        self.twin.setVisible(False)
        row.addWidget(self.twin, 1)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._show_facts)
        self._timer.start(EVERY_MS)
        self._show_facts()

    def show_loaded(self, loaded: Loaded | None) -> None:
        """The machine and mode of the model that is ready, or of none."""
        self.mode.setVisible(loaded is not None)
        if loaded is None:
            self._machine = ""
            self.mode.clear()
            self.show_parts({})
        else:
            self._machine = loaded.device_name
            if loaded.device == "cpu":
                self._machine += SEPARATOR + filled(self.tr("{count} threads"), count=loaded.threads)
            self.mode.setText(SEPARATOR + (self.tr("exact") if loaded.mode == "exact" else self.tr("fast")))
            self.mode.setToolTip(sentence(loaded.mode_notice))
            self.show_parts(loaded.taken)
        self._show_facts()

    def show_parts(self, taken: Mapping[str, int]) -> None:
        """What each part of the model takes, bytes by name, and what goes first where memory runs out."""
        names = {
            "target": self.tr("the model {size:.2f} GB"),
            "twin": self.tr("its low-bit copy {size:.2f} GB"),
            "heads": self.tr("the smaller model {size:.2f} GB"),
            "cache": self.tr("the context {size:.2f} GB"),
            "graphs": self.tr("graphs {size:.2f} GB"),
        }
        listed = ", ".join(filled(words, size=taken[name] / GB) for name, words in names.items() if name in taken)
        self._parts = f"{listed}\n{sentence(Notice('memory.order'))}" if listed else ""
        self._show_facts()

    def show_chat(self, chat: Chat) -> None:
        """What is going on in the chat, in a word."""
        last = chat.conversation.last
        reading = last.reply.prefill if last is not None and not last.reply.rounds else None
        if chat.is_loading:
            words = self.tr("loading")
        elif chat.is_stopping:
            words = self.tr("stopping")
        elif chat.is_writing and reading is not None and reading.total:
            words = filled(self.tr("reading {percent:.0f} %"), percent=100 * reading.done / reading.total)
        elif chat.is_writing:
            words = self.tr("writing")
        else:
            words = self.tr("no model") if chat.model is None else self.tr("ready")
        self.state.setText(words)

    def show_offline(self) -> None:
        """Whether the offline switch is on."""
        self.offline.setVisible(is_offline())
        self.offline.setText(SEPARATOR + self.tr("offline"))
        self.offline.setToolTip(self.tr("Nothing connects to the hub; models that are here can be used."))

    def show_twin(self, notice: Notice | None) -> None:
        """How far the making of the twin is, or that nothing is made."""
        self.twin.setVisible(notice is not None)
        text = sentence(notice) if notice is not None else ""
        self.twin.setText(text)
        self.twin.setToolTip(text)

    def _show_facts(self) -> None:
        used = self._process.memory_info().rss
        memory = filled(self.tr("{used:.1f} of {total:.0f} GB memory"), used=used / GB, total=self._total / GB)
        self.facts.setText(SEPARATOR + SEPARATOR.join(filter(None, (self._machine, memory))))
        self.facts.setToolTip("\n".join(filter(None, (self.facts.text(), self._parts))))
