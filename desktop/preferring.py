"""The user's preferences: shown to be changed, kept, and told to the parts that go by them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.settings import preferences as stored
from desktop.settings.cards import cards

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QWidget

    from desktop.models.shelf import Shelf
    from desktop.settings.chat_settings import ChatSettings
    from desktop.settings.preferences import Preferences


class Preferring(QObject):
    """``current`` are the preferences now; ``resized`` comes when text is wanted in another size."""

    resized = Signal()

    def __init__(self, settings: QSettings, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._window = window
        self.current: Preferences = stored.read(settings)

    def usual(self) -> ChatSettings:
        """The settings of chats that have none of their own."""
        return self.current.usual

    def ask(self, shelf: Shelf, thinking: tuple[str, ...]) -> None:
        """Let the user change them; ``thinking`` are the levels that the model at hand knows."""
        from desktop.settings.dialog import SettingsDialog

        network = shelf.network_group()
        dialog = SettingsDialog(
            self.current, self._settings, self._window, thinking=thinking, network=network, cards=cards()
        )
        dialog.accepted.connect(lambda: self.keep(dialog.chosen()))
        dialog.accepted.connect(lambda: shelf.keep_network(network.network()))
        dialog.open()

    def keep(self, preferences: Preferences) -> None:
        """Go by these from now on, and at the next start."""
        is_other_size = preferences.text_size != self.current.text_size
        self.current = preferences
        stored.write(self._settings, preferences)
        if is_other_size:
            self.resized.emit()

    def keep_usual(self, usual: ChatSettings) -> None:
        """Other settings for chats that have none of their own."""
        self.keep(replace(self.current, usual=usual))
