"""What a model folder must hold before it is loaded: a config that names its kind, whole safetensors, a tokenizer.

Reads JSON and the headers of weight files, never the weights, and runs nothing it finds. Each refusal is a Problem
that says what to do; files that no loader would read are ignored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inference.messages import Problem

CONFIG = "config.json"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt", "model*.bin")
TOKENIZERS = (
    "tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model",
    "tekken.json", "*.tiktoken",
)
LARGEST_HEADER = 100_000_000


def check(folder: Path, name: str) -> None:
    """Raise a Problem unless ``folder`` holds a whole model that can be loaded without code of its own."""
    check_config(folder, name)
    check_weights(folder, name)
    if not _any(folder, TOKENIZERS):
        raise Problem("error.model_incomplete", model=name, files="tokenizer.json")


def check_config(folder: Path, name: str) -> None:
    """Raise a Problem unless the config is there and names a kind of model that needs no code of its own."""
    path = folder / CONFIG
    if not path.is_file():
        if _any(folder, ("*.gguf",)):
            raise Problem("error.gguf", model=name)
        if (folder / "adapter_config.json").is_file():
            raise Problem("error.not_a_model", model=name, detail="it is an adapter without its model")
        raise Problem("error.not_a_model", model=name, detail="config.json is missing")
    config = _json(path, name)
    kind = config.get("model_type")
    if config.get("auto_map") and not _is_known(kind):
        raise Problem("error.remote_code", model=name)
    if not isinstance(kind, str) or not kind:
        raise Problem("error.not_a_model", model=name, detail="its config.json names no model_type")
    tokenizer = folder / "tokenizer_config.json"
    own_code = tokenizer.is_file() and "auto_map" in _json(tokenizer, name)
    if own_code and not (folder / "tokenizer.json").is_file():
        raise Problem("error.remote_code", model=name)


def _is_known(kind: object) -> bool:
    """Many repositories still carry the code of a model that transformers has learned since; that code is not run."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES  # type: ignore[attr-defined]

    return kind in CONFIG_MAPPING_NAMES


def check_weights(folder: Path, name: str) -> None:
    """Raise a Problem unless one consistent set of safetensors is there in full.

    transformers reads ``model.safetensors`` where both it and an index are present, so the two must then agree.
    """
    single, index = folder / SINGLE, folder / INDEX
    if not single.is_file() and not index.is_file():
        raise _no_weights(folder, name)
    named = shards(index, name) if index.is_file() else {}
    if single.is_file():
        tensors = _tensors(single)
        if tensors is None:
            raise Problem("error.model_incomplete", model=name, files=SINGLE)
        if set(named) - tensors:
            raise Problem("error.weights_disagree", model=name, one=SINGLE, other=INDEX)
        return
    held = {shard: _tensors(folder / shard) for shard in sorted(set(named.values()))}
    broken = [shard for shard, tensors in held.items() if tensors is None]
    if broken:
        raise Problem("error.model_incomplete", model=name, files=_some(broken))
    lacking = [tensor for tensor, shard in named.items() if tensor not in (held[shard] or ())]
    if lacking:
        raise Problem("error.missing_weights", model=name, names=_some(lacking))


def shards(index: Path, name: str) -> dict[str, str]:
    """From tensor to file, as an index tells it; files outside the folder are refused."""
    named = _json(index, name).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise Problem("error.not_a_model", model=name, detail=f"{index.name} names no weights")
    if any(not isinstance(shard, str) or Path(shard).name != shard for shard in named.values()):
        raise Problem("error.not_a_model", model=name, detail=f"{index.name} names files outside the folder")
    return named


def _no_weights(folder: Path, name: str) -> Problem:
    if any(folder.glob("model-*-of-*.safetensors")):
        return Problem("error.model_incomplete", model=name, files=INDEX)
    if pickles := _any(folder, PICKLES):
        return Problem("error.model_unsafe", model=name, files=_some(pickles))
    if _any(folder, ("*.gguf",)):
        return Problem("error.gguf", model=name)
    return Problem("error.model_incomplete", model=name, files=SINGLE)


def _tensors(path: Path) -> set[str] | None:
    """The names in a safetensors file, None unless its size is what its header promises.

    Layout: 8 bytes length of the header (little endian), the header in JSON, then the tensors' bytes.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= LARGEST_HEADER:
                return None
            header = json.loads(file.read(length))
        tensors = {key: entry for key, entry in header.items() if key != "__metadata__"}
        end = max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
        whole = path.stat().st_size == 8 + length + end
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
    return set(tensors) if tensors and whole else None


def _json(path: Path, name: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem("error.not_a_model", model=name, detail=f"{path.name} cannot be read") from error
    if not isinstance(content, dict):
        raise Problem("error.not_a_model", model=name, detail=f"{path.name} cannot be read")
    return content


def _any(folder: Path, patterns: tuple[str, ...]) -> list[str]:
    return sorted({path.name for pattern in patterns for path in folder.glob(pattern)})


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
