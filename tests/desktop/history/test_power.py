"""Power fails at any moment: what was stored to last is there, and the file is sound.

The disk is played: of what was not forced onto it (fsync) any part may be missing or torn, of the rest nothing is. The
forced length of the log is noted with each lasting write; database pages may be old or new while the log is copied in.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from desktop.history.opening import NAME
from desktop.history.records import ChatRecord, MessageRecord
from desktop.store import Store
from tests.desktop.history.library import texts_in

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


class Disk:
    """A store, and the images of it that a power cut could leave."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder = folder
        self.dice = dice
        self.store = Store(folder)
        self.lasting: dict[int, str] = {}
        self.forced = b""
        self.chat = ChatRecord(self.store.new_id(), "Chat", time.time(), time.time())
        assert self.store.put(self.chat)
        self.write(is_lasting=True)

    @property
    def log(self) -> bytes:
        """The write-ahead log as it is now."""
        path = self.folder / f"{NAME}-wal"
        return path.read_bytes() if path.exists() else b""

    def write(self, *, is_lasting: bool) -> None:
        """A new message, or more of the newest, as a reply that grows."""
        words = " ".join(f"word{self.dice.randrange(999)}" for _ in range(self.dice.randrange(3, 400)))
        now = time.time()
        one = MessageRecord(self.store.new_id(), self.chat.id, None, "user", words, now)
        assert self.store.put(one, is_lasting=is_lasting)
        if is_lasting:
            self.lasting = texts_in(self.store)
            self.forced = self.log

    def image(self, folder: Path, database: bytes, log: bytes) -> None:
        """Start the program on what is left, and look at it."""
        folder.mkdir(parents=True)
        (folder / NAME).write_bytes(database)
        (folder / f"{NAME}-wal").write_bytes(log)
        store = Store(folder)
        assert store.trouble is None
        assert store.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = texts_in(store)
        assert self.lasting.items() <= found.items()
        assert found.items() <= texts_in(self.store).items()
        store.connection.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        store.close()
        assert not list(folder.glob("*damaged*"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_h03_what_was_stored_to_last_outlives_a_power_cut(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    disk = Disk(tmp_path / "disk", dice)
    for number in range(40):
        disk.write(is_lasting=dice.random() < 0.4)
        log = disk.log
        assert log.startswith(disk.forced[:32]), "the log was begun anew; write less"
        if number % 2:
            continue
        database = (disk.folder / NAME).read_bytes()
        cut = dice.randint(len(disk.forced), len(log))
        torn = bytes(dice.randrange(256) for _ in range(dice.choice((0, 7, 100)))) if cut < len(log) else b""
        gone = b"\0" * dice.choice((0, 24, PAGE)) if cut < len(log) else b""
        disk.image(tmp_path / f"{number}", database, log[:cut] + torn + gone)
    disk.store.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_h03_power_cut_while_the_log_is_copied_into_the_database(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    disk = Disk(tmp_path / "disk", dice)
    for number in range(12):
        for _ in range(6):
            disk.write(is_lasting=True)
        before, log = (disk.folder / NAME).read_bytes(), disk.log
        disk.store.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        after = (disk.folder / NAME).read_bytes()
        assert disk.log == log
        for place in range(3):
            pages = [
                (after if dice.random() < 0.5 else before)[at : at + PAGE].ljust(PAGE, b"\0")
                for at in range(0, len(after), PAGE)
            ]
            if place == 0 and len(before) < len(after):
                pages = pages[: len(before) // PAGE + dice.randrange(2)]
            disk.image(tmp_path / f"{number}-{place}", b"".join(pages), log)
    disk.store.close()


def test_lasting_writes_are_forced_onto_the_disk_and_growing_ones_are_not(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk", random.Random(1))
    for is_lasting, level in ((True, 2), (False, 1), (True, 2)):
        disk.write(is_lasting=is_lasting)
        assert disk.store.connection.execute("PRAGMA synchronous").fetchone() == (level,)
    disk.store.close()
