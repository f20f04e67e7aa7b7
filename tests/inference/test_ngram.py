"""The n-gram drafter: longest match, latest place, cut at ends, one chat only."""

from __future__ import annotations

import pytest

from inference.drafters.base import Draft
from inference.drafters.ngram import NgramDrafter
from inference.drafters.none import NoDrafter
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.inference.models_for_tests import GREEDY, WARM, FixedK, ToyForward, engine_for, write

SAMPLER = Sampler(Sampling(temperature=0), 0, [])
ENDS = frozenset({99})


def propose(ids: list[int], k: int = 4, drafter: NgramDrafter | None = None) -> tuple[int, ...]:
    draft = (drafter or NgramDrafter(ENDS)).propose(ids, k, SAMPLER)
    assert draft == Draft.chain(draft.tokens)
    return draft.tokens


@pytest.mark.parametrize(("ids", "expected"), [
    ([1, 2, 3, 4, 5, 6, 1, 2, 3], (4, 5, 6, 1)),
    ([7, 2, 3, 8, 1, 2, 3, 4, 7, 2, 3], (8, 1, 2, 3)),  # three tokens match the earlier place, two the later
    ([2, 3, 8, 2, 3, 4, 2, 3], (4, 2, 3)),  # of equal matches the latest
    ([1, 2, 3], ()),
    ([5], ()),
    ([1, 1], (1,)),
    ([1, 99, 2, 1], ()),  # nothing stands before the end
    ([1, 2, 99, 3, 1], (2,)),
])
def test_what_is_proposed(ids: list[int], expected: tuple[int, ...]) -> None:
    assert propose(ids) == expected


def test_never_more_than_k() -> None:
    assert propose([1, 2, 3, 4, 5, 1], k=2) == (2, 3)


def test_learning_token_by_token_is_learning_at_once() -> None:
    ids = [(i * i) % 7 for i in range(60)]
    drafter = NgramDrafter(ENDS)
    growing: list[int] = []
    for token in ids:
        growing.append(token)
        assert propose(growing, drafter=drafter) == propose(list(growing))


def test_another_chat_knows_nothing_of_this_one() -> None:
    drafter = NgramDrafter(ENDS)
    propose([1, 2, 3, 4, 1], drafter=drafter)
    assert propose([9, 1], drafter=drafter) == ()
    assert propose([1, 2, 3, 8, 1, 2, 3], drafter=drafter) == (8, 1, 2, 3)


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
@pytest.mark.parametrize("k", [1, 4, 20])
def test_the_text_stays_the_plain_text(sampling: Sampling, k: int) -> None:
    forward = ToyForward(vocabulary=6, seed=3)
    prompt = [1, 2, 3, 1, 2, 3, 1, 2]
    plain = write(engine_for(forward), prompt, NoDrafter(), FixedK(0), sampling)
    planner = FixedK(k)
    assert write(engine_for(forward), prompt, NgramDrafter(ENDS), planner, sampling) == plain
    assert sum(outcome.accepted for outcome in planner.outcomes) > 10
    for limit in (1, 2, 3):
        assert write(engine_for(forward), prompt, NgramDrafter(ENDS), planner, sampling, limit) == plain[:limit]
