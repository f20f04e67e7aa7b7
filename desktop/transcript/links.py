"""Opens an address outside, after asking. Nothing is opened that is not a web or mail address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMessageBox

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from PySide6.QtWidgets import QWidget

SCHEMES = ("http", "https", "mailto")
LONGEST_SHOWN = 500
translate = QCoreApplication.translate


def ask_to_open(url: QUrl, parent: QWidget) -> QMessageBox | None:
    """Ask whether to open an address; the question, or None for an address that is never opened."""
    if url.scheme() not in SCHEMES:
        return None
    whole = url.toString()
    shown = whole if len(whole) <= LONGEST_SHOWN else whole[:LONGEST_SHOWN] + "…"
    box = QMessageBox(parent)
    box.setObjectName("askToOpen")
    box.setWindowTitle(translate("links", "Open a link"))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(translate("links", "Open this address outside Borrador? The model wrote it."))
    box.setInformativeText(_breakable(shown))
    opening = box.addButton(translate("links", "Open"), QMessageBox.ButtonRole.AcceptRole)
    copying = box.addButton(translate("links", "Copy address"), QMessageBox.ButtonRole.ActionRole)
    cancelling = box.addButton(translate("links", "Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(cancelling)
    box.setEscapeButton(cancelling)
    opening.clicked.connect(lambda: QDesktopServices.openUrl(url))
    copying.clicked.connect(lambda: QGuiApplication.clipboard().setText(whole))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def _breakable(address: str) -> str:
    """With places where a long address can be broken."""
    return address.replace("/", "/\u200b").replace("&", "&\u200b").replace("?", "?\u200b")
