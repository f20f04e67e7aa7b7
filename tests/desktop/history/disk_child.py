"""Opens the history of a folder and writes into it; prints what came of that. For disks full or read-only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from desktop.store import Store, Unavailable
from tests.desktop.history.library import fill, texts_in

folder, what = Path(sys.argv[1]), sys.argv[2]
store = Store(folder)
told = []


def tell(name: str) -> None:
    trouble = store.trouble
    try:
        count = len(texts_in(store))
    except Unavailable:
        count = -1
    told.append([name, trouble.kind if trouble else None, count, store.is_behind])


tell("opened")
if what == "fill":
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
