"""An edit at the end of the page that leaves the reader where they are. Knows nothing of what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from desktop.transcript.selection import KeptSelection

if TYPE_CHECKING:
    from desktop.transcript.passage import Passage
    from desktop.transcript.view import Transcript


class Edit:
    """One edit block at the end of the document; what the reader has selected stays selected."""

    def __init__(self, view: Transcript, passage: Passage | None = None) -> None:
        self._view = view
        self._cursor = QTextCursor(view.document())
        self._selection = KeptSelection(view, passage)

    def __enter__(self) -> QTextCursor:
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._cursor.beginEditBlock()
        return self._cursor

    def __exit__(self, *_: object) -> None:
        view = self._view
        bar = view.verticalScrollBar()
        was_following, value = view.is_following, bar.value()
        self._cursor.endEditBlock()
        self._selection.restore()  # Qt scrolls to the caret it is given
        if was_following:
            view.follow()
        else:
            bar.setValue(value)
