"""H25 and the disk: locked, full, read-only. Nothing is lost but what the disk refuses, and that only at the end."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop.history.opening import NAME
from desktop.store import Store
from tests.desktop.history.library import fill, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
CHILD = [sys.executable, "-m", "tests.desktop.history.disk_child"]
SOMEBODY = ["setpriv", "--reuid=65534", "--clear-groups"]


def tried(*command: str) -> list[tuple[str, str | None, int, bool]]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that another user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "IMMEDIATE"])
def test_h25_a_lock_held_by_another_process_delays_and_loses_nothing(tmp_path: Path, mode: str) -> None:
    store = Store(tmp_path)
    texts = fill(store, chats=2)
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
        other.execute(f"BEGIN {mode}")
        begun = time.perf_counter()
        more = fill(store, chats=1, turns=1, seed=3)
        assert time.perf_counter() - begun < 4  # where SQLite is left to wait, it waits for five
        assert store.is_behind
        assert store.trouble is not None
        assert store.trouble.kind == "locked"
        assert texts_in(store) == texts | more
        other.execute("COMMIT")
    assert store.retry()
    assert store.trouble is None
    store.close()
    assert texts_in(Store(tmp_path)) == texts | more


def test_h25_a_history_locked_from_the_start_comes_when_the_lock_goes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = fill(store, chats=2)
    store.close()
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("INSERT INTO about VALUES ('x', 'y')")
        begun = time.perf_counter()
        late = Store(tmp_path)
        assert time.perf_counter() - begun < 4  # where SQLite is left to wait, it waits for five
        assert late.trouble is not None
        assert late.trouble.kind == "locked"
        more = fill(late, chats=1, turns=1, seed=3)
        assert texts_in(late) == more
        assert not late.retry()
        other.execute("COMMIT")
    assert late.retry()
    assert texts_in(late) == texts | more
    late.close()
    assert texts_in(Store(tmp_path)) == texts | more


@pytest.mark.skipif(sys.platform == "win32", reason="modes of Unix")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_folder_or_file_that_cannot_be_written_is_read(shared: Path, what: str) -> None:
    store = Store(shared)
    count = len(fill(store, chats=2))
    if what == "folder":  # what is in the log must be seen, too
        for ending in ("", "-wal"):
            shutil.copy(shared / (NAME + ending), shared / ("kept" + ending))
        store.close()
        for ending in ("", "-wal"):
            (shared / ("kept" + ending)).replace(shared / (NAME + ending))
    else:
        store.close()
    before = (shared / NAME).read_bytes()
    somebody: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv")
        somebody = SOMEBODY
        if what == "file":
            shared.chmod(0o777)
    else:
        (shared if what == "folder" else shared / NAME).chmod(0o555 if what == "folder" else 0o444)
    told = tried(*somebody, *CHILD, str(shared), "found")
    assert told == [("opened", "unwritable", count, False), ("written", "unwritable", count + 2, True)]
    assert (shared / NAME).read_bytes() == before
    shared.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of Unix")
def test_a_file_that_cannot_be_read_is_left_alone(shared: Path) -> None:
    store = Store(shared)
    fill(store, chats=2)
    store.close()
    (shared / NAME).chmod(0)
    shared.chmod(0o777)
    before = len(list(shared.iterdir()))
    somebody = SOMEBODY if os.geteuid() == 0 else []
    if somebody and shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    told = tried(*somebody, *CHILD, str(shared), "write")
    assert [one[1] for one in told] == ["unreadable", "unreadable"]
    assert told[1][2:] == (2, True)
    assert len(list(shared.iterdir())) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a small disk is made by Linux' tmpfs")
def test_a_full_disk_keeps_what_is_there_and_takes_the_rest_when_there_is_room(shared: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root")
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(shared)]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    script = (
        f"mount -t tmpfs -o size=12m tmpfs {shared}"
        f" && dd if=/dev/zero of={shared}/ballast bs=1k count=11500 2>/dev/null && {' '.join(CHILD)} {shared} fill"
    )
    told = tried("unshare", "-m", "sh", "-c", script)
    assert told == [("opened", None, 0, False), ("filled", "full", 3200, True), ("with room", None, 3200, False)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a small disk is made by Linux' tmpfs")
def test_no_file_goes_out_in_part_onto_a_full_disk(shared: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root")
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(shared)]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    script = f"mount -t tmpfs -o size=8k tmpfs {shared} && QT_QPA_PLATFORM=offscreen {' '.join(CHILD)} {shared} export"
    told = tried("unshare", "-m", "sh", "-c", script)
    kinds = ("a.md", "a.html", "a.pdf", "a.json", "a.sqlite")
    assert told == [(name, "full", False, False) for name in kinds]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a small disk is made by Linux' tmpfs")
def test_a_disk_full_from_the_start_is_a_sentence(shared: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root")
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(shared)]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    script = (
        f"mount -t tmpfs -o size=64k tmpfs {shared} && dd if=/dev/zero of={shared}/ballast bs=1k 2>/dev/null;"
        f" {' '.join(CHILD)} {shared} write"
    )
    told = tried("unshare", "-m", "sh", "-c", script)
    assert [one[1] for one in told] == ["full", "full"]
    assert told[1][2:] == (2, True)
