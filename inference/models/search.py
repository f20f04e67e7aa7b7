"""Looks for models on the hub by name. What it finds is described, not fetched; runs inside a job, see job.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import huggingface_hub
from huggingface_hub import constants

from inference.messages import Notice, Problem
from inference.models import tested
from inference.models.hub_errors import as_problem, seconds_to_wait
from inference.models.transfer import wait_as_told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from huggingface_hub.hf_api import ModelInfo

    from inference.models.starter import Progress

LIMIT = 40
BYTES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2}
"""Of a stored number; one byte for whatever is not named."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model of the hub. ``size`` counts the weights' bytes, ``parameters`` weights; None where the hub tells neither.

    ``form`` is safetensors, gguf, or other, which cannot be loaded. ``free``: the licence allows any use.
    ``tested``: it is on the program's own list.
    """

    name: str
    repository: str
    model: str
    licence: str
    free: bool
    gated: bool
    parameters: int | None
    size: int | None
    downloads: int
    form: str
    tested: bool


def search(words: str, progress: Progress, *, licence: str = "any", largest: int | None = None) -> list[Found]:
    """Models that write text and whose name holds ``words``, most fetched first; what cannot be loaded is left out.

    ``licence`` is any, free (any use is allowed), or a name of the hub; ``largest`` counts bytes of weights, and a
    model that does not tell them passes. Problems: as of a download.
    """
    if constants.is_offline_mode():
        raise Problem("error.offline_search")
    progress(Notice("download.searching", {"words": words.strip()}), None)
    while True:
        try:
            found = [_described(info) for info in _ask(words, licence)]
            break
        except Exception as error:
            busy = seconds_to_wait(error) if isinstance(error, huggingface_hub.errors.HfHubHTTPError) else None
            if busy is None:
                raise as_problem(error, words.strip(), None) from error
            wait_as_told(busy, progress)
    return [
        one for one in found
        if one.form != "other"
        and (licence != "free" or one.free)
        and (largest is None or one.size is None or one.size <= largest)
    ]  # fmt: skip


def as_json(one: Found) -> dict[str, Any]:
    """An entry as jobs print it."""
    return asdict(one)


def _ask(words: str, licence: str) -> Iterator[ModelInfo]:
    named = licence not in ("any", "free")
    yield from huggingface_hub.HfApi().list_models(
        search=words.strip() or None, pipeline_tag="text-generation", sort="downloads", limit=LIMIT,
        filter=[f"license:{licence}"] if named else None,
        expand=["safetensors", "gated", "downloads", "tags", "sha"],
    )  # fmt: skip


def _described(info: ModelInfo) -> Found:
    tags = info.tags or []
    form = next((form for form in ("safetensors", "gguf") if form in tags), "other")
    stored = info.safetensors.parameters if info.safetensors else {}
    known = next((one for one in tested.models() if one.repository == info.id), None)
    size = sum(count * BYTES.get(kind, 1) for kind, count in stored.items()) or None
    licence = next((tag.partition(":")[2] for tag in tags if tag.startswith("license:")), "")
    return Found(
        name=info.id.partition("/")[2],
        repository=info.id,
        model=known.model if known else info.id,
        licence=licence,
        free=licence in tested.FREE,
        gated=bool(info.gated),
        parameters=known.parameters if known else sum(stored.values()) or None,
        size=known.size if known else size,
        downloads=info.downloads or 0,
        form=form,
        tested=known is not None,
    )
