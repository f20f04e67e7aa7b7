"""Removing says what it frees and asks before others lose something; moving and checking."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from inference.__main__ import main
from inference.messages import Problem
from inference.models import contents, convert, folders, library, places, removal, starter
from tests.fake_hub import model_files, weights
from tests.inference.models.folders_for_tests import small_gguf, whole_model

if TYPE_CHECKING:
    from pathlib import Path


def silent(*_: object) -> None: ...


def cached(files: dict[str, bytes], commit: str, ref: str | None = None) -> Path:
    """A snapshot with blobs under their sha256, as the client lays it out."""
    storage = folders.hub_cache() / "models--owner--tiny"
    snapshot = storage / "snapshots" / commit
    for folder in (snapshot, storage / "blobs", storage / "refs"):
        folder.mkdir(parents=True, exist_ok=True)
    if ref:
        (storage / "refs" / ref).write_text(commit)
    for name, data in files.items():
        blob = storage / "blobs" / hashlib.sha256(data).hexdigest()
        blob.write_bytes(data)
        (snapshot / name).symlink_to(blob)
    return snapshot


def own(home: Path, name: str = "tiny") -> library.Entry:
    convert.bring(small_gguf(home / f"{name}.gguf"), silent)
    return library.find(name)


def test_what_is_the_programs_own_goes_and_its_size_is_told(home: Path) -> None:
    entry = own(home)
    assert removal.planned(entry) == removal.Removal(entry.size)
    assert removal.remove(entry, shared=False) == entry.size
    assert library.installed() == ()
    assert (home / "tiny.gguf").exists()


def test_the_shared_cache_is_named_first_and_frees_what_no_other_revision_uses(home: Path) -> None:
    files = model_files(0.3)
    cached(files, "a" * 40, "main")
    cached(files | {contents.SINGLE: weights(0.2)}, "b" * 40)
    entry = library.find("owner/tiny")
    plan = removal.planned(entry)
    assert plan.shared == str(folders.hub_cache())
    assert plan.frees == len(files[contents.SINGLE])
    with pytest.raises(Problem) as caught:
        removal.remove(entry, shared=False)
    assert caught.value.notice.id == "error.shared"
    assert str(folders.hub_cache()) in str(caught.value)
    assert removal.remove(entry, shared=True) == plan.frees
    assert [entry.revision for entry in library.installed()] == ["b" * 40]
    assert library.installed()[0].is_ready


def test_a_folder_the_user_added_is_forgotten_and_one_below_it_asked_about(home: Path) -> None:
    whole_model(home / "one")
    whole_model(home / "many" / "two")
    convert.bring(home / "one", silent)
    places.add(home / "many")
    assert removal.remove(library.find("one"), shared=False) == 0
    assert (home / "one" / contents.SINGLE).exists()
    with pytest.raises(Problem):
        removal.remove(library.find("two"), shared=False)
    size = library.find("two").size
    assert removal.remove(library.find("two"), shared=True) == size
    assert not (home / "many" / "two").exists()


def test_moving_the_models_folder_and_back(home: Path) -> None:
    entry = own(home)
    before = (entry.folder / contents.SINGLE).read_bytes()
    target = home / "otro disco" / "modelos"
    removal.move(target, silent)
    assert folders.models_folder() == target
    assert (library.find("tiny").folder / contents.SINGLE).read_bytes() == before
    assert starter.folder() == target / starter.NAME
    assert not (folders.data_folder() / "models").exists()
    for bad in (target, target / "inside", home):
        with pytest.raises(Problem) as caught:
            removal.move(bad, silent)
        assert caught.value.notice.id == "error.setting"
    removal.move(folders.data_folder() / "models", silent)
    assert places.read().models is None
    assert library.find("tiny").is_ready


def test_a_move_that_fails_leaves_all_where_it_was(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(home)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(Problem) as caught:
        removal.move(home / "elsewhere", silent)
    assert "No space left" in str(caught.value)
    assert library.find("tiny").is_ready
    assert not (home / "elsewhere").exists()


def test_a_models_folder_that_is_not_there_is_said(home: Path) -> None:
    own(home)
    removal.move(home / "disk", silent)
    (home / "disk").rename(home / "unplugged")
    assert library.installed() == ()
    with pytest.raises(Problem) as caught:
        convert.bring(home / "tiny.gguf", silent)
    assert caught.value.notice.id == "error.no_models_folder"
    (home / "unplugged").rename(home / "disk")
    assert library.find("tiny").is_ready


def test_verify_by_hash_and_by_reading(home: Path) -> None:
    entry = own(home)
    assert removal.verify(entry, silent) == "hash"
    whole_model(home / "mine")
    convert.bring(home / "mine", silent)
    assert removal.verify(library.find("mine"), silent) == "header"
    snapshot = cached(model_files(), "a" * 40, "main")
    assert removal.verify(library.find("owner/tiny"), silent) == "hash"
    for path in (entry.folder / contents.SINGLE, (snapshot / contents.SINGLE).resolve()):
        data = bytearray(path.read_bytes())
        data[-3] ^= 1
        path.write_bytes(data)
    for name in ("tiny", "owner/tiny"):
        with pytest.raises(Problem) as caught:
            removal.verify(library.find(name), silent)
        assert caught.value.notice.values["files"] == contents.SINGLE


@pytest.mark.slow
def test_in_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_gguf(home / "tiny.gguf")
    assert main(["models", "add", str(home / "tiny.gguf")]) == 0
    assert "tiny is installed" in capsys.readouterr().out
    assert main(["models", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert {"name", "folder", "source", "architecture", "parameters", "dtype", "size", "context", "complete",
            "drafters"} <= set(listed)
    assert main(["models", "verify"]) == 0
    assert main(["models", "trust", "tiny"]) == 0
    assert main(["models", "move", str(home / "disk")]) == 0
    assert main(["models", "list"]) == 0
    assert str(home / "disk" / "tiny") in capsys.readouterr().out
    assert main(["models", "remove", "tiny"]) == 0
    assert "free again" in capsys.readouterr().out
    assert main(["models", "remove", "tiny"]) == 1
    assert "not installed" in capsys.readouterr().err
