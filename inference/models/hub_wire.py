"""Two watches on the hub client's connections: one breaks a line that only trickles, one counts down a busy hub's wait.

Both hang on what the client offers (its session's hooks, its log). They know no files.
"""

from __future__ import annotations

import importlib
import logging
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import huggingface_hub

from inference.models.hub_errors import TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_SPEED = 1000
"""Bytes per second below which a connection is given up and made anew."""
PATIENCE = 30.0
"""Seconds over which that is measured. A line that brings nothing at all the client ends itself, after ten."""

_HTTP: Any = importlib.import_module(TRANSPORT.__module__.partition(".")[0])
"""The library the client is built on: httpx2 since its version 2, httpx before."""


class Stalled(TRANSPORT):  # type: ignore[misc, valid-type]
    """A connection brought next to nothing for too long."""


class AskedToWait(Exception):
    """A busy hub asked to wait so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(str(seconds))
        self.seconds = seconds


@contextmanager
def watched() -> Iterator[None]:
    """Watch every connection and every wait of the client's present session; the client is as before afterwards.

    Only who catches :class:`AskedToWait` may ask inside it.
    """
    client: Any = huggingface_hub.get_session()
    hooks = client.event_hooks
    log = logging.getLogger("huggingface_hub")
    waits = _Waits(logging.WARNING)
    client.event_hooks = {**hooks, "response": [*hooks["response"], _watch]}
    log.addHandler(waits)
    try:
        yield
    finally:
        log.removeHandler(waits)
        client.event_hooks = hooks


def _watch(response: Any) -> None:
    response.stream = _Watched(response.stream)


class _Watched(_HTTP.SyncByteStream):  # type: ignore[misc]
    """A body that is given up when it trickles."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        begun, brought = time.monotonic(), 0
        for piece in self._stream:
            brought += len(piece)
            now = time.monotonic()
            if now - begun > PATIENCE:
                if brought < LEAST_SPEED * (now - begun):
                    raise Stalled("the line stood still")
                begun, brought = now, 0
            yield piece

    def close(self) -> None:
        self._stream.close()


class _Waits(logging.Handler):
    """WORKAROUND: during a file the client (2.4) sits out a 429 in silence, however long, and tells only its log.

    Raised out of the log, the wait is taken over by whoever asked for the file, who can show it.
    """

    def emit(self, record: logging.LogRecord) -> None:
        if match := re.search(r"Rate limited\. Waiting ([\d.]+)s", record.getMessage()):
            raise AskedToWait(round(float(match[1])))
