"""What fills the window under the header: the chat, or one of the pages that are made when first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable


class Pages(QStackedWidget):
    """The first page is the chat."""

    def __init__(self, chat: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self._made: dict[str, QWidget] = {}
        self.addWidget(chat)

    @property
    def is_chat(self) -> bool:
        """Whether the chat is shown."""
        return self.currentIndex() == 0

    def offer(self, name: str, make: Callable[[], QWidget]) -> None:
        """A page that can be gone to."""
        self._makers[name] = make

    def page(self, name: str) -> QWidget:
        """A page that was offered; it is made when this is first asked for."""
        if name not in self._made:
            self._made[name] = self._makers[name]()
            self.addWidget(self._made[name])
        return self._made[name]

    def made(self, name: str) -> QWidget | None:
        """A page if it was made already."""
        return self._made.get(name)

    def go(self, name: str) -> None:
        """Show a page."""
        self.setCurrentWidget(self.page(name))

    def go_back(self) -> None:
        """Show the chat."""
        self.setCurrentIndex(0)
