"""What a request asks of a loaded model, held against what the model can do. Knows nothing of how it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.messages import Problem

if TYPE_CHECKING:
    from inference.ready import Ready
    from inference.settings import Control


def check_k(ready: Ready, control: Control) -> None:
    """Raises Problem when K is more than the mode in force was tested for."""
    k, largest = control.speculation.k, ready.loaded.largest_k
    if k is not None and k > largest > 0:
        raise Problem("error.k_too_large", k=k, largest=largest)


def bias(ready: Ready, texts: tuple[tuple[str, float], ...]) -> dict[int, float]:
    """Logit bias by token id. A text that is not one token of this model is a Problem."""
    found = {}
    for text, value in texts:
        ids = ready.model.tokenizer.encode(text, add_special_tokens=False)
        if len(ids) != 1:
            raise Problem("error.not_a_token", text=text, count=len(ids))
        found[ids[0]] = value
    return found
