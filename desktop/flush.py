"""When what was written is shown: soon, but the longer showing takes, the longer until the next time. Knows no text."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable

SOON_MS = 25
SLOWEST_MS = 250
SHARE_OF_TIME = 4
"""Showing text may take at most one part in so many of the window's time."""


class Flush(QObject):
    """Calls ``show`` some time after it was wanted, once for all wishes since."""

    def __init__(self, show: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SOON_MS)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def is_waiting(self) -> bool:
        """Whether something will be shown."""
        return self._timer.isActive()

    def want(self) -> None:
        """There is something to show."""
        if not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """Nothing of what was wanted is to be shown."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        begun = perf_counter()
        self._show()
        spent_ms = 1000 * (perf_counter() - begun)
        self._timer.setInterval(round(min(SLOWEST_MS, max(SOON_MS, SHARE_OF_TIME * spent_ms))))
