"""The controller of K against a drafter that is always wrong: `python -m tests.measure_poisoned [options of bench]`.

It drafts as ever and at its full cost, but each of its tokens is moved by one. What counts is the line of
K auto against that of off in the same mode.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from inference.bench import command
from inference.drafters.base import Draft
from inference.messages import Problem
from inference.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.drafters.base import Drafter
    from inference.sampling import Sampler


class Poisoned:
    """A drafter's drafts with every token replaced by its neighbour."""

    def __init__(self, drafter: Drafter, vocabulary: int) -> None:
        self.name = drafter.name
        self._drafter = drafter
        self._vocabulary = vocabulary

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        draft = self._drafter.propose(ids, k, sampler)
        return Draft(tuple((token + 1) % self._vocabulary for token in draft.tokens), draft.parents)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    command.add_arguments(parser)
    options = parser.parse_args(arguments)
    session = Session()
    seconds: dict[str, float] = {}
    try:
        command.load(session, command.choice_of(options), seconds)
        ready = session.ready
        assert ready is not None
        for name in ready.offered.names:
            offer = ready.offered.find(name)
            if offer is not None:
                ready.offered.add(replace(offer, drafter=Poisoned(offer.drafter, ready.model.vocabulary)))
        record = command.measured(session, options, seconds)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    command.show(record, command.lines(record), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
