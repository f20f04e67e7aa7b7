"""From an installed model and what is chosen for it to the shape and plan that fit.py reckons with. Free of torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.messages import Problem
from inference.models import contents, fit, folders, gguf_header, gguf_set, headers, notes

if TYPE_CHECKING:
    from collections.abc import Callable

    from inference.models.fit import Plan, Shape
    from inference.models.library import Entry

CHOICE = "choice"
"""The entry of what was chosen, beside the costs."""


def shape_of(entry: Entry) -> Shape:
    """The shape of an installed model. Raises Problem when it cannot be known."""
    if entry.kind == "gguf":
        return _of_gguf(entry)
    return shape_in(entry.folder, entry.name)


def shape_in(folder: Path, name: str) -> Shape:
    """The shape of the model in a folder, by its configuration and the headers of its files."""
    config = contents.read(folder / contents.CONFIG, name)
    files = contents.weights(folder, name)
    tensors = {key: tensor for file in files for key, tensor in (headers.read(file) or {}).items()}
    size = sum(tensor.end - tensor.start for tensor in tensors.values())
    return fit.shape(config, size or None, headers.precision(tensors) or None)


def recipe(chosen: str, device: str, name: str) -> str:
    """The twin's recipe by name; auto is what was chosen for the model on a device of this type, or is likely to be."""
    if chosen != "auto":
        return chosen
    usual = "nf3" if device == "cuda" else "affine4"
    return next((one["recipe"] for one in choices() if (one["model"], one["device"]) == (name, device)), usual)


def recipes_file() -> Path:
    """What twins' recipes cost on this machine and what was chosen by it; not created here."""
    return folders.tuning_file().with_name("recipes.json")


def choices() -> list[dict[str, Any]]:
    """What was chosen, the latest first: model, device, recipe and candidates (quantize/choice.py), as far as sound."""
    entries = [entry for entry in notes.read(recipes_file()).values() if isinstance(entry, dict)]
    found = [entry.get(CHOICE) for entry in reversed(entries)]
    return [one for one in found if isinstance(one, dict) and _is_choice(one)]


def _is_choice(found: dict[str, Any]) -> bool:
    kinds = {"recipe": str, "calibrated": bool, "packed_bits": float, "cost": float, "acceptance": float,
             "is_measured": bool, "k": int, "speed": float, "fits": bool, "is_kept": bool}  # fmt: skip
    listed = found.get("candidates")
    return (
        all(isinstance(found.get(name), str) for name in ("model", "device", "source"))
        and found.get("recipe") in fit.TWIN_BITS
        and isinstance(listed, list)
        and all(isinstance(one, dict) and one.keys() == kinds.keys() for one in listed)
        and all(isinstance(one[name], kind) for one in listed for name, kind in kinds.items())
    )


def plan(shape: Shape, dtype: str, twin: str, context: int) -> Callable[[str], Plan]:
    """What is chosen, for each kind of memory; auto is what the program would take there. Raises Problem."""
    if dtype not in ("auto", *fit.BITS):
        raise Problem("error.setting", field="dtype", value=dtype, allowed=f"auto or one of {', '.join(fit.BITS)}")
    if twin not in ("auto", "none", *fit.TWIN_BITS):
        allowed = f"auto, none or one of {', '.join(fit.TWIN_BITS)}"
        raise Problem("error.setting", field="twin", value=twin, allowed=allowed)

    def chosen(kind: str) -> Plan:
        usual = fit.usual(shape, kind, context)
        recipe = usual.twin if twin == "auto" else None if twin == "none" else twin
        return fit.Plan(usual.dtype if dtype == "auto" else dtype, recipe, context)

    return chosen


def _of_gguf(entry: Entry) -> Shape:
    """The shape a GGUF file will have once it is converted."""
    header = gguf_set.read(gguf_header.parts(Path(entry.model))[0])
    heads = header.figure("attention.head_count")
    hidden = header.figure("embedding_length")
    if not isinstance(hidden, int) or not isinstance(heads, int):
        raise Problem("error.gguf_damaged", model=entry.name, detail="it does not tell its size")
    key_heads = header.figure("attention.head_count_kv")
    embedding = header.tensors.get("token_embd.weight")
    config = {
        "model_type": header.architecture,
        "hidden_size": hidden,
        "num_hidden_layers": header.figure("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": max(key_heads) if isinstance(key_heads, list) else key_heads or heads,
        "head_dim": header.figure("attention.key_length") or hidden // heads,
        "intermediate_size": header.figure("feed_forward_length"),
        "vocab_size": embedding.elements // hidden if embedding else 0,
        "max_position_embeddings": header.figure("context_length"),
        "tie_word_embeddings": "output.weight" not in header.tensors,
    }
    stored = {"F32": "float32", "F16": "float16"}.get(header.kind, "bfloat16")
    known = entry.parameters
    return fit.shape(config, known * (4 if stored == "float32" else 2) if known else None, stored)


def require(folder: Path, name: str, wanted: Plan, kind: str, index: int = 0) -> tuple[int, int]:
    """Refuse with figures, and with what would fit, a plan that the memory does not hold; (needed, free) bytes.

    ``index`` is a card's in the order of the bus.
    """
    memory = next(
        (one for one in fit.memories() if one.kind == kind and one.index == index), fit.memories()[-1]
    )
    found = fit.fit(shape_in(folder, name), wanted, memory)
    if not found.fits:
        first = found.remedies[0][0].id if found.remedies else "fit.try_nothing"
        raise Problem(
            "error.does_not_fit", model=name, needed_gb=found.needed / 1e9,
            free_gb=memory.free / 1e9, reason=first.replace("fit.try_", "fit.then_"),
        )
    return found.needed, memory.free
