"""H27: a damaged file never stops the program; it is kept aside, and what can be read of it comes back."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from desktop.history.backup import saved
from desktop.history.log import is_torn, mended
from desktop.history.opening import BACKUPS, NAME
from desktop.store import Store
from tests.desktop.history.library import fill, texts_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sound(tmp_path: Path) -> tuple[Path, dict[int, str]]:
    store = Store(tmp_path)
    texts = fill(store)
    store.close()
    return tmp_path, texts


def damaged_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("history-damaged-*.sqlite"))


def check_usable(store: Store, folder: Path) -> None:
    """The store takes more, finds it, and is sound after a restart."""
    before = texts_in(store)
    more = fill(store, chats=1, turns=1, seed=77)
    assert not store.is_behind
    assert store.search("user 0 0")
    store.close()
    again = Store(folder)
    assert again.trouble is None
    assert texts_in(again) == before | more
    assert again.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    again.close()


@pytest.mark.parametrize("seed", range(20))
def test_h27_twenty_bytes_flipped(sound: tuple[Path, dict[int, str]], seed: int) -> None:
    folder, texts = sound
    path = folder / NAME
    data = bytearray(path.read_bytes())
    dice = random.Random(seed)
    places = [dice.randrange(100), *(dice.randrange(len(data)) for _ in range(19))]
    for place in places:
        data[place] ^= dice.randrange(1, 256)
    path.write_bytes(data)
    store = Store(folder)
    read = texts_in(store)
    assert sum(1 for one in texts if read.get(one) != texts[one]) <= 20
    if store.trouble is not None:
        assert store.trouble.kind == "damaged"
        assert store.trouble.is_over
        assert [one.read_bytes() for one in damaged_files(folder)] == [bytes(data)]
    check_usable(store, folder)


@pytest.mark.parametrize("at", [0, 17, 18, 19, 24, 28, 40, 47, 59, 63, 99, 100, 105, 4096, 4101])
def test_h27_one_byte_of_the_header_loses_nothing(sound: tuple[Path, dict[int, str]], at: int) -> None:
    folder, texts = sound
    path = folder / NAME
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)
    store = Store(folder)
    read = texts_in(store)
    assert {one: read.get(one) for one in texts} == texts
    check_usable(store, folder)


def test_h27_an_overwritten_page_loses_only_itself(sound: tuple[Path, dict[int, str]]) -> None:
    folder, texts = sound
    path = folder / NAME
    data = bytearray(path.read_bytes())
    at = data.index(next(iter(texts.values()))[:20].encode()) // 4096 * 4096
    data[at : at + 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)
    store = Store(folder)
    assert store.trouble is not None
    assert len(texts_in(store)) > len(texts) - 30
    check_usable(store, folder)


@pytest.mark.parametrize("content", [b"", b"this is not a database\n" * 400, b"\0" * 8192])
def test_h27_a_file_with_nothing_in_it_is_filled_from_the_newest_backup(
    sound: tuple[Path, dict[int, str]], content: bytes
) -> None:
    folder, texts = sound
    store = Store(folder)
    (folder / BACKUPS).mkdir()
    for _ in saved(store, folder / BACKUPS / "history-daily-1.sqlite"):
        pass
    store.close()
    (folder / NAME).write_bytes(content)
    store = Store(folder)
    assert store.trouble is not None
    assert store.trouble.kind == ("damaged" if content else "emptied")
    assert store.trouble.values["count"] == len(texts)
    assert texts_in(store) == texts
    assert len(damaged_files(folder)) == 1
    check_usable(store, folder)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_h27_a_truncated_file(sound: tuple[Path, dict[int, str]], share: float) -> None:
    folder, texts = sound
    path = folder / NAME
    data = path.read_bytes()
    path.write_bytes(data[: round(len(data) * share)])
    store = Store(folder)
    read = texts_in(store)
    assert read.items() <= texts.items()
    if share == 0.9:
        assert len(read) > 0.8 * len(texts)
    check_usable(store, folder)


def test_h27_without_its_log_the_file_opens(sound: tuple[Path, dict[int, str]]) -> None:
    folder, texts = sound
    store = Store(folder)
    fill(store, seed=5)
    (folder / (NAME + "-wal")).unlink()
    store.close()
    store = Store(folder)
    assert texts.items() <= texts_in(store).items()
    check_usable(store, folder)


def test_h27_damage_found_while_running_is_put_right_and_nothing_new_is_lost(
    sound: tuple[Path, dict[int, str]],
) -> None:
    folder, texts = sound
    store = Store(folder)
    store.connection.execute("PRAGMA cache_size = 0")
    path = folder / NAME
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at] = 0x77
    path.write_bytes(data)
    more = fill(store, chats=2, turns=1, seed=6)
    assert texts_in(store) == texts | more
    assert store.trouble is not None
    assert store.trouble.is_over
    check_usable(store, folder)


def test_h27_a_log_not_yet_written_back_is_read_too(sound: tuple[Path, dict[int, str]], tmp_path: Path) -> None:
    folder, texts = sound
    store = Store(folder)
    more = fill(store, chats=2, turns=2, seed=8)
    goal = tmp_path / "copy"
    goal.mkdir()
    for ending in ("", "-wal"):
        (goal / (NAME + ending)).write_bytes((folder / (NAME + ending)).read_bytes())
    store.close()
    data = bytearray((goal / NAME).read_bytes())
    data[:16] = b"X" * 16
    (goal / NAME).write_bytes(data)
    store = Store(goal)
    assert texts_in(store) == texts | more
    check_usable(store, goal)


@pytest.mark.parametrize("seed", range(20))
def test_h27_bytes_flipped_in_the_log_of_a_killed_program(tmp_path: Path, seed: int) -> None:
    store = Store(tmp_path / "one")
    texts = fill(store)
    shutil.copytree(tmp_path / "one", tmp_path / "killed")
    store.close()
    folder = tmp_path / "killed"
    (folder / f"{NAME}-shm").unlink()
    path = folder / f"{NAME}-wal"
    data = bytearray(path.read_bytes())
    assert len(data) > 100_000
    dice = random.Random(seed)
    flips = 1 + seed % 3
    for _ in range(flips):
        data[dice.randrange(32) if seed < 5 else dice.randrange(len(data) - 5000)] ^= dice.randrange(1, 256)
    path.write_bytes(data)
    store = Store(folder)
    read = texts_in(store)
    assert sum(read.get(one) != words for one, words in texts.items()) <= flips
    assert store.trouble is not None
    assert (store.trouble.kind, store.trouble.is_over) == ("damaged", True)
    (aside,) = damaged_files(folder)
    assert aside.with_name(aside.name + "-wal").read_bytes() == bytes(data)
    check_usable(store, folder)


def test_a_log_that_is_as_it_was_written_is_left_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in range(3):
        fill(store, chats=3, seed=seed)
        sound = (tmp_path / f"{NAME}-wal").read_bytes()
        assert not is_torn(sound)
        assert sound.startswith(mended(sound))
        assert len(mended(sound)) > 20_000
        for cut in (0, 20, 31, 32, 100, 4000, len(sound) // 2, len(sound) - 1):
            assert not is_torn(sound[:cut])
        assert not is_torn(sound + b"\0" * 9000)
        store.connection.execute("PRAGMA wal_checkpoint(RESTART)")  # the next writes begin the log anew
    store.close()


def test_a_rescue_that_was_killed_between_its_last_steps_is_completed(sound: tuple[Path, dict[int, str]]) -> None:
    folder, texts = sound
    (folder / NAME).replace(folder / (NAME + ".rescued"))
    store = Store(folder)
    assert texts_in(store) == texts
    check_usable(store, folder)


def test_messages_whose_chat_is_lost_get_one(sound: tuple[Path, dict[int, str]]) -> None:
    folder, texts = sound
    with closing(sqlite3.connect(folder / NAME)) as other, other:
        for trigger in ("title_gone", "title_changed"):
            other.execute(f"DROP TRIGGER {trigger}")
        other.execute("DELETE FROM chat")
    data = bytearray((folder / NAME).read_bytes())
    data[18] = 9
    (folder / NAME).write_bytes(data)
    store = Store(folder)
    assert texts_in(store) == texts
    assert all(chat.title.startswith("user") for chat in store.chats.values())
