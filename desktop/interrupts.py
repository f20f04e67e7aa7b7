"""SIGINT and SIGTERM wake Qt's loop through a socket, so that the window can close politely."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier

if TYPE_CHECKING:
    from collections.abc import Callable


class Interrupts(QObject):
    """While it lives, ``on_interrupt`` is called on the GUI thread for each of these signals.

    Python runs its signal handlers between two of its own instructions only, and Qt's loop waits outside of them;
    the wake-up descriptor makes the loop come back.
    """

    def __init__(self, on_interrupt: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: None)
        self._on_interrupt = on_interrupt
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_woken)

    def close(self) -> None:
        """Let go of the descriptor."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        self._read.close()
        self._write.close()

    def _on_woken(self) -> None:
        self._read.recv(64)
        self._on_interrupt()
