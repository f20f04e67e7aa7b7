"""What each drafter would do in the coming round and what that promises: the options that one is chosen from.

A model that drafts promises by its measured acceptance at each depth, a look-up by the chances of what it found. Knows
nothing of what the user set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from inference.draft_length import LARGEST_TREE
from inference.drafters.option import Option
from inference.drafters.sketch import Sketch, depth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.draft_length import DraftLength, RoundTimes
    from inference.drafters.base import Draft
    from inference.drafters.ngram import NgramDrafter
    from inference.engine import Outcome


class Source(Protocol):
    """One drafter, over one reply."""

    def best(self, ids: Sequence[int], largest: int) -> Option:
        """The quickest draft behind ``ids`` at most ``largest`` deep."""
        ...

    def hurried(self, ids: Sequence[int], option: Option, rate: float) -> Option:
        """``option``, which was the best, cut down where a millisecond is worth ``rate`` tokens."""
        ...

    def fixed(self, ids: Sequence[int], k: int) -> Option:
        """A draft of exactly K tokens, or as many as there are."""
        ...

    def record(self, outcome: Outcome) -> None:
        """A round with a draft of this drafter is over."""
        ...


class Model:
    """A model that drafts: K by its measured acceptance, and now and then a try where it does not pay."""

    def __init__(self, name: str, length: DraftLength) -> None:
        self._name = name
        self.length = length

    def best(self, ids: Sequence[int], largest: int) -> Option:
        """The K that pays most, 0 while it rests, 1 for a try."""
        k = self.length.plan(len(ids) - 1, largest)
        return self._option(ids, k, is_try=self.length.is_resting and k > 0)

    def hurried(self, ids: Sequence[int], option: Option, rate: float) -> Option:
        """The K up to the one that pays most for which tokens less time are most; a try stays one."""
        if option.is_try:
            return option
        shorter = [self._option(ids, k, is_try=False) for k in range(option.k + 1)]
        return max(shorter, key=lambda one: one.tokens - rate * one.ms)

    def fixed(self, ids: Sequence[int], k: int) -> Option:
        """Exactly K."""
        return self._option(ids, k, is_try=False, is_fixed=True)

    def record(self, outcome: Outcome) -> None:
        """What the target made of its draft."""
        self.length.record(outcome)

    def _option(self, ids: Sequence[int], k: int, *, is_try: bool, is_fixed: bool = False) -> Option:
        at = len(ids) - 1
        siblings = 0 if is_fixed else self.length.siblings(at, k)
        tokens, ms = self.length.acceptance.expected(k, siblings), self.length.cost(at, k, siblings)
        return Option(self._name, k, tokens, ms, None, is_try, siblings)


class LookUp:
    """A drafter that finds its tokens: a tree of them where ``trees`` are allowed, else a chain.

    ``others`` lets it find them in other chats too.
    """

    def __init__(self, drafter: NgramDrafter, times: RoundTimes, trees: bool, others: bool) -> None:
        self._drafter = drafter
        self._others = others
        self._times = times
        self._trees = trees
        self._sketch = Sketch()

    def best(self, ids: Sequence[int], largest: int) -> Option:
        """As many of the likeliest nodes as pay, in the measured times of passes of so many rows."""
        verify = self._times.verify_all(len(ids) - 1)
        nodes = min(LARGEST_TREE, len(verify) - 1) if self._trees and largest else largest
        self._sketch = self._drafter.sketch(
            ids, depth=largest, nodes=nodes, is_chain=not self._trees, with_others=self._others
        )
        return self._of_sketch(ids, lambda tokens, ms: tokens / ms, verify)

    def hurried(self, ids: Sequence[int], option: Option, rate: float) -> Option:
        """As many of the same nodes as make the most of tokens less time."""
        return self._of_sketch(ids, lambda tokens, ms: tokens - rate * ms, self._times.verify_all(len(ids) - 1))

    def _of_sketch(self, ids: Sequence[int], worth: Callable[[float, float], float], verify: Sequence[float]) -> Option:
        expected = self._sketch.expected()
        best = max(range(len(expected)), key=lambda n: worth(expected[n], verify[min(n, len(verify) - 1)]))
        return self._option(self._sketch.draft(best), expected[best], len(ids) - 1)

    def fixed(self, ids: Sequence[int], k: int) -> Option:
        """K tokens, or as many as were found: the likeliest of a tree where there may be one, else a chain."""
        sketch = self._drafter.sketch(
            ids, depth=k, nodes=k, is_chain=not self._trees, least=0.0, with_others=self._others
        )
        return self._option(sketch.draft(k), sketch.expected()[-1], len(ids) - 1)

    def record(self, outcome: Outcome) -> None:
        """Nothing: it learns from the text itself."""

    def _option(self, draft: Draft, tokens: float, length: int) -> Option:
        return Option(
            self._drafter.name, depth(draft.parents), tokens, self._times.verify(length, len(draft.tokens)), draft
        )
