"""Hybrid: one source a round, the look-up where its match promises more tokens per second, else the model that drafts.

Is given its parts and what each promises; knows nothing of how they draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.option import Option


def quickest(options: Sequence[Option], rate: float = 0.0, corrections: Sequence[float] = ()) -> Option:
    """The option of the highest speed, the first among equals; a try goes before all that promise more.

    Where a millisecond is worth more than the best of them promises, ``rate`` tokens, what an option costs counts for
    more: amid text that is looked up, a long draft of a model is dearer than a plain step to the next match.
    ``corrections`` multiply what each promises.
    """
    for option in options:
        if option.is_try:
            return option
    corrections = corrections or [1.0] * len(options)
    rate = max([rate, *(option.speed * share for option, share in zip(options, corrections, strict=True))])
    worth = [option.tokens * share - rate * option.ms for option, share in zip(options, corrections, strict=True)]
    return options[max(range(len(options)), key=worth.__getitem__)]


def pace(recent: float, best: float) -> float:
    """What a millisecond is worth, in tokens: the mean of the last rounds' speed and the best that is promised now.

    The promise alone where that is more. Simulated on 48 real prompts: 9 % more speed for translations than by the
    promise alone, 1.4 % over all kinds; by the last rounds alone nothing.
    """
    return max(best, (recent + best) / 2)
