"""Twelve prompts of twelve kinds, written for this program: what a comparison runs when nothing else is chosen.

Standard library only.
"""

from __future__ import annotations

from inference.bench.prompts import Prompt

KINDS: tuple[Prompt, ...] = (
    Prompt("poem", ("Write a short poem about a lighthouse.",)),
    Prompt("story", ("Tell a short story about a clock that ran backwards.",)),
    Prompt("letter", ("Write a polite letter to a neighbour whose dog barks at night.",)),
    Prompt("code", ("Write a Python function that counts the vowels of a text, and show one example.",)),
    Prompt("translation", ("Translate to Spanish: The train leaves at nine, and the tickets are in my coat.",)),
    Prompt(
        "summary",
        (
            "Summarise in two sentences: The old mill by the river was rebuilt this spring. Volunteers replaced the "
            "wheel, which had stood still since a flood in 1987, and found the miller's account book behind a wall. "
            "From June on the mill will grind flour again on Saturdays, and a small room will show the account book "
            "beside photographs of the flood. The town pays for the roof; everything else came from donations.",
        ),
    ),
    Prompt(
        "rewriting",
        (
            "Rewrite this message so that it is friendly and short: You have sent the wrong file again. I have told "
            "you twice that I need the report of March and not the one of May. Send me the right file today.",
        ),
    ),
    Prompt(
        "extraction",
        (
            "List every name and year in this text, one a line: Ada Brook founded the school in 1911. Her pupil Jon "
            "Hale led it from 1934 on, until Mira Voss took over in 1958.",
        ),
    ),
    Prompt("question", ("Why is the sea salty while rivers are not?",)),
    Prompt(
        "arithmetic", ("A pump fills 45 litres in 3 minutes. How long does it need for 240 litres? Show the steps.",)
    ),
    Prompt("list", ("Give eight tips for a first camping trip.",)),
    Prompt(
        "text",
        (
            "Answer from the text only. Text: The ferry Heron crosses the bay four times a day from April to October. "
            "A crossing takes 35 minutes and costs 6 pounds; bicycles travel free. In winter she lies in Port Ayr. "
            "Question: When does the ferry run, and what does a bicycle cost?",
        ),
    ),
)
"""``group`` is the kind's own name."""
