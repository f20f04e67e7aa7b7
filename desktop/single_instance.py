"""One window for each history: a second start of the program asks the first to show its window, and ends.

Works over a local socket that only the same user can open, named after the folder of the history.
"""

from __future__ import annotations

import getpass
import hashlib
import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_MS = 2000
SHOW, SHOWN = b"show\n", b"shown\n"


class SingleInstance(QObject):
    """``asked`` comes when another start wants the window to be seen."""

    asked = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
        who = hashlib.sha256(f"{user}\0{folder.absolute()}".encode("utf-8", "surrogateescape"))
        self._name = f"borrador-{who.hexdigest()[:24]}"
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def is_first(self) -> bool:
        """Whether no other one runs. If one does, its window is shown, or at least asked for."""
        if self._has_answer():
            return False
        if not self._server.listen(self._name) and not self._has_answer():
            QLocalServer.removeServer(self._name)  # left over by one that was killed
            self._server.listen(self._name)
        return self._server.isListening() or not self._has_answer()

    def close(self) -> None:
        """Let another one be the first."""
        self._server.close()

    def _has_answer(self) -> bool:
        """Ask the one that runs to show its window; False where none runs."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(PATIENCE_MS // 4):
            return False
        socket.write(SHOW)
        socket.waitForBytesWritten(PATIENCE_MS)
        socket.waitForReadyRead(PATIENCE_MS)
        socket.disconnectFromServer()
        return True

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(lambda one=socket: self._on_message(one))
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._on_message(socket)

    def _on_message(self, socket: QLocalSocket) -> None:
        if socket.canReadLine() and socket.readLine().data() == SHOW:
            socket.write(SHOWN)
            socket.flush()
            self.asked.emit()
