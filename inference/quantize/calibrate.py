"""What the model's matrices see: the mean square of each input over built-in texts, which weighs rounding errors.

Without it a 3-bit head alone costs a quarter of the acceptance of a 135M model. Knows nothing of levels or formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEXTS: tuple[tuple[str, str], ...] = (
    (
        "Why is the sky blue?",
        "Sunlight holds all colours. Air scatters the short waves of blue light far more than the long waves of red, "
        "so from every direction of the sky some blue reaches your eye. At sunset the light crosses more air, most of "
        "the blue is gone on the way, and what is left looks orange.",
    ),
    (
        "Write a function that counts the words of a text.",
        "```python\ndef count_words(text: str) -> dict[str, int]:\n    counts: dict[str, int] = {}\n"
        "    for word in text.lower().split():\n        counts[word] = counts.get(word, 0) + 1\n"
        "    return counts\n```\n"
        "It splits at white space and keeps a dictionary from each word to the number of times it was seen.",
    ),
    (
        "A train leaves at 9:40 and takes 2 hours and 35 minutes. When does it arrive?",
        "9:40 plus 2 hours is 11:40. Another 35 minutes later it is 12:15. The train arrives at **12:15**.",
    ),
    (
        "Give me three ideas for a rainy Sunday.",
        "1. **Bake bread.** The kitchen gets warm and the house smells good.\n2. **Sort old photographs.** Choose ten "
        "and write on the back who is in them.\n3. **Read aloud.** Take turns with a book that nobody knows yet.",
    ),
    (
        "Schreibe zwei Sätze über den Herbst.",
        "Im Herbst färben sich die Blätter gelb und rot, und am Morgen liegt Nebel über den Feldern. "
        "Die Tage werden kürzer, aber das Licht am Nachmittag ist wärmer als im Sommer.",
    ),
    (
        "¿Cómo se prepara una tortilla de patatas?",
        "Pela y corta las patatas en láminas finas, fríelas despacio en aceite de oliva y escúrrelas. Bate los huevos "
        "con sal, mezcla las patatas y cuaja la tortilla por los dos lados a fuego medio.",
    ),
    (
        "Summarise: The city opened a new bridge on Monday. It cost 40 million and took three years to build. Cyclists "
        "have a lane of their own, and the old ferry will stop in spring.",
        "A new 40 million bridge with a cycle lane opened on Monday after three years of building; the old ferry ends "
        "in spring.",
    ),
    (
        "Explique en une phrase ce qu'est l'inflation.",
        "L'inflation est la hausse générale et durable des prix, qui fait que la même somme d'argent achète moins de "
        "choses qu'auparavant.",
    ),
    (
        "Write the beginning of a story about a lighthouse.",
        "Nobody had climbed the stairs of the lighthouse since the winter of the great storm. When Marta pushed the "
        'door, the hinges complained like old gulls, and a smell of salt and lamp oil came down to meet her. "Who is '
        'there?" asked a voice from above.',
    ),
    (
        "Compare cats and dogs as pets.",
        "| | Cats | Dogs |\n| --- | --- | --- |\n| Exercise | little | daily walks |\n| Alone | some hours are fine | "
        "not for long |\n| Cost | lower | higher |\n\nBoth need care, food and a vet once a year.",
    ),
)
"""Questions and answers of several kinds and languages, written for this program."""


@torch.inference_mode()
def input_importance(model: Any, texts: Iterable[Sequence[int]]) -> dict[str, torch.Tensor]:
    """Mean square of each input of every linear layer of a transformers model, float32 [in], by the layer's name.

    ``texts`` are token ids. Two names of one layer share one entry's values.
    """
    sums: dict[str, torch.Tensor] = {}
    rows = dict.fromkeys((name for name, layer in model.named_modules() if type(layer) is nn.Linear), 0)

    def watch(name: str) -> Any:
        def before(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            x = inputs[0].flatten(0, -2).float()
            sums[name] = sums.get(name, 0) + x.square().sum(0)
            rows[name] += len(x)

        return before

    hooks = [layer.register_forward_pre_hook(watch(name)) for name, layer in model.named_modules() if name in rows]
    try:
        for ids in texts:
            model(input_ids=torch.tensor([list(ids)], device=model.device), use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return {name: total / rows[name] for name, total in sums.items()}
