"""What calibration reads: built-in answers, or texts that the model itself writes to built-in prompts.

The model's own words are what the twin will draft. Several texts are written at once, each seeing only itself in one
cache. Knows nothing of quantization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from inference.kv_cache import KVCache
from inference.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from inference.model import Forward

ANSWERS: tuple[tuple[str, str], ...] = (
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
"""Questions and answers of several kinds and languages, written for this program: what a quick build reads."""


PROMPTS: tuple[str, ...] = (
    "Why is the sky blue?",
    "Write a Python function that counts the words of a text.",
    "A train leaves at 9:40 and takes 2 hours and 35 minutes. When does it arrive?",
    "Give me three ideas for a rainy Sunday.",
    "Schreibe zwei Sätze über den Herbst.",
    "¿Cómo se prepara una tortilla de patatas?",
    "Explique en une phrase ce qu'est l'inflation.",
    "Write the beginning of a story about a lighthouse.",
    "Compare cats and dogs as pets in a table.",
    "What is the capital of Portugal, and what is it known for?",
    "Write a polite email that asks for a day off on Friday.",
    "Explain what a hash table is and when to use one.",
    "Summarise: The city opened a new bridge on Monday. It cost 40 million and took three years to build. "
    "Cyclists have a lane of their own, and the old ferry will stop in spring.",
    "Translate into English: Der Zug nach München fährt heute von Gleis sieben und hat zehn Minuten Verspätung.",
    "Write a SQL query that lists all customers older than thirty, ordered by name.",
    "If a shirt costs 40 euros after a discount of 20 percent, what did it cost before? Show the steps.",
    "Who wrote Don Quixote, and what is the book about?",
    "Write a short poem about the sea.",
    "Give me a recipe for tomato soup.",
    "What are the causes of the First World War?",
    "Act as a travel guide and plan two days in Rome.",
    "Answer from the text only. Text: The Tern is a sailing boat of 9 metres, built in 1962 in Leith. She has "
    "two masts and sleeps four. Question: How old is the Tern and how many people can sleep on board?",
    "Translate into French: I would like a table for two near the window, please.",
    "Explain how vaccines work to a ten-year-old child.",
    "List the planets of the solar system with one fact about each.",
    "Escribe un párrafo sobre la importancia del agua.",
    "Write a product description for a light backpack.",
    "What is the difference between a virus and a bacterium?",
    "Write a JavaScript function that removes duplicates from an array.",
    "A farmer has 17 sheep and buys 5 more each month for 4 months. How many sheep has he then?",
    "Pretend to be Sherlock Holmes and describe how you would find a lost umbrella.",
    "Extract the names and dates from this text: Ada Lovelace was born on 10 December 1815; Charles Babbage "
    "died on 18 October 1871.",
    "What happened in 1969?",
    "Give arguments for and against working from home.",
    "Übersetze ins Englische: Die Regierung will im nächsten Jahr mehr Geld für Schulen ausgeben.",
    "Describe photosynthesis in detail.",
    "Write a haiku about winter and explain it.",
    "How do I learn to play the guitar? Give me a plan for four weeks.",
    "Solve for x: 3x + 7 = 25.",
    "Qu'est-ce que la photosynthèse ?",
    "Write a dialogue between a customer and a waiter.",
    "What is machine learning, and where is it used?",
    "Correct the grammar: She don't has no time for go to the school yesterday.",
    "Summarise in one sentence: Bees fly from flower to flower and carry pollen with them. Without them many "
    "plants would bear no fruit. In the last years their number has fallen, because of poisons, diseases and "
    "the loss of meadows.",
    "When did the Roman Empire fall, and why?",
    "What are the benefits of exercise?",
    "Write an HTML page with a heading and a list of three items.",
    "Name five famous paintings and their painters.",
)
"""Questions and orders of several kinds and languages, written for this program: what the model answers."""

AT_ONCE = 24
LENGTH = 128
TEMPERATURE = 0.7
CANDIDATES = 20
"""As many of the likeliest tokens may be drawn."""


@dataclass(frozen=True, slots=True)
class Text:
    """Token ids; from ``begin`` on they are what a model writes."""

    ids: tuple[int, ...]
    begin: int


@torch.inference_mode()
def write_texts(
    forward: Forward, prompts: Sequence[Sequence[int]], ends: frozenset[int], device: torch.device, length: int = LENGTH
) -> Generator[tuple[int, int], None, list[Text]]:
    """Let the model answer each prompt in up to ``length`` tokens; yields (done, total) steps."""
    groups = [prompts[start : start + AT_ONCE] for start in range(0, len(prompts), AT_ONCE)]
    total = len(groups) * length
    generator = torch.Generator().manual_seed(0)
    found: list[Text] = []
    for number, group in enumerate(groups):
        first = sum(map(len, group))
        cache = KVCache(first + length * len(group), 0)
        owns: list[list[int]] = []
        logits = []
        place = 0
        for prompt in group:
            slots = list(range(place, place + len(prompt)))
            seen = torch.zeros(len(prompt), place + len(prompt), dtype=torch.bool)
            seen[:, place:] = torch.ones(len(prompt), len(prompt)).tril().bool()
            logits.append(forward(_rows(prompt, range(len(prompt)), slots, seen, device), cache, last_only=True))
            owns.append(slots)
            place += len(prompt)
        texts = [list(prompt) for prompt in group]
        open_rows = list(range(len(texts)))
        tokens = _draw(torch.cat(logits), generator)
        for step in range(length):
            for row in open_rows:
                texts[row].append(tokens[row])
            open_rows = [row for row in open_rows if tokens[row] not in ends]
            yield number * length + step, total
            if step == length - 1 or not open_rows:
                break
            span = place + len(group)
            seen = torch.zeros(len(group), span, dtype=torch.bool)
            for row, own in enumerate(owns):
                own.append(place + row)
                seen[row, own] = True
            positions = [len(own) - 1 for own in owns]
            rows = _rows(tokens, positions, range(place, span), seen, device)
            tokens = _draw(forward(rows, cache), generator)
            place = span
        found += [Text(tuple(text), len(prompt)) for text, prompt in zip(texts, group, strict=True)]
    return found


def _rows(
    tokens: Sequence[int], positions: Sequence[int] | range, slots: Sequence[int] | range, seen: torch.Tensor,
    device: torch.device,
) -> Rows:  # fmt: skip
    return Rows(
        tokens=torch.tensor(list(tokens), device=device),
        positions=torch.tensor(list(positions), device=device),
        slots=torch.tensor(list(slots), device=device),
        mask=seen.to(device),
        used=len(tokens),
        first=slots[0],
    )


def _draw(logits: torch.Tensor, generator: torch.Generator) -> list[int]:
    """One token a row, of the likeliest few."""
    likeliest, tokens = logits.float().topk(min(CANDIDATES, logits.shape[-1]))
    drawn = torch.multinomial(torch.softmax(likeliest.cpu() / TEMPERATURE, -1), 1, generator=generator)
    return [int(token) for token in tokens.cpu().gather(1, drawn)[:, 0]]
