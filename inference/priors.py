"""What was learned of a model's drafters, kept from one start of the program to the next.

Shares and times only, a few numbers for each model: no token and no text of a chat. What cannot be read is learned
again, and what cannot be written is learned again next time.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from inference.draft_length import SIBLINGS, Acceptance
from inference.drafters.auto import Auto, Measured
from inference.drafters.ngram import BRANCHES, CLASSES, Chances
from inference.models import folders, notes

if TYPE_CHECKING:
    from inference.drafting import Learned

MOST = 40
"""Models that are kept; the oldest go first."""


def recall(identity: str, learned: Learned) -> None:
    """Put what is kept of this model and mode into ``learned``."""
    kept = notes.read(folders.priors_file()).get(identity)
    if not isinstance(kept, dict):
        return
    try:
        acceptance = {str(name): _acceptance(*map(_numbers, counts)) for name, counts in kept["acceptance"].items()}
        tests, hits = ([_numbers(row) for row in rows] for rows in kept["chances"])
        measured = {(str(name), int(bucket)): Measured(**fields) for name, bucket, fields in kept["measured"]}
    except (KeyError, TypeError, ValueError, AttributeError):
        return
    if any(len(rows) != len(CLASSES) or any(len(row) != BRANCHES for row in rows) for rows in (tests, hits)):
        return
    learned.acceptance |= acceptance
    learned.chances = Chances(tests, hits)
    learned.auto = Auto(measured)


def keep(identity: str, learned: Learned) -> None:
    """Remember what was learned of this model and mode."""
    kept = notes.read(folders.priors_file())
    kept.pop(identity, None)
    kept[identity] = {
        "acceptance": {
            name: [_rounded(counts) for counts in (one.tests, one.hits, one.missed, one.caught)]
            for name, one in ((name, found.carried()) for name, found in learned.acceptance.items())
        },
        "chances": [[_rounded(row) for row in rows] for rows in (learned.chances.tests, learned.chances.hits)],
        "measured": [[name, bucket, asdict(one)] for (name, bucket), one in learned.auto.measured.items()],
    }
    notes.write(folders.priors_file(), dict(list(kept.items())[-MOST:]), None)


def _acceptance(tests: list[float], hits: list[float], missed: list[float], caught: list[float]) -> Acceptance:
    if len(tests) != len(hits) or not len(missed) == len(caught) == len(SIBLINGS):
        raise ValueError(tests)
    return Acceptance(tests, hits, missed, caught)


def _numbers(values: Any) -> list[float]:
    found = [float(value) for value in values]
    if any(not 0 <= value < 1e9 for value in found):
        raise ValueError(values)
    return found


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 3) for value in values]
