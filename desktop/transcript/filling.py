"""Lays the rest of a long chat out in small steps while nothing else is to be done. Knows no text.

A step is short, so that a key or a wheel is answered between two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_MS = 15
BUSY_MS = 400
"""How long to wait before asking again while a reply is being written."""


class Filling(QObject):
    """Calls ``step`` until it answers that nothing is left; ``may_go_on`` is asked before each."""

    def __init__(self, step: Callable[[], bool], may_go_on: Callable[[], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._step = step
        self._may_go_on = may_go_on
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def is_going_on(self) -> bool:
        """Whether there is more to come."""
        return self._timer.isActive()

    def begin(self) -> None:
        """There is something to lay out."""
        if not self._timer.isActive():
            self._timer.start(PAUSE_MS)

    def stop(self) -> None:
        """Nothing more."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        if not self._may_go_on():
            self._timer.start(BUSY_MS)
        elif self._step():
            self._timer.start(PAUSE_MS)
