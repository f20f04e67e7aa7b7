"""Which kinds of model the installed transformers knows, without importing it each time: that takes seconds.

Asked once for each version and kept in a file that can be made anew. Knows no model.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import metadata

from inference.models import folders

RECURRENT = frozenset({"linear_attention", "mamba", "recurrent", "conv"})
"""Kinds of layer that keep a running state, which cannot be cut back to an earlier token."""

RECURRENT_MODELS = frozenset({
    "mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm", "recurrent_gemma", "jamba", "bamba", "zamba", "zamba2", "lfm2",
    "lfm2_moe", "qwen3_next", "falcon_h1", "nemotron_h", "granitemoehybrid", "plamo2", "kimi_linear", "olmo_hybrid",
})
"""Models that keep such a state without saying so in ``layer_types``."""


@cache
def version() -> str:
    """Of the installed transformers."""
    return metadata.version("transformers")


@cache
def known() -> frozenset[str]:
    """Every ``model_type`` that transformers has code for."""
    return _kept()["known"]


@cache
def chat_models() -> frozenset[str]:
    """Those of them that write text."""
    return _kept()["text"]


def _kept() -> dict[str, frozenset[str]]:
    file = folders.tuning_file().with_name("architectures.json")
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["version"] == version():
            return {name: frozenset(map(str, kept[name])) for name in ("known", "text")}
    except (OSError, ValueError, KeyError, TypeError):
        pass  # asked anew
    found = _asked()
    new = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        listed = {name: sorted(kinds) for name, kinds in found.items()}
        new.write_text(json.dumps({"version": version(), **listed}), encoding="utf-8")
        new.replace(file)
    except OSError:
        return found
    return found


def _asked() -> dict[str, frozenset[str]]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES  # type: ignore[attr-defined]
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return {"known": frozenset(CONFIG_MAPPING_NAMES), "text": frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)}
