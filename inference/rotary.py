"""Rotary factors by length (longrope): chosen once for a loaded model, by the context that it gets.

transformers chooses them for every pass, by its last position. Keys in the cache would then keep factors that later
queries do not have, and a draft that crosses the border would change the rows before it. llama.cpp chooses as here.
"""

from __future__ import annotations

from typing import Any

SETTLED = "settled"
"""What the module's kind is called afterwards; it computes with the frequencies it has."""


def settle(model: Any, context: int) -> None:
    """Give every rotary module of ``model`` the long factors where ``context`` tokens are more than it learned."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    for module in model.modules():
        if getattr(module, "rope_type", None) != "longrope" or not hasattr(module, "inv_freq"):
            continue
        original = module.config.rope_parameters["original_max_position_embeddings"]
        if context > original:
            choose: Any = ROPE_INIT_FUNCTIONS["longrope"]
            frequencies, _ = choose(module.config, module.inv_freq.device, seq_len=original + 1)
            module.inv_freq.copy_(frequencies)
        module.rope_type = SETTLED
