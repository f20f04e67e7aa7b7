"""H29: a history of any version since the first becomes one of today, whole or not at all; a newer one stays."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.history.backup import saved
from desktop.history.opening import BACKUPS, NAME, open_history
from desktop.history.schema import NEWEST, STEPS, bring_up_to_date, version_of
from desktop.store import Store
from tests.desktop.history.library import fill, texts_in

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = Path(__file__).parent / "schemas"
CHAT = 3670000000000000001
RELEASED = {  # digests of the steps
    1: "5a56e4e1da3cc033",
    2: "7de2388a6c6712b6",
    3: "d75e7a3a45b5e739",
    4: "e2dbc58536560335",
}


def old_history(folder: Path, version: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / NAME)) as connection:
        connection.executescript((SCHEMAS / f"version-{version}.sql").read_text(encoding="utf-8"))
    return folder / NAME


@pytest.mark.parametrize("version", [1, 2, 3])
def test_h29_every_version_comes_up_to_date_after_a_backup(tmp_path: Path, version: int) -> None:
    before = old_history(tmp_path, version)
    store = Store(tmp_path)
    assert store.trouble is None
    assert version_of(store.connection) == NEWEST
    texts = [(one.text, one.state) for one in store.messages(CHAT)]
    question = ("Write a poem about the sea 🙂", "over")
    assert texts == [question, ("The waves", "over"), ("The tide's écume", "interrupted")]
    assert store.messages(CHAT)[1].details == '{"seed": 7}'
    assert [hit.chat for hit in store.search("ecume")] == [hit.chat for hit in store.search("sea po")] == [CHAT]
    assert store.chats[CHAT].is_pinned == (version >= 2)
    (backup,) = (tmp_path / BACKUPS).glob(f"history-before-version-{NEWEST}-from-{version}-*.sqlite")
    with closing(sqlite3.connect(backup)) as copy:
        assert version_of(copy) == version
        assert copy.execute("SELECT count(*) FROM message").fetchone() == (3,)
    store.close()
    again = Store(tmp_path)
    assert len(list((tmp_path / BACKUPS).iterdir())) == 1
    assert len(again.messages(CHAT)) == 3
    assert before.exists()
    again.close()


def test_h29_a_copy_without_an_index_becomes_a_history_that_can_be_searched(tmp_path: Path) -> None:
    store = Store(tmp_path / "one")
    texts = fill(store, chats=2)
    (tmp_path / "two").mkdir()
    for _ in saved(store, tmp_path / "two" / NAME):
        pass
    store.close()
    other = Store(tmp_path / "two")
    assert other.trouble is None
    assert texts_in(other) == texts
    assert {hit.chat for hit in other.search("assistant")} == set(other.chats)
    assert not (tmp_path / "two" / BACKUPS).exists()
    other.close()


def test_the_same_steps_lead_from_any_version_to_the_same_form(tmp_path: Path) -> None:
    forms = set()
    for version in range(NEWEST + 1):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            bring_up_to_date(connection, version)
            bring_up_to_date(connection)
            bring_up_to_date(connection)
            rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
            forms.add(tuple(rows))
    assert len(forms) == 1


def test_steps_that_were_released_are_not_changed() -> None:
    for version, known in RELEASED.items():
        digest = hashlib.sha256("\n".join(STEPS[version - 1]).encode()).hexdigest()[:16]
        assert digest == known, f"step {version} was released; add a new one behind the last"


def test_h29_killed_at_any_statement_of_the_migration(tmp_path: Path) -> None:
    original = tmp_path / "original"
    old_history(original, 1)
    command = [sys.executable, "-m", "tests.desktop.history.migrating_child"]
    whole = subprocess.run(
        [*command, str(shutil.copytree(original, tmp_path / "whole")), "-1"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    count = int(whole.stdout)
    assert count > 10
    for fatal in range(1, count + 1, 3):
        folder = tmp_path / f"killed-{fatal}"
        shutil.copytree(original, folder)
        killed = subprocess.run([*command, str(folder), str(fatal)], cwd=ROOT, check=False)
        assert killed.returncode == -9
        store = Store(folder)
        assert store.trouble is None
        assert len(store.messages(CHAT)) == 3
        assert version_of(store.connection) == NEWEST
        store.close()


def test_h29_a_newer_history_is_left_unchanged_and_chats_are_kept_beside_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = fill(store, chats=2)
    store.connection.execute("ALTER TABLE chat ADD COLUMN mood TEXT")
    store.connection.execute("UPDATE about SET value = ? WHERE name = 'version'", (str(NEWEST + 1),))
    store.connection.execute(f"PRAGMA user_version = {NEWEST + 1}")
    store.close()
    before = (tmp_path / NAME).read_bytes()
    older = Store(tmp_path)
    assert older.trouble is not None
    assert (older.trouble.kind, older.trouble.values["version"]) == ("newer", NEWEST + 1)
    assert older.chats == {}
    more = fill(older, chats=1, seed=3)
    older.close()
    assert (tmp_path / NAME).read_bytes() == before
    assert texts_in(Store(tmp_path)) == more
    # As the newer program will find it: the side file comes in.
    with closing(sqlite3.connect(tmp_path / NAME)) as connection, connection:
        connection.execute("ALTER TABLE chat DROP COLUMN mood")
        connection.execute("UPDATE about SET value = ? WHERE name = 'version'", (str(NEWEST),))
        connection.execute(f"PRAGMA user_version = {NEWEST}")
    updated = Store(tmp_path)
    assert texts_in(updated) == texts | more
    assert not list(tmp_path.glob("history-version-*.sqlite"))
    updated.close()


def test_h29_a_migration_without_room_for_its_backup_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_history(tmp_path, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("desktop.history.opening.back_up", full)
    store = Store(tmp_path)
    assert store.trouble is not None
    assert store.trouble.kind == "full"
    assert [one.text for one in store.messages(CHAT)][1] == "The waves"
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert version_of(connection) == 1
    monkeypatch.undo()
    opened = open_history(tmp_path)
    assert opened.trouble is None
    assert opened.connection is not None
    opened.connection.close()
