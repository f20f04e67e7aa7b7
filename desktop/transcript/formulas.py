"""Formulas drawn by a process beside the window, one after the other, and kept. Knows nothing of documents.

A formula takes 1 to 20 ms of plain Python: on the window's thread every second one would hold up a frame.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, Signal

from desktop.transcript.beside import Beside
from desktop.transcript.drawing import INK, Drawing

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

MOST_KEPT = 2_000
Key = tuple[str, bool]


class Formulas(QObject):
    """``drawn`` comes with each formula that was asked for: its TeX, and whether it stands by itself."""

    drawn = Signal(str, bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Key, Drawing | None] = {}
        self._asked: deque[Key] = deque()
        self._renderers: dict[tuple[str, bool, str], QSvgRenderer] = {}
        self._beside = Beside("desktop.transcript.drawing", parent)
        self._beside.answered.connect(self._on_answered)

    @property
    def is_drawing(self) -> bool:
        """Whether formulas are still awaited."""
        return self._beside.is_busy

    def find(self, tex: str, is_display: bool) -> tuple[bool, Drawing | None]:
        """Whether it is known how the formula looks, and its drawing, None where there cannot be one."""
        key = (tex, is_display)
        if key in self._known:
            return True, self._known[key]
        if key not in self._asked:
            self._asked.append(key)
            self._beside.ask(key)
        return False, None

    def renderer(self, tex: str, is_display: bool, colour: str) -> QSvgRenderer | None:
        """What paints a formula that is known in a colour."""
        from PySide6.QtSvg import QSvgRenderer

        key = (tex, is_display, colour)
        if key not in self._renderers:
            drawing = self._known.get((tex, is_display))
            if drawing is None:
                return None
            if len(self._renderers) >= MOST_KEPT:
                self._renderers.clear()
            self._renderers[key] = QSvgRenderer(QByteArray(drawing.svg.replace(INK, colour).encode()))
        return self._renderers[key]

    def _on_answered(self, answer: dict[str, object] | None) -> None:
        key = self._asked.popleft()
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
            self._renderers.clear()
        self._known[key] = None if answer is None else Drawing(**answer)  # type: ignore[arg-type]
        self.drawn.emit(*key)
