"""What is installed: the program's own models, the shared cache, the user's folders; broken ones with a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from inference.messages import Problem
from inference.models import contents, folders, gguf_header, library, places, starter
from tests.fake_hub import model_files
from tests.inference.models.folders_for_tests import change_json, shard_names, small_gguf, whole_model

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def in_cache(files: dict[str, bytes], repository: str = "owner/tiny", commit: str = COMMIT, ref: str = "main") -> Path:
    """A snapshot as the hub's client lays it out: links to blobs."""
    storage = folders.hub_cache() / ("models--" + repository.replace("/", "--"))
    snapshot = storage / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (storage / "blobs").mkdir(exist_ok=True)
    (storage / "refs").mkdir(exist_ok=True)
    if ref:
        (storage / "refs" / ref).write_text(commit)
    for name, data in files.items():
        blob = storage / "blobs" / f"{hash(data) & (2**64 - 1):x}"
        blob.write_bytes(data)
        (snapshot / name).symlink_to(blob)
    return snapshot


def only() -> library.Entry:
    (entry,) = library.installed()
    return entry


def test_nothing_is_installed(home: Path) -> None:
    assert library.installed() == ()


def test_a_model_of_the_shared_cache(home: Path) -> None:
    snapshot = in_cache(model_files(0.2, max_position_embeddings=2048) | {"README.md": b"---\nlicense: mit\n---\nTiny"})
    entry = only()
    assert (entry.name, entry.model, entry.folder, entry.source) == ("owner/tiny", "owner/tiny", snapshot, "hub")
    assert (entry.revision, entry.shared, entry.is_ready, entry.licence) == (COMMIT, True, True, "mit")
    assert (entry.architecture, entry.context, entry.template) == ("LlamaForCausalLM", 2048, True)
    assert (entry.parameters, entry.dtype) == (100_000, "float16")
    assert entry.size == sum(path.stat().st_size for path in snapshot.iterdir())


def test_two_revisions_are_told_apart_and_other_things_of_the_cache_are_left_out(home: Path) -> None:
    in_cache(model_files())
    in_cache(model_files(0.05), commit="f" * 40, ref="")
    in_cache(model_files() | {"config.json": b'{"model_type": "bert", "architectures": ["BertModel"]}'}, "owner/bert")
    in_cache({"unet.safetensors": b"x", "model_index.json": b"{}"}, "owner/pictures")
    (folders.hub_cache() / "datasets--owner--data" / "snapshots").mkdir(parents=True)
    assert sorted(entry.model for entry in library.installed()) == ["owner/tiny", "owner/tiny@" + "f" * 40]


def test_a_broken_snapshot_is_listed_with_its_sentence(home: Path) -> None:
    snapshot = in_cache(model_files())
    (snapshot / contents.SINGLE).resolve().write_bytes(b"x")
    entry = only()
    assert not entry.complete
    assert not entry.is_ready
    assert entry.problem is not None
    assert entry.problem.id == "error.model_incomplete"


def test_an_added_folder_and_what_lies_below_it(home: Path) -> None:
    root = home / "más modelos"
    whole_model(root / "owner" / "one")
    whole_model(root / "two", shards=True)
    small_gguf(root / "three.Q8_0.gguf")
    (root / "loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    places.add(root)
    found = {entry.name: entry for entry in library.installed()}
    assert sorted(found) == ["one", "three.Q8_0", "two"]
    assert found["one"].model == str(root / "owner" / "one")
    assert found["one"].parameters == found["two"].parameters
    assert (found["three.Q8_0"].kind, found["three.Q8_0"].dtype) == ("gguf", "Q8_0")
    assert found["three.Q8_0"].model == str(root / "three.Q8_0.gguf")
    assert found["three.Q8_0"].context == 512
    assert len(shard_names(root / "two")) > 1
    places.forget(root)
    assert library.installed() == ()


def test_the_programs_own_folder(home: Path) -> None:
    whole_model(folders.models_folder() / "mine")
    (folders.models_folder() / "mine" / starter.MARKER).write_text(json.dumps({"licence": "apache-2.0"}))
    whole_model(folders.models_folder() / ".half")
    whole_model(folders.models_folder() / "unmarked")
    entry = only()
    assert (entry.name, entry.source, entry.licence, entry.shared) == ("mine", "converted", "apache-2.0", False)
    assert entry.model == str(folders.models_folder() / "mine")


def test_a_starter_that_is_not_whole(home: Path) -> None:
    whole_model(starter.folder())
    entry = only()
    assert (entry.model, entry.source, entry.complete, entry.is_ready) == ("starter", "starter", False, False)


def test_which_drafters_and_why_not(home: Path) -> None:
    by_name = {drafter.name: drafter for drafter in library.drafters({"model_type": "mamba"})}
    assert by_name["none"].available
    assert by_name["twin"].reason == by_name["ngram"].reason == "drafter.recurrent"
    assert library.is_recurrent({"model_type": "x", "layer_types": ["full_attention", "linear_attention"]})
    packed = {"model_type": "llama", "quantization_config": {"quant_method": "bitsandbytes"}}
    assert {d.name for d in library.drafters(packed) if not d.available} == {"twin"}
    assert all(drafter.available for drafter in library.drafters({"model_type": "llama"}))


def test_E16_a_split_gguf_is_one_model_and_missing_parts_are_named(home: Path) -> None:
    root = home / "set"
    root.mkdir()
    small_gguf(root / "m-00001-of-00003.gguf")
    small_gguf(root / "m-00003-of-00003.gguf")
    places.add(root)
    entry = only()
    assert (entry.name, entry.complete) == ("m", False)
    assert entry.problem is not None
    assert entry.problem.id == "error.gguf_parts"
    assert entry.problem.values["files"] == "m-00002-of-00003.gguf"
    assert gguf_header.parts(root / "m-00003-of-00003.gguf")[0][0].name == "m-00001-of-00003.gguf"


def test_find_by_name_folder_and_file(home: Path) -> None:
    snapshot = in_cache(model_files())
    root = home / "tiny"
    whole_model(root)
    places.add(home)
    assert library.find("owner/tiny").folder == library.find(str(snapshot)).folder == snapshot
    assert library.find("TINY").folder == library.find(f"{root}/").folder == root
    whole_model(home / "other" / "tiny")
    for name, id in (("tiny", "error.ambiguous"), ("nothing", "error.not_installed")):
        with pytest.raises(Problem) as caught:
            library.find(name)
        assert caught.value.notice.id == id


def test_the_list_as_a_job_free_of_torch(home: Path) -> None:
    in_cache(model_files())
    change_json(in_cache(model_files(), "owner/broken") / "config.json", quantization_config={"quant_method": "gptq"})
    code = ("import sys; from inference.models import job; status = job.main(['library']); "
            "assert not {'torch', 'transformers'} & set(sys.modules); sys.exit(status)")
    library.installed()  # asks transformers for the kinds it knows, and keeps them
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = ended.stdout.splitlines()
    event = json.loads(line)
    assert event["event"] == "done"
    broken, whole = sorted(event["models"], key=lambda model: model["name"])
    assert (whole["model"], whole["ready"], whole["drafters"][0]["name"]) == ("owner/tiny", True, "none")
    assert broken["problem"]["id"] == "error.quantized"
    assert "gptq" in broken["problem"]["text"]
    assert event["models_folder"] == str(folders.models_folder())
