"""The models page: three lists under one head. It only places them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QTabWidget, QToolButton, QVBoxLayout, QWidget

from desktop.icons import icon

if TYPE_CHECKING:
    from desktop.models.discover import Discover
    from desktop.models.downloads import Downloads
    from desktop.models.installed import Installed
    from desktop.palette import Palette


class ModelsPage(QWidget):
    """``back_wanted`` goes to the chat."""

    back_wanted = Signal()

    def __init__(
        self,
        installed: Installed,
        discover: Discover,
        downloads: Downloads,
        palette: Palette,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("models")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.installed, self.discover, self.downloads = installed, discover, downloads
        self.back = QToolButton(self)
        self.back.setAccessibleName(self.tr("Back to the chat"))
        self.back.setToolTip(self.tr("Back to the chat (Esc)"))
        self.back.clicked.connect(self.back_wanted)
        self.title = QLabel(self.tr("Models"), self)
        self.title.setObjectName("heading")
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        self.said.setWordWrap(True)
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setContentsMargins(16, 0, 16, 4)
        self.said.hide()
        self.tabs = QTabWidget(self)
        self.tabs.setObjectName("tabs")
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setAccessibleName(self.tr("Models"))
        self.tabs.tabBar().setExpanding(False)
        self.tabs.tabBar().setDrawBase(False)
        for one, words in (
            (installed, self.tr("Installed")),
            (discover, self.tr("Discover")),
            (downloads, self.tr("Downloads")),
        ):
            self.tabs.addTab(one, words)
        downloads.changed.connect(self._show_count)
        head = QFrame(self)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 8, 16, 4)
        row.setSpacing(8)
        row.addWidget(self.back)
        row.addWidget(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self.said)
        column.addWidget(self.tabs, 1)
        self.apply_palette(palette)

    def show_tab(self, tab: QWidget) -> None:
        """Go to a list, with the focus where work begins."""
        self.tabs.setCurrentWidget(tab)
        if tab is self.discover:
            self.discover.field.setFocus()
        elif not (self.installed if tab is self.installed else self.downloads).rows.focus_first():
            self.tabs.tabBar().setFocus()

    def say(self, words: str) -> None:
        """A sentence under the head: what was done, or why not."""
        self.said.setText(words)
        self.said.setVisible(bool(words))

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.back.setIcon(icon("chevron-left", palette.text))
        for part in (self.installed, self.discover, self.downloads.rows):
            part.apply_palette(palette)

    def _show_count(self, count: int) -> None:
        words = self.tr("Downloads")
        self.tabs.setTabText(self.tabs.indexOf(self.downloads), f"{words} ({count})" if count else words)
