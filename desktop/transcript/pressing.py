"""What happens at a press on a word of the page: a command is told, a fold opens, code is copied, a link asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from desktop.plain_text import storable
from desktop.transcript.actions import SCHEME, read
from desktop.transcript.code import code_at
from desktop.transcript.editing import EditWithin
from desktop.transcript.links import ask_to_open

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl

    from desktop.transcript.marks import Marks
    from desktop.transcript.sheet import Sheet
    from desktop.transcript.view import Transcript


class Pressing:
    """Tells what was pressed by the signals of ``view``; ``press`` is for its links."""

    def __init__(self, view: Transcript, sheet: Sheet, marks: Marks) -> None:
        self._view = view
        self._sheet = sheet
        self._marks = marks

    def press(self, url: QUrl) -> None:
        """A word or a link was pressed."""
        if url.scheme() != SCHEME:
            ask_to_open(url, self._view)
            return
        view = self._view
        name, number, step = read(url)
        if name == "copy":
            view.copy_requested.emit(number)
        elif name == "again":
            view.again_requested.emit(number)
        elif name == "continue":
            view.continue_requested.emit()
        elif name == "edit":
            view.edit_requested.emit(number)
        elif name in ("branch", "fork"):
            view.branch_requested.emit(number, name == "fork")
        elif name == "figures":
            view.figures_requested.emit(number)
        elif name == "both":
            view.both_requested.emit(number)
        elif name == "earlier":
            view.show_earlier()
        elif name == "whole":
            view.show_whole(number)
        elif name == "thought":
            self._fold(number)
        elif name == "code":
            self._copy_code(number, step)
        elif name in ("question", "reply"):
            view.version_requested.emit(number, step, name == "question")

    def _fold(self, number: int) -> None:
        passage = self._sheet.passage_of(number)
        if passage is not None:
            with EditWithin(self._view, passage.start):
                self._sheet.fold(number)
            self._marks.show()

    def _copy_code(self, number: int, start: int) -> None:
        passage = self._sheet.passage_of(number)
        if passage is not None:
            QGuiApplication.clipboard().setText(storable(code_at(passage.reply.wide, start)))
