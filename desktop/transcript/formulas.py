"""Formulas drawn by ziamath, one after the other beside the window's own work, and kept. Knows nothing of documents.

A formula takes 1 to 20 ms of plain Python, so it is drawn in a thread of its own that ends when there is nothing left
to draw: on the window's thread, every second formula would hold up a frame.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, Qt, Signal

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

LONGEST = 2_000
"""A longer formula is shown as its source."""
MOST_KEPT = 2_000
UNIT = 100
"""The size in which formulas are drawn, before they are scaled."""
AIR = 8
"""So much of it is left free around a formula."""
INK = "#010203"
"""The colour in which they are drawn; it is replaced by that of the text."""
_FIRST_TAG = re.compile(r"<svg[^>]*>")
_VIEW_BOX = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')
_UNKNOWN = re.compile(r"\\[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG, one unit high letters; ``ascent`` lies above the line of the text, ``descent`` below."""

    svg: str
    width: float
    ascent: float
    descent: float


def draw(tex: str, *, is_display: bool) -> Drawing | None:
    """The drawing of a formula; None for what cannot be drawn."""
    if len(tex) > LONGEST:
        return None
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # Qt paints no symbols

    try:
        style = None if is_display else "textstyle"
        math = Latex(tex, size=UNIT, mathstyle=style, color=INK, inline=not is_display)
        svg = str(math.svg())
        known = str(math.mathmlstr())
    except Exception:  # whatever the libraries make of a text that a model wrote
        return None
    tag = _FIRST_TAG.search(svg)
    box = _VIEW_BOX.search(tag[0]) if tag else None
    if box is None or "<image" in svg or _UNKNOWN.search(known):
        return None
    left, top, width, height = (float(value) for value in box.groups())
    if not (0 < width < 100 * UNIT and 0 < height < 100 * UNIT):
        return None
    # The box is that of the letters' lines; some strokes reach beyond it, and what lies outside is not painted.
    left, top, width, height = left - AIR, top - AIR, width + 2 * AIR, height + 2 * AIR
    svg = svg.replace(box[0], f'viewBox="{left} {top} {width} {height}"', 1)
    return Drawing(svg, width / UNIT, -top / UNIT, (height + top) / UNIT)


class Formulas(QObject):
    """``drawn`` comes on the window's thread with each formula that was asked for: its TeX, and whether it is apart."""

    drawn = Signal(str, bool)
    _done = Signal(str, bool, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[tuple[str, bool], Drawing | None] = {}
        self._asked: set[tuple[str, bool]] = set()
        self._queue: SimpleQueue[tuple[str, bool]] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_drawing = False
        self._renderers: dict[tuple[str, bool, str], QSvgRenderer] = {}
        self._done.connect(self._on_done, Qt.ConnectionType.QueuedConnection)

    def find(self, tex: str, is_display: bool) -> tuple[bool, Drawing | None]:
        """Whether it is known how the formula looks, and its drawing, None where there cannot be one."""
        key = (tex, is_display)
        if key in self._known:
            return True, self._known[key]
        if key not in self._asked:
            self._asked.add(key)
            self._queue.put(key)
            with self._lock:
                is_idle, self._is_drawing = not self._is_drawing, True
            if is_idle:
                threading.Thread(target=self._draw_all, name="formulas", daemon=True).start()
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

    def _draw_all(self) -> None:
        """Runs in the thread, until nothing is left."""
        while True:
            try:
                tex, is_display = self._queue.get_nowait()
            except Empty:
                with self._lock:
                    if self._queue.empty():
                        self._is_drawing = False
                        return
                continue
            drawing = draw(tex, is_display=is_display)
            try:
                self._done.emit(tex, is_display, drawing)
            except RuntimeError:  # the page is gone
                return

    def _on_done(self, tex: str, is_display: bool, drawing: Drawing | None) -> None:
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
            self._renderers.clear()
        self._known[tex, is_display] = drawing
        self._asked.discard((tex, is_display))
        self.drawn.emit(tex, is_display)
