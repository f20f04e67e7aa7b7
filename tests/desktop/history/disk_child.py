"""Opens the history of a folder and writes into it; prints what came of that. For disks full or read-only."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from desktop.exchange.writing import exported
from desktop.history.backup import saved
from desktop.history.trouble import kind_of
from desktop.store import Store, Unavailable
from tests.desktop.history.library import fill, texts_in

folder, what = Path(sys.argv[1]), sys.argv[2]
store = Store(Path(tempfile.mkdtemp()) if what == "export" else folder)
told: list[list[object]] = []


def tell(name: str) -> None:
    trouble = store.trouble
    try:
        count = len(texts_in(store))
    except Unavailable:
        count = -1
    told.append([name, trouble.kind if trouble else None, count, store.is_behind])


def export() -> None:
    """Each kind of file, of a history that lies elsewhere, into the folder."""
    fill(store, chats=4, turns=30, seed=2)
    app = QGuiApplication([])
    chats = list(store.chats)
    for name in ("a.md", "a.html", "a.pdf", "a.json", "a.sqlite"):
        path = folder / name
        kind = None
        try:
            for _ in saved(store, path) if name == "a.sqlite" else exported(store, chats[:1], path):
                pass
        except Exception as error:
            kind = kind_of(error)
        told.append([name, kind, path.exists(), path.with_name(name + ".part").exists()])
    app.quit()


if what != "export":
    tell("opened")
if what == "export":
    export()
elif what == "fill":
    fill(store, chats=40, turns=40, seed=2)
    tell("filled")
    (folder / "ballast").unlink()
    store.retry()
    tell("with room")
else:
    fill(store, chats=1, turns=1, seed=2)
    tell("written")
    if what == "found":
        assert store.search("user")
store.close()
print(json.dumps(told))  # noqa: T201
