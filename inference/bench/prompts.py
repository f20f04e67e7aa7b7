"""Prompts for measuring: the program's own, two of each group, written for it, and those of a file.

A file is one JSON object a line with ``question_id``, ``category`` and ``turns`` (Spec-Bench's form), or plain text
with a prompt a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.messages import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CHAT = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
"""The labels of MT-bench in Spec-Bench; together they are the group chat."""

GROUPS = {
    **dict.fromkeys(CHAT, "chat"),
    "summarization": "summarisation",
    "math_reasoning": "math",
}
"""Groups of the categories that have another name; any other category is its own group."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """``group`` is chat, translation, summarisation, qa, math or rag; ``turns`` are the user's messages."""

    group: str
    turns: tuple[str, ...]


def read_prompts(file: Path) -> tuple[Prompt, ...]:
    """The prompts of a file. Raises Problem when it cannot be read or holds none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        detail = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise Problem("error.file", file=str(file), detail=detail) from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_from_json(line) if file.suffix.lower() == ".jsonl" else Prompt("prompts", (line.strip(),)))
        except (ValueError, KeyError, TypeError):
            detail = f"line {number} is no JSON object with category and turns"
            raise Problem("error.file", file=str(file), detail=detail) from None
    if not found:
        raise Problem("error.file", file=str(file), detail="it holds no prompt")
    return tuple(found)


def _from_json(line: str) -> Prompt:
    fields = json.loads(line)
    category, turns = fields["category"], fields["turns"]
    if not isinstance(category, str) or not isinstance(turns, list) or not turns:
        raise ValueError(line)
    if not all(isinstance(turn, str) and turn.strip() for turn in turns):
        raise ValueError(line)
    return Prompt(GROUPS.get(category, category), tuple(turns))


def evenly(prompts: Sequence[Prompt], limit: int) -> tuple[Prompt, ...]:
    """At most ``limit`` prompts, spread over all of them, so that groups keep their shares."""
    count = min(limit, len(prompts))
    return tuple(prompts[index * len(prompts) // count] for index in range(count))


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
