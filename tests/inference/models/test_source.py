"""What is accepted as a model, and what is refused before anything is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from inference.messages import Problem
from inference.models import contents, folders
from inference.models.source import Located, locate
from tests.fake_hub import model_files, weights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Find = Callable[..., Located]
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@pytest.fixture
def folder(home: Path) -> Path:
    place = home / "tiny"
    place.mkdir()
    for name, data in model_files().items():
        (place / name).write_bytes(data)
    return place


@pytest.fixture
def sharded(folder: Path) -> Path:
    (folder / contents.SINGLE).unlink()
    (folder / contents.INDEX).write_text(json.dumps({"weight_map": {"a": ONE, "b": TWO}}))
    (folder / ONE).write_bytes(weights(0.1, "a"))
    (folder / TWO).write_bytes(weights(0.1, "b"))
    return folder


def refused(find: Find, folder: Path, id: str, said: str = "") -> None:
    with pytest.raises(Problem) as caught:
        find(str(folder))
    assert caught.value.notice.id == id
    assert said in str(caught.value)


def test_a_whole_folder(folder: Path, find: Find) -> None:
    assert find(str(folder)) == Located(folder, "tiny")


def test_a_whole_folder_in_shards_with_strays(sharded: Path, find: Find) -> None:
    (sharded / "notes.bin").write_bytes(b"x")
    (sharded / "model-00009-of-00009.safetensors").write_bytes(b"x")
    assert find(str(sharded)).folder == sharded


def test_a_folder_that_looks_like_a_hub_name_is_a_folder(
    folder: Path, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent.parent)
    assert find(f"{folder.parent.name}/tiny").folder == folder


def test_E01_a_missing_shard(sharded: Path, find: Find) -> None:
    (sharded / TWO).unlink()
    refused(find, sharded, "error.model_incomplete", TWO)


def test_E01_an_empty_shard(sharded: Path, find: Find) -> None:
    (sharded / TWO).write_bytes(b"")
    refused(find, sharded, "error.model_incomplete", TWO)


def test_E01_a_missing_index(sharded: Path, find: Find) -> None:
    (sharded / contents.INDEX).unlink()
    refused(find, sharded, "error.model_incomplete", contents.INDEX)


def test_E01_a_truncated_file(folder: Path, find: Find) -> None:
    path = folder / contents.SINGLE
    path.write_bytes(path.read_bytes()[:-1])
    refused(find, folder, "error.model_incomplete", contents.SINGLE)


def test_E02_an_index_that_names_tensors_no_shard_has(sharded: Path, find: Find) -> None:
    (sharded / contents.INDEX).write_text(json.dumps({"weight_map": {"a": ONE, "b": TWO, "c": TWO}}))
    refused(find, sharded, "error.missing_weights", "c")


def test_E02_a_stray_single_file_beside_shards(sharded: Path, find: Find) -> None:
    (sharded / contents.SINGLE).write_bytes(weights(0.1, "other"))
    refused(find, sharded, "error.weights_disagree", contents.SINGLE)


def test_an_index_that_points_outside(sharded: Path, find: Find) -> None:
    (sharded / contents.INDEX).write_text(json.dumps({"weight_map": {"a": "../secret.safetensors"}}))
    refused(find, sharded, "error.model_damaged", "outside")


def test_E09_only_pickle_is_refused_and_not_run(folder: Path, find: Find) -> None:
    (folder / contents.SINGLE).unlink()
    marker = folder / "marker"
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch " + bytes(marker) + b"'\ntR.")
    refused(find, folder, "error.model_unsafe", "pytorch_model.bin")
    assert not marker.exists()


def test_E09_pickle_beside_safetensors_is_ignored(folder: Path, find: Find) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"x")
    assert find(str(folder)).folder == folder


def test_E07_an_empty_folder(home: Path, find: Find) -> None:
    refused(find, home, "error.not_a_model", "config.json")


def test_E07_a_config_without_a_kind(folder: Path, find: Find) -> None:
    (folder / contents.CONFIG).write_text("{}")
    refused(find, folder, "error.not_a_model", "model_type")


@pytest.mark.parametrize("text", ["[1]", "{", "\x00"])
def test_E07_a_config_that_is_no_config(folder: Path, find: Find, text: str) -> None:
    (folder / contents.CONFIG).write_text(text)
    refused(find, folder, "error.model_damaged", "config.json")


def test_E07_an_adapter(folder: Path, find: Find) -> None:
    (folder / contents.CONFIG).rename(folder / "adapter_config.json")
    refused(find, folder, "error.not_a_model", "adapter")


def test_E07_a_folder_of_gguf_and_a_gguf_file(home: Path, find: Find) -> None:
    (home / "tiny.Q4_0.gguf").write_bytes(b"GGUF")
    refused(find, home, "error.gguf")
    refused(find, home / "tiny.Q4_0.gguf", "error.gguf_damaged")


def test_no_tokenizer(folder: Path, find: Find) -> None:
    (folder / "tokenizer.json").unlink()
    refused(find, folder, "error.model_incomplete", "tokenizer.json")


def test_code_of_its_own_is_refused(folder: Path, find: Find) -> None:
    (folder / contents.CONFIG).write_text(json.dumps({"model_type": "homemade", "auto_map": {"AutoConfig": "x.Y"}}))
    refused(find, folder, "error.remote_code", "program code")


def test_code_that_transformers_has_learned_since_is_not_run_and_not_needed(folder: Path, find: Find) -> None:
    (folder / contents.CONFIG).write_text(json.dumps({"model_type": "llama", "auto_map": {"AutoConfig": "x.Y"}}))
    assert find(str(folder)).folder == folder


@pytest.mark.parametrize("model", ["nothing", "./nothing/there", "a/b/c", "owner/", "owner/na me", "", "https://x/y"])
def test_names_that_mean_nothing(home: Path, find: Find, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "..")
    with pytest.raises(Problem) as caught:
        find(model)
    assert caught.value.notice.id == "error.model_not_found"


def test_what_is_not_here_is_refused_where_nothing_is_to_be_fetched(
    home: Path, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_job(*_: object) -> Iterator[None]:
        raise AssertionError

    monkeypatch.setattr("inference.models.source.job.finish", no_job)
    with pytest.raises(Problem) as caught:
        list(locate("owner/tiny", threading.Event(), fetch=False))
    assert caught.value.notice.id == "error.not_installed"
    snapshot = folders.hub_cache() / "models--owner--tiny" / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    for name, data in model_files().items():
        (snapshot / name).write_bytes(data)
    search = locate(f"owner/tiny@{'a' * 40}", threading.Event(), fetch=False)
    with pytest.raises(StopIteration) as end:
        next(search)
    assert end.value.value == Located(snapshot, "owner/tiny", "a" * 40)


def test_the_cache_folder_follows_the_clients_rules(home: Path, tmp_path: Path) -> None:
    for environment in (
        {"HF_HOME": str(tmp_path / "a")},
        {"HF_HUB_CACHE": str(tmp_path / "b")},
        {"HUGGINGFACE_HUB_CACHE": str(tmp_path / "c")},
        {"XDG_CACHE_HOME": str(tmp_path / "d")},
        {},
    ):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING", "XDG"))}
        code = (
            "from huggingface_hub.constants import HF_HUB_CACHE as theirs; from inference.models.folders import "
            "hub_cache; assert str(hub_cache()) == theirs, (hub_cache(), theirs)"
        )
        subprocess.run([sys.executable, "-c", code], env={**clean, **environment}, check=True)


def test_a_folder_that_cannot_be_written(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(Problem) as caught:
        folders.writable(home / "file" / "models")
    assert caught.value.notice.id == "error.permission"


def test_a_disk_that_is_too_small(home: Path) -> None:
    with pytest.raises(Problem) as caught:
        folders.require_space(home / "not" / "yet", 10**18)
    assert caught.value.notice.id == "error.disk"
