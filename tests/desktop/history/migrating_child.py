"""Opens a history and is killed at the n-th statement that the migration runs."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.history import opening

if TYPE_CHECKING:
    import sqlite3

folder, fatal = Path(sys.argv[1]), int(sys.argv[2])
count = 0


def on_statement(statement: str) -> None:
    global count
    count += 1
    if count == fatal:
        os.kill(os.getpid(), signal.SIGKILL)


real = opening.bring_up_to_date


def watched(connection: sqlite3.Connection) -> None:
    connection.set_trace_callback(on_statement)
    real(connection)
    connection.set_trace_callback(None)


opening.bring_up_to_date = watched  # type: ignore[assignment]
opened = opening.open_history(folder)
assert opened.connection is not None
opened.connection.close()
print(count)  # noqa: T201
