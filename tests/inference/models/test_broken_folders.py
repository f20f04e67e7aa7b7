"""Thirty broken model folders: each refused in one sentence, before anything is loaded, and nothing in them is run."""

from __future__ import annotations

import json
import shutil
import threading
from typing import TYPE_CHECKING

import pytest
import torch

from inference.messages import Problem
from inference.model import load_text_model
from inference.models import contents, folders, places, safety
from inference.models.source import locate
from tests.inference.models.folders_for_tests import (
    change_header,
    change_json,
    index_of,
    shard_names,
    stray_pickle,
    whole_model,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CODE = "from pathlib import Path\nPath({marker!r}).touch()\nclass Config: pass\nclass Model: pass\n"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A whole model in one file, and one in shards."""
    root = tmp_path_factory.mktemp("whole")
    whole_model(root / "one")
    whole_model(root / "shards", shards=True)
    assert len(shard_names(root / "shards")) >= 3
    return root / "one", root / "shards"


def read(folder: Path) -> None:
    """All the way to a loaded model; the name is a path, as the user gives it."""
    search = locate(str(folder), threading.Event())
    try:
        while True:
            next(search)
    except StopIteration as end:
        found = end.value
    load_text_model(found.folder, found.name, torch.float32, torch.device("cpu"))


def shard(folder: Path, number: int) -> Path:
    return folder / shard_names(folder)[number]


def header(path: Path, tensor: int = 0, **entry: object) -> None:
    def change(header: dict[str, dict[str, object]]) -> None:
        names = [name for name in header if name != "__metadata__"]
        header[names[tensor]].update(entry)

    change_header(path, change)


def truncated(folder: Path) -> None:
    path = shard(folder, 1)
    path.write_bytes(path.read_bytes()[:-7])


def longer(folder: Path) -> None:
    with shard(folder, 1).open("ab") as file:
        file.write(b"tail")


def emptied(folder: Path) -> None:
    shard(folder, 2).write_bytes(b"")


def renamed(folder: Path) -> None:
    path = shard(folder, 1)
    path.rename(path.with_name("model-2-of-3.safetensors"))


def swapped(folder: Path) -> None:
    one, two = shard(folder, 0), shard(folder, 1)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def doubled(folder: Path) -> None:
    shutil.copyfile(shard(folder, 0), shard(folder, 1))


def of_another_model(folder: Path) -> None:
    index = index_of(folder)
    index["weight_map"] = {f"other.{name}": file for name, file in index["weight_map"].items()}
    (folder / contents.INDEX).write_text(json.dumps(index))


def without_index(folder: Path) -> None:
    (folder / contents.INDEX).unlink()


def cyclic_index(folder: Path) -> None:
    change_json(folder / contents.INDEX, weight_map={"model.norm.weight": contents.INDEX})


def index_outside(folder: Path) -> None:
    change_json(folder / contents.INDEX, weight_map={"model.norm.weight": "../../etc/passwd.safetensors"})


def index_of_nothing(folder: Path) -> None:
    change_json(folder / contents.INDEX, weight_map={})


def endless_index(folder: Path) -> None:
    (folder / contents.INDEX).write_text('{"weight_map": ' * 100_000)


def stray_single(folder: Path) -> None:
    shutil.copyfile(shard(folder, 0), folder / contents.SINGLE)


def shard_is_a_folder(folder: Path) -> None:
    path = shard(folder, 1)
    path.unlink()
    path.mkdir()


def shard_is_a_loop(folder: Path) -> None:
    path = shard(folder, 1)
    path.unlink()
    path.symlink_to(path)


def wrong_dtype(folder: Path) -> None:
    header(folder / contents.SINGLE, dtype="F32")


def integers(folder: Path) -> None:
    def change(header: dict[str, dict[str, object]]) -> None:
        for name, entry in header.items():
            if name != "__metadata__":
                entry["dtype"] = "I16"

    change_header(folder / contents.SINGLE, change)


def overlapping(folder: Path) -> None:
    header(folder / contents.SINGLE, data_offsets=[0, 8], shape=[4])


def negative(folder: Path) -> None:
    header(folder / contents.SINGLE, shape=[-1, -1])


def header_is_a_list(folder: Path) -> None:
    (folder / contents.SINGLE).write_bytes((2).to_bytes(8, "little") + b"[]")


def endless_header(folder: Path) -> None:
    (folder / contents.SINGLE).write_bytes((2**63).to_bytes(8, "little") + b"{}")


def a_page_in_its_place(folder: Path) -> None:
    (folder / contents.SINGLE).write_text("<html>404</html>")


def renamed_tensor(folder: Path) -> None:
    change_header(
        folder / contents.SINGLE,
        lambda header: {("model.norm.wait" if name == "model.norm.weight" else name): e for name, e in header.items()},
    )


def fewer_layers(folder: Path) -> None:
    change_json(folder / contents.CONFIG, num_hidden_layers=1)


def more_layers(folder: Path) -> None:
    change_json(folder / contents.CONFIG, num_hidden_layers=3)


def another_width(folder: Path) -> None:
    change_json(folder / contents.CONFIG, hidden_size=80)


def no_heads(folder: Path) -> None:
    change_json(folder / contents.CONFIG, num_attention_heads=0)


def unknown_kind(folder: Path) -> None:
    change_json(folder / contents.CONFIG, model_type="martian")


def a_kind_that_sees(folder: Path) -> None:
    change_json(folder / contents.CONFIG, model_type="vit", architectures=["ViTModel"])


def unknown_rope(folder: Path) -> None:
    change_json(folder / contents.CONFIG, rope_parameters={"rope_type": "spiral", "rope_theta": 1e4})


def broken_rope(folder: Path) -> None:
    change_json(folder / contents.CONFIG, rope_parameters=None, rope_scaling={"rope_type": "llama3", "factor": 8.0})


def quantized_otherwise(folder: Path) -> None:
    change_json(folder / contents.CONFIG, quantization_config={"quant_method": "gptq", "bits": 4})


def pickles_only(folder: Path) -> None:
    (folder / contents.SINGLE).unlink()
    stray_pickle(folder / "pytorch_model.bin", folder / "marker")


def code_of_its_own(folder: Path) -> None:
    (folder / "code.py").write_text(CODE.format(marker=str(folder / "marker")))
    change_json(
        folder / contents.CONFIG, model_type="martian",
        auto_map={"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"},
    )


def code_of_somebody(folder: Path) -> None:
    change_json(folder / contents.CONFIG, model_type="martian", auto_map={"AutoConfig": "owner/other--code.Config"})


def code_of_the_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")
    (folder / "code.py").write_text(CODE.format(marker=str(folder / "marker")))
    change_json(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["code.Model", None]})


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')


def tokenizer_config_cut(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(path.read_text()[:-5])


def config_cut(folder: Path) -> None:
    path = folder / contents.CONFIG
    path.write_text(path.read_text()[:-5])


SHARDED: dict[Callable[[Path], None], str] = {
    truncated: "error.model_incomplete",
    longer: "error.model_incomplete",
    emptied: "error.model_incomplete",
    renamed: "error.model_incomplete",
    swapped: "error.weights_mixed",
    doubled: "error.weights_mixed",
    of_another_model: "error.missing_weights",
    without_index: "error.model_incomplete",
    cyclic_index: "error.model_damaged",
    index_outside: "error.model_damaged",
    index_of_nothing: "error.model_damaged",
    endless_index: "error.model_damaged",
    stray_single: "error.weights_disagree",
    shard_is_a_folder: "error.model_incomplete",
    shard_is_a_loop: "error.model_incomplete",
}
SINGLE: dict[Callable[[Path], None], str] = {
    wrong_dtype: "error.model_incomplete",
    integers: "error.model_damaged",
    overlapping: "error.model_incomplete",
    negative: "error.model_incomplete",
    header_is_a_list: "error.model_incomplete",
    endless_header: "error.model_incomplete",
    a_page_in_its_place: "error.model_incomplete",
    renamed_tensor: "error.missing_weights",
    fewer_layers: "error.surplus_weights",
    more_layers: "error.missing_weights",
    another_width: "error.weights_shape",
    no_heads: "error.model_damaged",
    unknown_kind: "error.architecture",
    a_kind_that_sees: "error.not_a_model",
    unknown_rope: "error.rope",
    broken_rope: "error.rope",
    quantized_otherwise: "error.quantized",
    pickles_only: "error.model_unsafe",
    code_of_its_own: "error.remote_code",
    code_of_somebody: "error.foreign_code",
    code_of_the_tokenizer: "error.remote_code",
    no_tokenizer: "error.model_incomplete",
    broken_tokenizer: "error.model_damaged",
    tokenizer_config_cut: "error.model_damaged",
    config_cut: "error.model_damaged",
}


@pytest.mark.parametrize(
    ("harm", "id"), [*SHARDED.items(), *SINGLE.items()], ids=lambda value: getattr(value, "__name__", "")
)
def test_each_is_refused_in_one_sentence_and_nothing_runs(
    harm: Callable[[Path], None], id: str, pristine: tuple[Path, Path], home: Path
) -> None:
    folder = home / "Mis modelos" / "pequeño (v1) 山"
    shutil.copytree(pristine[1] if harm in SHARDED else pristine[0], folder)
    harm(folder)
    with pytest.raises(Problem) as caught:
        read(folder)
    said = str(caught.value)
    assert caught.value.notice.id == id, said
    assert folder.name in said
    assert "\n" not in said
    assert "Traceback" not in said
    assert len(said) < 400
    assert not (folder / "marker").exists()


def test_whole_ones_load_from_such_a_path(pristine: tuple[Path, Path], home: Path) -> None:
    for number, whole in enumerate(pristine):
        folder = home / "Mis modelos" / f"pequeño (v{number}) 山"
        shutil.copytree(whole, folder)
        read(folder)


def test_a_folder_that_is_a_loop_of_links(home: Path) -> None:
    (home / "loop").symlink_to(home / "loop")
    with pytest.raises(Problem) as caught:
        read(home / "loop")
    assert caught.value.notice.id == "error.model_not_found"


def test_a_pickle_beside_safetensors_is_not_run(pristine: tuple[Path, Path], home: Path) -> None:
    folder = home / "both"
    shutil.copytree(pristine[0], folder)
    stray_pickle(folder / "pytorch_model.bin", folder / "marker")
    read(folder)
    assert not (folder / "marker").exists()


def test_code_runs_after_a_yes_to_this_very_code_and_no_other(
    pristine: tuple[Path, Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The yes names repository, revision and the text of the files; a changed file is asked about anew."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(home / "modules"))
    folder = folders.hub_cache() / "models--owner--own" / "snapshots" / ("c" * 40)
    shutil.copytree(pristine[0], folder)
    (folder / "code.py").write_text(
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "class Config(LlamaConfig):\n    model_type = 'martian'\n"
        "class Model(LlamaForCausalLM):\n    config_class = Config\n"
    )
    change_json(
        folder / contents.CONFIG, model_type="martian",
        auto_map={"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"},
    )
    with pytest.raises(Problem) as caught:
        read(folder)
    assert caught.value.notice.values["repository"] == "owner/own"
    assert caught.value.notice.values["revision"] == "c" * 40
    code = safety.needed(folder)
    assert code is not None
    assert code.files == ("code.py",)
    safety.allow(code)
    assert safety.is_allowed(folder)
    read(folder)
    (folder / "code.py").write_text((folder / "code.py").read_text() + "\n")
    with pytest.raises(Problem):
        read(folder)
    safety.withdraw(code)
    assert places.read().trusted == ()
