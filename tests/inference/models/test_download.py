"""The real hub client against a hub on loopback: whole, cut, cancelled, refused, offline."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from inference.messages import Notice, Problem
from inference.models import folders
from inference.models.source import Located
from tests.fake_hub import FakeHub, Fault, Repository, model_files, weights

if TYPE_CHECKING:
    from pathlib import Path

Find = Callable[..., Located]
Notices = list[tuple[Notice, float | None]]


def blobs() -> Path:
    return folders.hub_cache() / "models--owner--tiny" / "blobs"


def problem(find: Find, model: str = "owner/tiny") -> Problem:
    with pytest.raises(Problem) as caught:
        find(model)
    assert "Traceback" not in str(caught.value) and "\n" not in str(caught.value)
    return caught.value


def test_F14_only_what_is_needed_is_fetched_and_counted(hub: FakeHub, find: Find, notices: Notices) -> None:
    needed = model_files(3)
    hub.repositories["owner/tiny"] = Repository({
        **needed, "pytorch_model.bin": b"pickle", "README.md": b"#",
        "tiny.Q4_0.gguf": b"GGUF", "consolidated.safetensors": b"?",
        "onnx/model.onnx": b"onnx", "original/model.safetensors": b"?", "training_args.bin": b"pickle",
    })
    found = find("owner/tiny")
    assert found == Located(found.folder, "owner/tiny", "a" * 40)
    assert {path.name: path.read_bytes() for path in found.folder.iterdir()} == needed
    sent = {asked.path.rsplit("/", 1)[1] for asked in hub.asked if asked.sent}
    assert sent == set(needed)
    shown = [(notice, share) for notice, share in notices if notice.id == "download.progress"]
    total = sum(map(len, needed.values())) / 1e6
    assert all(notice.values["total_mb"] == pytest.approx(total) for notice, _ in shown)
    assert shown[-1][0].values["done_mb"] == pytest.approx(total) and shown[-1][1] == 1
    shares = [share for _, share in shown]
    assert shares == sorted(shares)


def test_F06_a_whole_model_makes_no_connection(hub: FakeHub, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files())
    first = find("owner/tiny")
    hub.asked.clear()
    hub.faults.append(Fault("", status=503))
    assert find("owner/tiny") == first
    assert find("owner/tiny@" + "a" * 40) == first
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert find("owner/tiny") == first
    assert hub.asked == []


def test_F01_a_cut_line_is_taken_up_where_it_broke(hub: FakeHub, find: Find) -> None:
    files = model_files(6)
    hub.repositories["owner/tiny"] = Repository(files)
    hub.faults.append(Fault("model.safetensors", cut_after=4_000_000, times=1))
    found = find("owner/tiny")
    assert (found.folder / "model.safetensors").read_bytes() == files["model.safetensors"]
    first, second = hub.bodies("model.safetensors")
    assert first.range is None and second.range is not None
    assert second.sent <= len(files["model.safetensors"]) - 3_000_000


def test_F01_right_size_but_wrong_bytes_is_fetched_again(hub: FakeHub, find: Find) -> None:
    files = model_files(2)
    hub.repositories["owner/tiny"] = Repository(files)
    hub.faults += [
        Fault("model.safetensors", cut_after=1_500_000, times=1), Fault("model.safetensors", wrong_bytes=True, times=1)
    ]
    found = find("owner/tiny")
    assert (found.folder / "model.safetensors").read_bytes() == files["model.safetensors"]
    assert [asked.range is None for asked in hub.bodies("model.safetensors")] == [True, False, True]


def test_F01_wrong_bytes_twice_is_said_and_nothing_is_kept(hub: FakeHub, find: Find) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files())
    hub.faults.append(Fault("model.safetensors", wrong_bytes=True))
    assert problem(find).notice.id == "error.download_damaged"
    assert not list(blobs().glob("*.incomplete"))


def test_F01_a_server_without_ranges_starts_over(hub: FakeHub, find: Find) -> None:
    files = model_files(3)
    hub.repositories["owner/tiny"] = Repository(files)
    hub.faults += [
        Fault("model.safetensors", cut_after=2_000_000, times=1), Fault("model.safetensors", ignore_range=True)
    ]
    assert (find("owner/tiny").folder / "model.safetensors").read_bytes() == files["model.safetensors"]


def test_F11_cancel_ends_the_traffic_within_two_seconds_and_keeps_the_part(
    hub: FakeHub, find: Find, notices: Notices
) -> None:
    files = model_files(20)
    hub.repositories["owner/tiny"] = Repository(files)
    rate = 4e6
    hub.faults.append(Fault("model.safetensors", bytes_per_second=rate))
    cancel = threading.Event()
    raised: list[Problem] = []

    def run() -> None:
        with contextlib.suppress(Problem):
            try:
                find("owner/tiny", cancel)
            except Problem as error:
                raised.append(error)
                raise

    thread = threading.Thread(target=run)
    thread.start()
    while not any(share and share > 0.2 for _, share in list(notices)) and thread.is_alive():
        time.sleep(0.02)
    cancel.set()
    (body,) = hub.bodies("model.safetensors")
    sent = body.sent
    thread.join()
    assert raised[0].notice.id == "error.cancelled"
    last = -1
    while last != body.sent:
        last = body.sent
        time.sleep(0.3)
    assert last - sent < 2 * rate
    kept = next(blobs().glob("*.incomplete")).stat().st_size
    assert kept > 1_000_000
    hub.faults.clear()
    hub.asked.clear()
    assert (find("owner/tiny").folder / "model.safetensors").read_bytes() == files["model.safetensors"]
    assert hub.bodies("model.safetensors")[0].range == f"bytes={kept}-"


def test_E01_shards_by_the_index_and_strays_ignored(hub: FakeHub, find: Find) -> None:
    one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    files = {name: data for name, data in model_files().items() if name != "model.safetensors"}
    files["model.safetensors.index.json"] = json.dumps({"weight_map": {"a": one, "b": two}}).encode()
    files |= {one: weights(0.2, "a"), two: weights(0.2, "b")}
    hub.repositories["owner/tiny"] = Repository({**files, "extra-00001-of-00009.safetensors": b"?"})
    found = find("owner/tiny")
    assert {path.name for path in found.folder.iterdir()} == set(files)
    del hub.repositories["owner/tiny"].files[two]
    shutil.rmtree(folders.hub_cache())
    found_problem = problem(find)
    assert found_problem.notice.id == "error.repo_incomplete" and two in str(found_problem)


def test_a_damaged_copy_in_the_cache_is_repaired(hub: FakeHub, find: Find) -> None:
    files = model_files()
    hub.repositories["owner/tiny"] = Repository(files)
    found = find("owner/tiny")
    (found.folder / "model.safetensors").resolve().write_bytes(b"")
    assert (find("owner/tiny").folder / "model.safetensors").read_bytes() == files["model.safetensors"]


def test_revision(hub: FakeHub, find: Find) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files(), revisions={"main", "v2"})
    assert find("owner/tiny@v2").revision == "a" * 40
    hub.asked.clear()
    assert find("owner/tiny@v2").revision == "a" * 40
    assert hub.asked == []
    refused = problem(find, "owner/tiny@v3")
    assert refused.notice.id == "error.revision_not_found" and "v3" in str(refused)


def test_unknown_repository(hub: FakeHub, find: Find) -> None:
    assert problem(find).notice.id == "error.repo_not_found"


def test_F04_gated_without_a_token_with_one_and_with_a_bad_one(
    hub: FakeHub, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files(), gated=True)
    hub.tokens = {"waiting": False, "accepted": True}
    without = problem(find)
    assert without.notice.id == "error.sign_in" and f"{hub.url}/owner/tiny" in str(without)
    monkeypatch.setenv("HF_TOKEN", "waiting")
    assert problem(find).notice.id == "error.gated"
    monkeypatch.setenv("HF_TOKEN", "expired")
    refused = problem(find)
    assert refused.notice.id == "error.token" and "expired" not in str(refused)
    assert len([asked for asked in hub.asked if asked.sent]) == 0
    monkeypatch.setenv("HF_TOKEN", "accepted")
    assert find("owner/tiny").revision == "a" * 40


def test_403_without_a_gate(hub: FakeHub, find: Find) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files())
    hub.faults.append(Fault("/api/models/", status=403))
    assert problem(find).notice.id == "error.forbidden"


def test_F07_429_is_waited_out_visibly(hub: FakeHub, find: Find, notices: Notices) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files())
    hub.faults.append(Fault("/api/models/", status=429, headers={"Retry-After": "1"}, times=1))
    hub.faults.append(Fault("tokenizer.json", status=429, headers={"Retry-After": "1"}, times=1))
    find("owner/tiny")
    waits = [notice.values["seconds"] for notice, _ in notices if notice.id == "download.asked_to_wait"]
    assert waits == [1, 2, 1]  # the client adds a second of its own
    assert len(hub.bodies("config.json")) == 1


def test_429_for_too_long_is_a_problem(hub: FakeHub, find: Find) -> None:
    hub.repositories["owner/tiny"] = Repository(model_files())
    hub.faults.append(Fault("/api/models/", status=429, headers={"Retry-After": "3600"}))
    assert problem(find).notice.id == "error.rate_limit"


def test_no_hub_at_all(home: Path, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "*")
    assert problem(find).notice.id == "error.network"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert problem(find).notice.id == "error.offline"


@pytest.mark.parametrize(("files", "id"), [
    ({"config.json": b'{"model_type": "llama"}', "pytorch_model.bin": b"pickle"}, "error.model_unsafe"),
    ({"tiny.Q4_0.gguf": b"GGUF"}, "error.choose_file"),
    ({"README.md": b"#"}, "error.not_a_model"),
])
def test_E07_repositories_that_cannot_be_loaded(hub: FakeHub, find: Find, files: dict[str, bytes], id: str) -> None:
    hub.repositories["owner/tiny"] = Repository(files)
    assert problem(find).notice.id == id
    assert not any(asked.sent for asked in hub.asked)


def test_remote_code_is_refused_before_the_weights(hub: FakeHub, find: Find) -> None:
    files = model_files(2, model_type="homemade", auto_map={"AutoConfig": "configuration_homemade.Config"})
    hub.repositories["owner/tiny"] = Repository({**files, "configuration_homemade.py": b"raise SystemExit"})
    assert problem(find).notice.id == "error.remote_code"
    assert hub.bodies("model.safetensors") == [] and hub.bodies("configuration_homemade.py") == []


def test_F03_too_little_space_is_said_before(hub: FakeHub, home: Path) -> None:
    # In-process, so that the disk's figure can be replaced.
    from inference.models import download

    hub.repositories["owner/tiny"] = Repository(model_files())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        patch.setattr("inference.models.folders.shutil.disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 1000))
        with pytest.raises(Problem) as caught:
            download._Download("owner/tiny", None, lambda *_: None).run()
    assert caught.value.notice.id == "error.disk"
    assert not any(asked.sent for asked in hub.asked)


@pytest.mark.slow
def test_F06_a_real_tiny_model_in_shards_arrives_whole_and_loads_without_the_hub(
    hub: FakeHub, find: Find, home: Path
) -> None:
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True,
    )
    made = LlamaForCausalLM(config)
    made.save_pretrained(home / "made", max_shard_size="20KB")
    files = {path.name: path.read_bytes() for path in (home / "made").iterdir()}
    assert len([name for name in files if name.endswith(".safetensors")]) > 1
    hub.repositories["owner/tiny"] = Repository({**files, "tokenizer.json": b"{}", "README.md": b"#"})
    found = find("owner/tiny")
    hub.asked.clear()
    loaded, report = AutoModelForCausalLM.from_pretrained(found.folder, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    for (name, one), (_, other) in zip(made.named_parameters(), loaded.named_parameters(), strict=True):
        assert torch.equal(one, other), name
    assert hub.asked == []


def test_E19_without_links_the_files_are_copied_and_not_kept_twice(
    hub: FakeHub, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_SYMLINKS", "1")
    files = model_files()
    hub.repositories["owner/tiny"] = Repository(files)
    found = find("owner/tiny")
    assert {path.name: path.read_bytes() for path in found.folder.iterdir()} == files
    assert not any(path.is_symlink() for path in found.folder.iterdir())
    assert list(blobs().iterdir()) == []
    hub.asked.clear()
    assert find("owner/tiny") == found
    assert hub.asked == []
