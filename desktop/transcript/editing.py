"""An edit of the page that leaves the reader where they are. Knows nothing of what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor

from desktop.transcript.selection import KeptSelection

if TYPE_CHECKING:
    from desktop.transcript.passage import Stretch
    from desktop.transcript.view import Transcript


class Edit:
    """One edit block at the end of the document; what the reader has selected stays selected.

    ``stretch`` is what will be laid out anew, if anything is.
    """

    def __init__(self, view: Transcript, stretch: Stretch | None = None) -> None:
        self._view = view
        self._cursor = QTextCursor(view.document())
        self._selection = KeptSelection(view, stretch)

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


class EditWithin:
    """One edit block anywhere: what stands at the top of the visible part stays there, or the end if that is followed.

    With ``keeps`` the block at that position stays where it is instead.
    """

    def __init__(self, view: Transcript, keeps: int | None = None) -> None:
        self._view = view
        self._cursor = QTextCursor(view.document())
        self._kept = view.cursorForPosition(QPoint(view.viewport().width() // 2, 1))
        if keeps is not None:
            self._kept = QTextCursor(view.document())
            self._kept.setPosition(keeps)

    def __enter__(self) -> QTextCursor:
        self._was_following = self._view.is_following
        self._rest = self._view.scroll_rest
        self._above = self._top() - self._view.verticalScrollBar().value()
        self._cursor.beginEditBlock()
        return self._cursor

    def __exit__(self, *_: object) -> None:
        self._cursor.endEditBlock()
        if self._was_following:
            self._view.follow()
        else:
            target = self._top() - self._above + self._rest
            self._view.verticalScrollBar().setValue(round(target))
            self._view.scroll_rest = target - round(target)

    def _top(self) -> float:
        return self._view.document().documentLayout().blockBoundingRect(self._kept.block()).top()
