"""Import: GGUF files of every quantization, pickled weights, folders as they lie; killed, full, damaged, refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from inference.messages import Problem
from inference.model import load_text_model
from inference.models import (
    contents,
    conversion,
    convert,
    folders,
    gguf_header,
    gguf_tokenizer,
    headers,
    job,
    library,
    places,
)
from tests.inference.models.folders_for_tests import small_gguf, stray_pickle, whole_model

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (
    "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ1_S",
    "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4",
)


def silent(*_: object) -> None: ...


def refused(path: Path, id: str, said: str = "") -> None:
    with pytest.raises(Problem) as caught:
        convert.bring(path, silent)
    assert caught.value.notice.id == id
    assert said in str(caught.value)
    assert not [entry for entry in folders.models_folder().glob("*") if entry.is_dir() and entry.name != convert.WORK]
    assert not list((folders.models_folder() / convert.WORK).glob("*/"))


def load(folder: Path) -> Any:
    return load_text_model(folder, folder.name, torch.float32, torch.device("cpu"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_quantization_that_transformers_reads(kind: str, home: Path) -> None:
    """The weights are those that the gguf package itself unpacks, rounded to the precision of the folder."""
    import gguf

    path = small_gguf(home / f"tiny.{kind}.gguf", kind, hidden=256, feed_forward=256, layers=1)
    folder = convert.bring(path, silent)
    assert headers.precision(headers.read(folder / contents.SINGLE) or {}) == {
        "F32": "float32", "F16": "float16"}.get(kind, "bfloat16")
    model = load(folder).model
    stored = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    wanted = stored["blk.0.ffn_down.weight"]
    numbers = torch.from_numpy(np.array(gguf.dequantize(wanted.data, wanted.tensor_type)))
    found = model.model.layers[0].mlp.down_proj.weight
    assert torch.allclose(found, numbers.reshape(found.shape), rtol=0.01, atol=1e-4)


def test_the_converted_model_is_the_model(home: Path) -> None:
    """Logits equal those of transformers' own reading of the file; the tokenizer, template and ends came over."""
    import transformers

    path = small_gguf(home / "tiny.gguf", "F32", tokenizer__ggml__eot_token_id=263, general__license="mit")
    loaded = load(convert.bring(path, silent))
    direct: Any = transformers.AutoModelForCausalLM.from_pretrained(home, gguf_file="tiny.gguf", dtype=torch.float32)
    ids = torch.tensor([[1, 2, 3, 200]])
    assert torch.equal(loaded.model(ids).logits, direct(ids).logits)
    assert loaded.model.generation_config.eos_token_id == [0, 263]
    assert loaded.model.config.bos_token_id is None
    assert loaded.tokenizer.decode(loaded.tokenizer.encode("Füße, naïve — 42 🙂")) == "Füße, naïve — 42 🙂"
    assert loaded.tokenizer.encode("<|end|>") == [0]
    assert "assistant" in loaded.tokenizer.chat_template
    entry = library.find(str(folders.models_folder() / "tiny"))
    assert (entry.source, entry.licence, entry.shared, entry.is_ready) == ("converted", "mit", False, True)


def test_E14_decided_by_the_header_whatever_the_name_says(home: Path) -> None:
    lying = small_gguf(home / "tiny.Q4_0.gguf", "Q4_1")
    assert gguf_header.read(lying).kind == "Q4_1"
    unknown = small_gguf(home / "tiny.Q8_0.gguf")
    data = bytearray(unknown.read_bytes())
    name = b"blk.1.ffn_down.weight"
    kind = data.index(name) + len(name) + 4 + 2 * 8
    assert data[kind] == 8
    data[kind] = 99
    unknown.write_bytes(data)
    refused(unknown, "error.gguf_kind", "type 99")
    data[kind] = 15
    unknown.write_bytes(data)
    refused(unknown, "error.gguf_kind", "Q8_K")


@pytest.mark.parametrize(("values", "id", "said"), [
    ({"architecture": "martian"}, "error.gguf_architecture", "martian"),
    ({"general__type": "mmproj"}, "error.not_a_model", "mmproj"),
    ({"llama__rope__scaling__type": "longrope"}, "error.not_converted", "longrope"),
])
def test_what_cannot_be_converted_is_refused_by_the_header(
    values: dict[str, Any], id: str, said: str, home: Path
) -> None:
    refused(small_gguf(home / "tiny.gguf", **values), id, said)


def test_damaged_files(home: Path) -> None:
    whole = small_gguf(home / "whole.gguf").read_bytes()
    path = home / "tiny.gguf"
    for data in (b"", b"GGUF", b"<html>", whole[:3000], whole[:-100], b"GGUF" + (9).to_bytes(4, "little") + whole[8:],
                 whole[:8] + (2**63).to_bytes(8, "little") + whole[16:]):
        path.write_bytes(data)
        refused(path, "error.gguf_damaged")
    refused(home / "nothing.gguf", "error.model_not_found")
    (home / "notes.txt").write_text("x")
    refused(home / "notes.txt", "error.not_a_model")


def test_E16_sets(home: Path) -> None:
    one = small_gguf(home / "m-00001-of-00002.gguf")
    refused(one, "error.gguf_parts", "m-00002-of-00002.gguf")
    refused(small_gguf(home / "m.gguf.part1of2"), "error.gguf_parts")
    assert convert.bring(small_gguf(home / "n-00001-of-00001.gguf"), silent).name == "n"


def test_a_file_is_converted_once_and_anew_when_it_changed(home: Path) -> None:
    path = small_gguf(home / "tiny.gguf")
    first = convert.bring(path, silent)
    assert convert.bring(path, pytest.fail) == first
    small_gguf(path, seed=5)
    assert convert.bring(path, silent).name == "tiny-2"
    (first / contents.SINGLE).write_bytes(b"")
    assert not convert.is_whole(first)


def test_weights_that_are_no_numbers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_gguf(home / "tiny.gguf", "F32")
    data = bytearray(path.read_bytes())
    data[-8:-4] = np.float32("nan").tobytes()
    path.write_bytes(data)
    refused(path, "error.not_numbers", "lm_head")


def test_nothing_of_the_file_may_be_lost(home: Path) -> None:
    path = small_gguf(home / "tiny.gguf")
    data = path.read_bytes().replace(b"blk.1.ffn_down.weight", b"blk.1.ffn_dawn.weight")
    path.write_bytes(data)
    refused(path, "error.not_converted", "lacks")


def llama3_factors(original: int, factor: float = 8.0, theta: float = 10000.0, size: int = 8) -> np.ndarray:
    lengths = 2 * np.pi * theta ** (np.arange(size) / size)
    smooth = (original / lengths - 1) / 3
    between = 1 / ((1 - smooth) / factor + smooth)
    factors = np.where(lengths < original / 4, 1, np.where(lengths > original, factor, between))
    return factors.astype(np.float32)


def test_llama3_rotary_factors_become_settings(home: Path) -> None:
    path = small_gguf(home / "tiny.gguf", "F32", extra={"rope_freqs.weight": llama3_factors(256)})
    refused(path, "error.not_converted", "unknown kind")  # not one of Llama's own lengths
    small_gguf(path, "F32", extra={"rope_freqs.weight": llama3_factors(8192)})
    settings = load(convert.bring(path, silent)).config.rope_parameters
    assert (settings["rope_type"], settings["factor"]) == ("llama3", 8.0)
    assert settings["original_max_position_embeddings"] == 8192


def test_E17_the_rule_for_splitting_text(home: Path) -> None:
    for rule, sure in (("smollm", True), ("qwen2", True), ("gpt-2", True), ("martian", False)):
        header = gguf_header.read(small_gguf(home / "tiny.gguf", pre=rule))
        assert gguf_tokenizer.is_sure(header) is sure, rule


def test_a_folder_is_remembered_where_it_lies(home: Path) -> None:
    whole_model(home / "mine")
    assert convert.bring(home / "mine", pytest.fail) == home / "mine"
    assert places.read().folders == (home / "mine",)
    assert [entry.name for entry in library.installed()] == ["mine"]


def test_a_folder_with_one_gguf_opens_it_and_with_several_asks(home: Path) -> None:
    (home / "repo").mkdir()
    small_gguf(home / "repo" / "a.gguf")
    assert convert.bring(home / "repo", silent).name == "a"
    small_gguf(home / "repo" / "b.gguf")
    with pytest.raises(Problem) as caught:
        convert.bring(home / "repo", silent)
    assert caught.value.notice.id == "error.choose_file"


def test_E09_pickled_weights_are_read_as_weights_only(home: Path) -> None:
    model = whole_model(home / "old")
    (home / "old" / contents.SINGLE).unlink()
    torch.save(model.state_dict(), home / "old" / "pytorch_model.bin")
    folder = convert.bring(home / "old", silent)
    assert folder.parent == folders.models_folder()
    assert torch.equal(load(folder).model.lm_head.weight, model.lm_head.weight.float())
    assert convert.bring(home / "old", pytest.fail) == folder


def test_E09_a_pickle_that_would_run_code_is_refused(home: Path) -> None:
    whole_model(home / "old")
    (home / "old" / contents.SINGLE).unlink()
    stray_pickle(home / "old" / "pytorch_model.bin", home / "marker")
    refused(home / "old", "error.pickle", "pytorch_model.bin")
    assert not (home / "marker").exists()


def test_too_little_disk_and_memory_are_said_with_figures(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_gguf(home / "tiny.gguf")
    monkeypatch.setattr(conversion, "bytes_needed", lambda _: 10**15)
    refused(path, "error.convert_memory", "GB are free")
    monkeypatch.setattr(convert, "require_memory", lambda *_: None)
    refused(path, "error.disk", "MB")


def killed_at(path: Path, steps: int) -> int:
    """Start the import as the program does and kill it after so many events; returns how many came."""
    count = 0
    events: Iterator[dict[str, Any]] = job.run_job(["convert", str(path)], threading.Event())
    for count, _ in enumerate(events, 1):
        if count >= steps:
            events.close()  # type: ignore[attr-defined]
            break
    return count


@pytest.mark.slow
def test_killed_three_times_it_starts_cleanly_over(home: Path) -> None:
    path = small_gguf(home / "tiny.gguf", layers=6)
    for steps in (1, 3, 8):
        assert killed_at(path, steps) == steps
        assert library.installed() == ()
        convert.sweep()
        assert library.size_of(folders.models_folder()) == 0
    *_, done = job.run_job(["convert", str(path)], threading.Event())
    assert done["event"] == "done"
    assert library.size_of(folders.models_folder()) <= library.find(done["folder"]).size
    assert load(Path(done["folder"])).parameters == gguf_header.read(path).parameters


@pytest.mark.slow
def listen_to_ctrl_c() -> None:
    """What a shell starts in the background has it ignored, and so has all that this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_in_the_terminal(home: Path) -> None:
    for number in range(5):  # one that was done before the signal came says nothing
        path = small_gguf(home / f"tiny-{number}.gguf", layers=8)
        child = subprocess.Popen(
            [sys.executable, "-m", "inference", "models", "add", str(path)], stderr=subprocess.PIPE, text=True,
            preexec_fn=listen_to_ctrl_c,
        )  # fmt: skip
        assert child.stderr is not None
        child.stderr.readline()
        child.send_signal(signal.SIGINT)
        with child.stderr:
            ended = child.wait(60)
        if ended != 0:
            break
    assert ended == 130
    assert path.stem not in {entry.name for entry in library.installed()}
