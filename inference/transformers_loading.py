"""What transformers makes of a checked folder: configuration, module, tokenizer, and every failure as one sentence.

For whatever ``llama_like`` does not know. No weight is left at its random start and none is dropped in silence. Code of
the folder's own runs only where the user said yes to it (models/safety.py).
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import transformers

from inference import freeing
from inference.messages import Problem
from inference.models import contents, headers, safety

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_config(folder: Path, name: str) -> Any:
    """The folder's configuration. Raises Problem when transformers does not understand it."""
    _silence()
    _require_kind(folder, name)
    _import_models()
    try:
        return transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=safety.is_allowed(folder)
        )
    except Exception as error:
        raise _config_problem(error, folder, name) from None


def read_model(
    folder: Path, name: str, config: Any, dtype: torch.dtype, quantized: Any = None, device: torch.device | None = None
) -> Any:
    """The folder's module in ``dtype`` on the CPU. Raises Problem unless exactly its weights are those of the files.

    ``quantized`` has bitsandbytes quantize them as they are read, onto the device.
    """
    loader: Any = transformers.AutoModelForCausalLM
    placed = {} if quantized is None else {"quantization_config": quantized, "device_map": {"": device}}
    try:
        model, report = loader.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
            trust_remote_code=safety.is_allowed(folder),
            **placed,
        )
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        if "allocate memory" in str(error):
            raise
        raise _weights_problem(error, folder, name, config) from None
    missing = sorted(report["missing_keys"]) + sorted(str(key) for key in report["mismatched_keys"])
    if missing:
        raise Problem("error.missing_weights", model=name, names=_some(missing))
    if surplus := _surplus(report["unexpected_keys"], model):
        raise Problem("error.surplus_weights", model=name, names=_some(surplus))
    return model


def read_tokenizer(folder: Path, name: str, config: Any = None) -> Any:
    """The folder's tokenizer; ``config`` is what ``read_config`` gave. Raises Problem when it cannot be read."""
    _silence()
    config = config or _plain_config(folder, name)
    try:
        with freeing.uncollected():  # it is imported, too
            return transformers.AutoTokenizer.from_pretrained(
                folder, config=config, local_files_only=True, trust_remote_code=safety.is_allowed(folder)
            )
    except Exception as error:  # the tokenizers library raises plain exceptions
        detail = f"its tokenizer is wrong ({_first_line(error)})"
        raise Problem("error.model_damaged", model=name, detail=detail) from None


def _plain_config(folder: Path, name: str) -> Any:
    """A configuration of no class: all that a tokenizer needs which names its own class, and a second less to import.

    None where the class is looked up by the configuration's.
    """
    settings = folder / "tokenizer_config.json"
    content = contents.read(settings, name) if settings.is_file() else {}
    if not content.get("tokenizer_class") or "auto_map" in content:
        return None
    return transformers.PreTrainedConfig.from_pretrained(folder, local_files_only=True)


def _silence() -> None:
    quiet: Any = transformers.logging
    quiet.set_verbosity_error()
    quiet.disable_progress_bar()


def _import_models() -> None:
    """Import what transformers reads models with, without Triton where there is no card.

    PyTorch's compiler, which transformers imports, loads it where it finds it: 75 MB that nothing here would use.
    """
    if torch.cuda.is_available():
        return
    with _absent("triton"):
        import transformers.modeling_utils  # noqa: F401


@contextmanager
def _absent(package: str) -> Iterator[None]:
    """A package that cannot be imported for a while, by the import system's own mark, unless it was already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


def _require_kind(folder: Path, name: str) -> None:
    """A kind that is no text would be looked up as one."""
    if not isinstance(contents.read(folder / contents.CONFIG, name).get("model_type"), str):
        raise Problem("error.not_a_model", model=name, detail="its config.json names no model_type")


def _config_problem(error: Exception, folder: Path, name: str) -> Problem:
    if isinstance(error, ImportError):
        return Problem("error.missing_library", model=name, detail=_first_line(error))
    if "does not recognize this architecture" in str(error):
        kind = str(contents.read(folder / contents.CONFIG, name).get("model_type"))
        return Problem("error.architecture", model=name, architecture=kind, version=transformers.__version__)
    if "rope" in str(error):
        return Problem("error.rope", model=name, detail=_first_line(error), version=transformers.__version__)
    return Problem("error.model_damaged", model=name, detail=f"its config.json is wrong ({_first_line(error)})")


def _weights_problem(error: Exception, folder: Path, name: str, config: Any) -> Problem:
    if isinstance(error, ImportError):
        return Problem("error.missing_library", model=name, detail=_first_line(error))
    text = config.get_text_config()
    kinds = _rotary_kinds(getattr(text, "rope_parameters", None))
    if isinstance(error, KeyError) and error.args and str(error.args[0]) in kinds:
        detail = f"the kind {error.args[0]}"
        return Problem("error.rope", model=name, detail=detail, version=transformers.__version__)
    if isinstance(error, RuntimeError) and "ignore_mismatched_sizes" in str(error):
        return Problem("error.weights_shape", model=name, detail=_difference(folder, name, config))
    return Problem("error.model_damaged", model=name, detail=_first_line(error))


def _rotary_kinds(settings: Any) -> set[str]:
    """The kinds that rotary settings name, at the top or for each kind of layer."""
    if not isinstance(settings, dict):
        return set()
    found = {str(settings[key]) for key in ("rope_type", "type") if key in settings}
    return found.union(*(_rotary_kinds(value) for value in settings.values()))


def _difference(folder: Path, name: str, config: Any) -> str:
    """The first weight whose shape in the files is not what the configuration asks for."""
    loader: Any = transformers.AutoModelForCausalLM
    with torch.device("meta"):
        wanted = loader.from_config(config).state_dict()
    for path in contents.weights(folder, name):
        for key, tensor in (headers.read(path) or {}).items():
            if key in wanted and tuple(wanted[key].shape) != tensor.shape:
                shapes = (" x ".join(map(str, shape)) for shape in (tensor.shape, wanted[key].shape))
                return "{} is {}, not {}".format(key, *shapes)
    return "shapes differ"


def _surplus(unexpected: Any, model: Any) -> list[str]:
    """Weights of the files that are like the model's own, but for a number: of more layers than the config names.

    Others, such as a part that sees pictures or guesses several tokens, are left out on purpose.
    """
    own = {re.sub(r"\d+", "#", key) for key in model.state_dict()}
    return sorted(key for key in unexpected if re.sub(r"\d+", "#", key) in own)


def _first_line(error: Exception) -> str:
    """What a library says, short and without its advice."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    said = lines[0] if lines else type(error).__name__
    if said.endswith(":") and len(lines) > 1:
        said = f"{said} {lines[1]}"
    return said[:200].rstrip(".:")


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
