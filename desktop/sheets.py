"""What is opened beside the page or over it: the chats and the rounds. Also what a press of Esc puts away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from desktop.body import Body
    from desktop.header import Header
    from desktop.pages import Pages
    from desktop.sidebar.sidebar import Sidebar
    from desktop.speculation.panel import Panel


class Sheets(QObject):
    """Keeps ``body`` and the buttons of ``header`` as the user wants them, at the next start, too."""

    def __init__(
        self, body: Body, pages: Pages, header: Header, sidebar: Sidebar, panel: Panel, settings: QSettings
    ) -> None:
        super().__init__(body)
        self._body = body
        self._pages = pages
        self._header = header
        self._sidebar = sidebar
        self._panel = panel
        self._settings = settings
        body.want_side(str(settings.value("chats_shown", True)).lower() != "false")
        body.side_shown.connect(self._on_side_shown)

    def toggle_panel(self) -> None:
        """Open or close the rounds."""
        self._pages.go_back()
        self._show_panel(self._panel.isHidden())

    def toggle_side(self) -> None:
        """Open or close the chats."""
        is_chat = self._pages.is_chat
        self._pages.go_back()
        self._body.show_side(self._sidebar.isHidden() or not is_chat)

    def search(self) -> None:
        """Search the chats."""
        self._pages.go_back()
        self._body.show_side(True)
        self._sidebar.begin_search()

    def uncover(self) -> None:
        """Close the chats where they cover the page."""
        if self._body.is_side_sheet:
            self._body.show_side(False)

    def put_away(self) -> None:
        """Close what covers the page, one at a time."""
        if self._body.is_side_sheet and not self._sidebar.isHidden():
            self._body.show_side(False)
        elif self._body.is_sheet:
            self._show_panel(False)

    def _show_panel(self, is_shown: bool) -> None:
        self._body.show_panel(is_shown)
        self._header.rounds.setChecked(is_shown)

    def _on_side_shown(self, is_shown: bool) -> None:
        self._header.chats.setChecked(is_shown)
        if not self._body.is_side_sheet:
            self._settings.setValue("chats_shown", is_shown)
