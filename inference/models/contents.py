"""What a model folder must hold before it is loaded: a config that names its kind, whole safetensors, a tokenizer.

Reads JSON and the headers of weight files, never the weights, and runs nothing it finds. Each refusal is a Problem
that says what to do; files that no loader would read are ignored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inference.messages import Problem
from inference.models import architectures, headers, safety

CONFIG = "config.json"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt", "model*.bin")
TOKENIZERS = (
    "tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model",
    "tekken.json", "*.tiktoken",
)
READABLE_METHODS = frozenset({"bitsandbytes", "mxfp4"})
"""Ways of quantizing that are read without a library of their own."""
FLOATS = ("F64", "F32", "F16", "BF16")


def check(folder: Path, name: str) -> None:
    """Raise a Problem unless ``folder`` holds a whole model that can be loaded, its own code included."""
    check_config(folder, name)
    check_weights(folder, name)
    if not _any(folder, TOKENIZERS):
        raise Problem("error.model_incomplete", model=name, files="tokenizer.json")


def check_config(folder: Path, name: str) -> None:
    """Raise a Problem unless the config is there and names a kind of model that transformers can run."""
    path = folder / CONFIG
    if not path.is_file():
        if _any(folder, ("*.gguf",)):
            raise Problem("error.gguf", model=name)
        if (folder / "adapter_config.json").is_file():
            raise Problem("error.not_a_model", model=name, detail="it is an adapter without its model")
        if (folder / "model_index.json").is_file():
            raise Problem("error.not_a_model", model=name, detail="it makes pictures, not text")
        raise Problem("error.not_a_model", model=name, detail="config.json is missing")
    config = read(path, name)
    tokenizer = folder / "tokenizer_config.json"
    if tokenizer.is_file():
        read(tokenizer, name)
    safety.check(folder, name)
    kind = config.get("model_type")
    if not isinstance(kind, str) or not kind:
        raise Problem("error.not_a_model", model=name, detail="its config.json names no model_type")
    if kind not in architectures.known() and not config.get("auto_map"):
        raise Problem("error.architecture", model=name, architecture=kind, version=architectures.version())
    if kind in architectures.known() and kind not in architectures.chat_models():
        raise Problem("error.not_a_model", model=name, detail=f"models of the kind {kind} do not write text")
    method = quantized_with(config)
    if method is not None and method not in READABLE_METHODS:
        raise Problem("error.quantized", model=name, method=method)


def quantized_with(config: dict[str, Any]) -> str | None:
    """How a checkpoint's weights were quantized, as its config says; None for plain ones."""
    entry = config.get("quantization_config")
    return str(entry.get("quant_method", "an unknown method")) if isinstance(entry, dict) else None


def check_weights(folder: Path, name: str) -> None:
    """Raise a Problem unless one consistent set of safetensors is there in full."""
    files = weights(folder, name)
    held: dict[str, dict[str, headers.Tensor] | None] = {file.name: headers.read(file) for file in files}
    broken = [file for file, tensors in held.items() if tensors is None]
    if broken:
        raise Problem("error.model_incomplete", model=name, files=_some(broken))
    named = shards(folder / INDEX, name) if (folder / INDEX).is_file() else {}
    owner: dict[str, str] = {}
    kinds: set[str] = set()
    for file, tensors in held.items():
        for tensor, entry in (tensors or {}).items():
            if tensor in owner:
                raise Problem("error.weights_mixed", model=name, one=owner[tensor], other=file)
            owner[tensor] = file
            kinds.add(entry.kind)
    if (folder / SINGLE).is_file():
        if set(named) - set(owner):
            raise Problem("error.weights_disagree", model=name, one=SINGLE, other=INDEX)
    elif lacking := [tensor for tensor, file in named.items() if owner.get(tensor) != file]:
        if misplaced := [tensor for tensor in lacking if tensor in owner]:
            file = named[misplaced[0]]
            raise Problem("error.weights_mixed", model=name, one=file, other=INDEX)
        raise Problem("error.missing_weights", model=name, names=_some(lacking))
    if not kinds & set(FLOATS) and quantized_with(read(folder / CONFIG, name)) is None:
        found = ", ".join(sorted(kinds))
        raise Problem("error.model_damaged", model=name, detail=f"its weights are stored as {found}, not as numbers")


def weights(folder: Path, name: str) -> list[Path]:
    """The files that hold the weights, whether whole or not; transformers reads SINGLE where there is an index too."""
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if not (folder / INDEX).is_file():
        raise _no_weights(folder, name)
    return [folder / shard for shard in sorted(set(shards(folder / INDEX, name).values()))]


def shards(index: Path, name: str) -> dict[str, str]:
    """From tensor to file, as an index tells it; files outside the folder are refused."""
    named = read(index, name).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise Problem("error.model_damaged", model=name, detail=f"{index.name} names no weights")
    if any(not isinstance(shard, str) or Path(shard).name != shard or "\\" in shard for shard in named.values()):
        raise Problem("error.model_damaged", model=name, detail=f"{index.name} names files outside the folder")
    if any(not shard.endswith(".safetensors") for shard in named.values()):
        raise Problem("error.model_damaged", model=name, detail=f"{index.name} names files that are no safetensors")
    return named


def read(path: Path, name: str) -> dict[str, Any]:
    """A JSON file of a model as a dictionary. Raises Problem when it is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:  # a folder may be moved while it is read
        if not path.parent.is_dir():
            raise Problem("error.model_not_found", model=str(path.parent)) from error
        raise Problem("error.model_incomplete", model=name, files=path.name) from error
    except (OSError, ValueError, RecursionError) as error:
        raise Problem("error.model_damaged", model=name, detail=f"{path.name} is no JSON") from error
    if not isinstance(content, dict):
        raise Problem("error.model_damaged", model=name, detail=f"{path.name} is no JSON")
    return content


def _no_weights(folder: Path, name: str) -> Problem:
    if any(folder.glob("model-*-of-*.safetensors")):
        return Problem("error.model_incomplete", model=name, files=INDEX)
    if pickles := _any(folder, PICKLES):
        return Problem("error.model_unsafe", model=name, files=_some(pickles))
    if _any(folder, ("*.gguf",)):
        return Problem("error.gguf", model=name)
    return Problem("error.model_incomplete", model=name, files=SINGLE)


def _any(folder: Path, patterns: tuple[str, ...]) -> list[str]:
    return sorted({path.name for pattern in patterns for path in folder.glob(pattern)})


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
