"""Targets in few bits by bitsandbytes: how transformers is told to load one, and what cannot be promised for it.

Their kernels depend on the number of rows, so exact mode is off; and nothing is left that a low-bit copy could save.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

OURS = "int8"
"""The one that is ours: quantized after loading, and exact."""

OTHERS = ("nf4", "llm-int8")


def configuration(weights: str, dtype: torch.dtype) -> Any:
    """What transformers' loader takes for these weights; None for those it reads as they are."""
    if weights not in OTHERS:
        return None
    import transformers

    # It warns in each product of LLM.int8 that activations become float16, and on a CPU of a package it can do without.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    configuration_of: Any = transformers.BitsAndBytesConfig
    if weights == "nf4":
        return configuration_of(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)
    return configuration_of(load_in_8bit=True)
