"""The program's own prompts for measuring and for demonstrations, written for it: two of each group."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """``group`` is chat, translation, summarisation, qa, math or rag; ``turns`` are the user's messages."""

    group: str
    turns: tuple[str, ...]


BUILT_IN: tuple[Prompt, ...] = (
    Prompt("chat", ("Write a short poem about the sea.",)),
    Prompt("chat", ("Write a Python function that returns the longest word of a sentence, and explain it.",)),
    Prompt("translation", ("Translate to German: The market opens at seven, and the best bread is gone by eight.",)),
    Prompt("translation", ("Translate to English: Mañana iremos en tren a la costa si no llueve demasiado.",)),
    Prompt(
        "summarisation",
        (
            "Summarise in two sentences: The harbour of the old town was dredged last summer for the first time in "
            "thirty years. Workers brought up four tons of anchors, two cannons and a ship's bell from 1741. The "
            "museum will show the bell from March on, while the cannons must first lie in fresh water for two years "
            "to lose their salt. Fishermen complain that the work drove away the eels; the mayor promises to pay for "
            "lost catches and to plant reeds along the eastern wall.",
        ),
    ),
    Prompt(
        "summarisation",
        (
            "Give the main point of this note in one sentence: Our team tried three ways to keep the greenhouse warm "
            "in winter. Electric heaters cost the most and failed twice when the power went out. Straw bales around "
            "the walls helped by four degrees and cost nearly nothing. Barrels of water painted black gathered heat "
            "during the day and gave it back at night; together with the straw they kept the frost out all January.",
        ),
    ),
    Prompt("qa", ("Why do leaves change their colour in autumn?",)),
    Prompt("qa", ("What is the difference between a virus and a bacterium?",)),
    Prompt("math", ("A baker sells 24 rolls for 18 euros. What do 40 rolls cost at the same price? Show the steps.",)),
    Prompt("math", ("Anna is twice as old as Ben. Together they are 36 years old. How old is each of them?",)),
    Prompt(
        "rag",
        (
            "Answer from the text only. Text: The Tern is a sailing boat of 9 metres, built in 1962 in Leith. She has "
            "a wooden hull, two masts and sleeps four. Since 2015 she belongs to a club that rents her from May to "
            "September for 140 pounds a day. Question: In which months can the Tern be rented, and for how much?",
        ),
    ),
    Prompt(
        "rag",
        (
            "Use these notes. [1] The library opens at 10 on weekdays and at 12 on Saturdays. [2] On Sundays it is "
            "closed. [3] Books may be kept for four weeks and renewed once. Question: When does the library open on "
            "Saturday, and how long may a book be kept at most?",
        ),
    ),
)
