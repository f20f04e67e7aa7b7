"""From a GGUF file, or from pickled weights, to a folder of safetensors; heavy, so it runs inside a job only.

transformers reads the GGUF; here lies what it leaves out: nothing may be lost on the way, the rotary settings must be
the file's, and the result must hold as many weights as the file. Pickles are read as weights only and run nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import shutil
from typing import TYPE_CHECKING, Any

from inference.messages import Notice, Problem
from inference.models import architectures, contents, gguf_header, gguf_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.models.gguf_header import Header
    from inference.models.starter import Progress

READ, WRITTEN = 0.6, 0.95
"""How far the whole is when all tensors are read, and when all are written."""

LONG, SHORT = "rope_factors_long.weight", "rope_factors_short.weight"
EXTRA = ("rope_freqs.weight", LONG, SHORT)
"""Tensors that become settings, not weights."""

SHARD = "2GB"
"""Largest file written at once."""


def check(gguf: Path, header: Header) -> None:
    """Raise a Problem unless transformers can convert this file; decided by its header, whatever its name says."""
    name = gguf.name
    if kinds := gguf_header.unreadable(header):
        raise Problem("error.gguf_kind", model=name, kinds=", ".join(kinds), instead=gguf_header.INSTEAD)
    purpose = header.values.get("general.type", "model")
    if purpose != "model" or header.architecture == "clip":
        raise Problem("error.not_a_model", model=name, detail=f"the file is a part of a model ({purpose})")
    if header.architecture not in _architectures():
        raise Problem(
            "error.gguf_architecture", model=name, architecture=header.architecture, version=architectures.version()
        )
    if not gguf_tokenizer.is_readable(header):
        found = header.values.get("tokenizer.ggml.model", "none")
        raise Problem("error.not_a_model", model=name, detail=f"its vocabulary ({found}) cannot be read")


def bytes_needed(header: Header) -> int:
    """What the converted folder will take on the disk."""
    return header.parameters * (4 if _precision(header) == "float32" else 2) + 20_000_000


def convert(gguf: Path, target: Path, progress: Progress) -> Header:
    """Write ``gguf`` as a transformers folder to ``target``; returns the file's header.

    Quantized weights become bfloat16, others keep their precision. Raises Problem when something of the file would be
    lost.
    """
    import torch
    import transformers

    header = gguf_header.read(gguf)
    check(gguf, header)
    transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    config: Any = transformers.AutoConfig.from_pretrained(gguf.parent, gguf_file=gguf.name)
    _set_rotary(config, gguf, header)
    if "blk.0.attn_q.bias" in header.tensors and hasattr(config, "attention_bias"):
        config.attention_bias = True
    padding = getattr(config, "pad_token_id", None)
    if padding is not None and padding >= config.get_text_config().vocab_size:  # Phi-3's own, in another vocabulary
        config.pad_token_id = header.values.get("tokenizer.ggml.padding_token_id")
    try:  # first what is quick
        tokenizer = gguf_tokenizer.build(gguf, header, config.get_text_config().max_position_embeddings)
    except Exception as error:  # the tokenizers library knows no kind of its own
        detail = f"its vocabulary cannot be read ({error})"
        raise Problem("error.not_converted", model=gguf.name, detail=detail) from error
    # Without this, transformers 5.24 keeps the blocks packed where its optional kernels are installed.
    gguf_config = getattr(transformers, "GgufConfig", None)
    dense = {"quantization_config": gguf_config(dequantize=True)} if gguf_config else {}
    loader: Any = transformers.AutoModelForCausalLM
    with _heard(header, progress):
        try:
            model, report = loader.from_pretrained(
                gguf.parent, gguf_file=gguf.name, config=config, dtype=getattr(torch, _precision(header)),
                output_loading_info=True, **dense,
            )
        except (ValueError, RuntimeError, KeyError, NotImplementedError) as error:
            detail = str(error).split("\n")[0].rstrip(".")
            raise Problem("error.not_converted", model=gguf.name, detail=detail) from error
    _require_all(model, report, gguf.name, header)
    # save_pretrained refuses a model with the mark of its GGUF origin; the weights are dense by now.
    model.hf_quantizer = None
    for mark in ("quantization_config", "_name_or_path", "_model_name_or_path"):
        model.config.__dict__.pop(mark, None)
    begin, ends = header.values.get("tokenizer.ggml.bos_token_id"), gguf_tokenizer.end_ids(header)
    for settings in (model.config, model.generation_config):
        settings.bos_token_id = begin
        settings.eos_token_id = ends[0] if len(ends) == 1 else ends or None
    progress(Notice("convert.writing", {"model": gguf.name}), READ)
    model.save_pretrained(target, max_shard_size=SHARD)
    tokenizer.save_pretrained(target)
    return header


def unpickle(source: Path, target: Path, progress: Progress) -> None:
    """Write a folder with pickled weights anew with safetensors. The pickles are read as weights only: no code runs.

    Raises Problem when a file holds anything but weights, or cannot be read.
    """
    import pickle

    import torch
    from safetensors.torch import save_file

    files = sorted({path for pattern in ("pytorch_model*.bin", "model*.bin") for path in source.glob(pattern)})
    if not files:
        raise Problem("error.not_converted", model=source.name, detail="there is no pytorch_model.bin in it")
    target.mkdir(parents=True, exist_ok=True)
    named: dict[str, str] = {}
    for number, path in enumerate(files):
        progress(Notice("convert.reading", {"model": path.name}), WRITTEN * number / len(files))
        try:
            weights = torch.load(path, map_location="cpu", weights_only=True, mmap=_is_zip(path))
            if not isinstance(weights, dict) or any(not isinstance(value, torch.Tensor) for value in weights.values()):
                raise pickle.UnpicklingError("not a table of weights")
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError, AttributeError) as error:
            raise Problem("error.pickle", model=source.name, file=path.name) from error
        name = contents.SINGLE if len(files) == 1 else f"model-{number + 1:05d}-of-{len(files):05d}.safetensors"
        # Tied matrices share their memory, which the format does not allow; the config says that they are tied.
        seen: set[int] = set()
        kept = {}
        for key, tensor in weights.items():
            if tensor.data_ptr() not in seen or not tensor.numel():
                kept[str(key)] = tensor.contiguous()
            seen.add(tensor.data_ptr())
        save_file(kept, target / name, metadata={"format": "pt"})
        named |= dict.fromkeys(kept, name)
    if len(files) > 1:
        (target / contents.INDEX).write_text(json.dumps({"metadata": {}, "weight_map": named}), encoding="utf-8")
    for path in source.iterdir():
        if path.is_file() and path.suffix in (".json", ".txt", ".model", ".jinja", ".tiktoken", ".md") and not (
            path.name.endswith(".bin.index.json")
        ):
            shutil.copyfile(path, target / path.name)


def require_numbers(folder: Path, name: str, progress: Progress) -> None:
    """Read every weight of a folder again; Problem when one is no number (infinite or NaN)."""
    from safetensors import safe_open

    files = contents.weights(folder, name)
    for number, path in enumerate(files):
        progress(Notice("convert.checking", {"model": name}), WRITTEN + (1 - WRITTEN) * number / len(files))
        with safe_open(path, "pt") as opened:
            for key in opened.keys():  # noqa: SIM118 - not a dictionary
                tensor = opened.get_tensor(key)
                if tensor.is_floating_point() and not math.isfinite(float(tensor.abs().max().float())):
                    raise Problem("error.not_numbers", model=name, tensor=key)


def _precision(header: Header) -> str:
    return {"F32": "float32", "F16": "float16"}.get(header.kind, "bfloat16")


def _architectures() -> frozenset[str]:
    """What transformers converts, under the names that GGUF gives them."""
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

    known = set(GGUF_SUPPORTED_ARCHITECTURES)
    try:
        from transformers.integrations.gguf.gguf_config_mapping import GGUF_CONFIG_ARCHS

        known |= set(GGUF_CONFIG_ARCHS)
    except ImportError:  # before 5.24
        pass
    spelled = {"qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "gpt_oss": "gpt-oss", "minimax_m2": "minimax-m2"}
    known |= {spelled[name] for name in spelled if name in known}
    return frozenset(known - {"general", "tokenizer", "t5", "umt5", "t5encoder"})


@contextlib.contextmanager
def _heard(header: Header, progress: Progress) -> Iterator[None]:
    """Tell how far the reading is: transformers asks the gguf package for each tensor's numbers, by this name."""
    gguf: Any = importlib.import_module("gguf")
    original = gguf.dequantize
    total, done, said = max(1, header.parameters), 0, -1.0

    def dequantize(data: Any, kind: Any) -> Any:
        nonlocal done, said
        numbers = original(data, kind)
        done += numbers.size
        if done / total - said > 0.005:
            said = done / total
            values = {"done_m": done / 1e6, "total_m": total / 1e6}
            progress(Notice("convert.reading_part", values), READ * min(1.0, said))
        return numbers

    gguf.dequantize = dequantize
    try:
        yield
    finally:
        gguf.dequantize = original


def _require_all(model: Any, report: dict[str, Any], name: str, header: Header) -> None:
    """Every weight of the model came from the file, and every weight of the file went into the model."""
    missing = sorted(report["missing_keys"]) + sorted(str(key) for key in report["mismatched_keys"])
    if missing:
        raise Problem("error.not_converted", model=name, detail=f"the file lacks {missing[0]}")
    held = sum(parameter.numel() for parameter in model.parameters())
    expected = sum(tensor.elements for key, tensor in header.tensors.items() if key not in EXTRA)
    if model.config.tie_word_embeddings and "output.weight" in header.tensors:
        expected -= header.tensors["output.weight"].elements
    if held != expected:
        detail = f"it holds {expected:,} weights, of which transformers would take {held:,}".replace(",", " ")
        raise Problem("error.not_converted", model=name, detail=detail)


def _set_rotary(config: Any, gguf: Path, header: Header) -> None:
    """The rotary settings of the file, which transformers' reading of the older kinds leaves out."""
    text = config.get_text_config()
    if any(name.startswith("rope_factors") for name in header.tensors):
        text.rope_parameters = {**text.rope_parameters, **_longrope(text, gguf, header)}
    if (text.rope_parameters or {}).get("rope_type", "default") != "default":
        return
    kind, factor = header.figure("rope.scaling.type"), header.figure("rope.scaling.factor")
    original = header.figure("rope.scaling.original_context_length")
    if kind == "linear" and factor and factor != 1:
        text.rope_parameters = {**text.rope_parameters, "rope_type": "linear", "factor": float(factor)}
    elif kind == "yarn" and factor and original:
        text.rope_parameters = {
            **text.rope_parameters, "rope_type": "yarn", "factor": float(factor),
            "original_max_position_embeddings": int(original),
        }
    elif kind not in (None, "none", "linear", "yarn"):
        raise Problem("error.not_converted", model=gguf.name, detail=f"its rotary scaling {kind} is not supported")
    if "rope_freqs.weight" in header.tensors:
        text.rope_parameters = {**text.rope_parameters, **_llama3(config, gguf)}


def _longrope(text: Any, gguf: Path, header: Header) -> dict[str, Any]:
    """Phi-3's rotary settings: factors for texts up to the length it learned and for longer ones, held as tensors."""
    factors = {key: _numbers(gguf, key) for key in (LONG, SHORT) if key in header.tensors}
    original = header.figure("rope.scaling.original_context_length")
    heads = text.hidden_size // text.num_attention_heads
    turned = header.figure("rope.dimension_count") or heads
    is_whole = len(factors) == 2 and all(len(numbers) == turned // 2 for numbers in factors.values())
    if header.architecture != "phi3" or not isinstance(original, int) or not is_whole:
        raise Problem("error.not_converted", model=gguf.name, detail="its rotary factors by length are not supported")
    text.original_max_position_embeddings = original
    settings: dict[str, Any] = {
        "rope_type": "longrope", "long_factor": factors[LONG], "short_factor": factors[SHORT],
        "original_max_position_embeddings": original, "factor": text.max_position_embeddings / original,
    }
    if attention := header.figure("rope.scaling.attn_factor"):
        settings["attention_factor"] = float(attention)
    if turned != heads:
        settings["partial_rotary_factor"] = turned / heads
    return settings


def _numbers(gguf: Path, name: str) -> list[float]:
    """A small tensor of a file as numbers."""
    from gguf import GGUFReader

    return [float(one) for tensor in GGUFReader(gguf).tensors if tensor.name == name for one in tensor.data.ravel()]


def _llama3(config: Any, gguf: Path) -> dict[str, Any]:
    """Llama 3's rotary settings, recognised by the factors that the file holds in their place."""
    import numpy as np
    from gguf import GGUFReader

    tensor = next(tensor for tensor in GGUFReader(gguf).tensors if tensor.name == "rope_freqs.weight")
    factors = np.asarray(tensor.data, dtype=np.float64).ravel()
    theta = config.rope_parameters["rope_theta"]
    lengths = 2 * math.pi * theta ** (np.arange(len(factors)) / len(factors))
    largest = float(factors.max())
    for original in (8192, 4096, 16384, 32768):
        low, high = original / 1.0, original / 4.0
        smooth = (original / lengths - 1.0) / (4.0 - 1.0)
        between = 1 / ((1 - smooth) / largest + smooth)
        expected = np.where(lengths < high, 1.0, np.where(lengths > low, largest, between))
        if np.allclose(factors, expected, rtol=1e-3):
            return {
                "rope_type": "llama3", "factor": largest, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": original,
            }
    raise Problem("error.not_converted", model=gguf.name, detail="its rotary factors are of an unknown kind")


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"

