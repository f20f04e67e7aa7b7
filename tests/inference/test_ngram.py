"""The n-gram drafter: longest match, latest place, cut at ends, one chat only."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from inference.drafters.base import Draft
from inference.drafters.ngram import CARRIED, CLASSES, FIRST, NgramDrafter, class_of
from inference.drafters.none import NoDrafter
from inference.drafters.sketch import Sketch, depth
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.inference.models_for_tests import GREEDY, WARM, FixedK, ToyForward, engine_for, write

SAMPLER = Sampler(Sampling(temperature=0), 0, [])
ENDS = frozenset({99})


def propose(ids: list[int], k: int = 4, drafter: NgramDrafter | None = None) -> tuple[int, ...]:
    draft = (drafter or NgramDrafter(ENDS)).propose(ids, k, SAMPLER)
    assert draft == Draft.chain(draft.tokens)
    return draft.tokens


def sketch(ids: list[int], nodes: int = 63, depth: int = 20, *, is_chain: bool = False) -> Sketch:
    return NgramDrafter(ENDS).sketch(ids, depth=depth, nodes=nodes, is_chain=is_chain)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2, 3, 4, 5, 6, 1, 2, 3], (4, 5, 6, 1)),
        ([7, 2, 3, 8, 1, 2, 3, 4, 7, 2, 3], (8, 1, 2, 3)),  # three tokens match the earlier place, two the later
        ([2, 3, 8, 2, 3, 4, 2, 3], (4, 2, 3, 4)),  # of equal matches the latest; it goes on round and round
        ([1, 2, 3], ()),
        ([5], ()),
        ([1, 1], (1, 1, 1, 1)),
        ([1, 99, 2, 1], ()),  # nothing stands before the end
        ([1, 2, 99, 3, 1], (2,)),
    ],
)
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


def test_several_continuations_are_a_tree_by_falling_chance() -> None:
    ids = [1, 2, 3, 4, 1, 2, 5, 6, 9, 2, 7, 8, 1, 2]
    found = sketch(ids)
    roots = [token for token, parent in zip(found.tokens, found.parents, strict=True) if parent == -1]
    assert roots == [5, 3, 7], "what followed the longer match first, the later place first; then the shorter match"
    assert list(found.chances) == sorted(found.chances, reverse=True)
    assert all(parent < node for node, parent in enumerate(found.parents))
    for node, parent in enumerate(found.parents):
        assert found.chances[node] <= (found.chances[parent] if parent >= 0 else 1)
    siblings = [(parent, token) for token, parent in zip(found.tokens, found.parents, strict=True)]
    assert len(set(siblings)) == len(siblings)
    cut = found.draft(3)
    assert (cut.tokens, cut.parents) == (found.tokens[:3], found.parents[:3])
    assert found.expected()[:2] == [1.0, 1 + found.chances[0]]


def test_a_sketch_keeps_to_its_depth_its_size_and_its_ends() -> None:
    ids = [1, 2, 3, 99, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3]
    assert sketch(ids, is_chain=True).parents == tuple(range(-1, len(sketch(ids, is_chain=True).tokens) - 1))
    assert len(sketch(ids, nodes=2).tokens) == 2
    assert depth_of(sketch(ids, depth=2)) == 2
    assert 99 not in sketch(ids).tokens
    assert sketch(ids, nodes=0) == sketch(ids, depth=0) == sketch([1, 2, 3]) == Sketch()


def test_longer_matches_promise_more_and_what_is_seen_is_learned() -> None:
    drafter = NgramDrafter(ENDS)
    assert all(one < other for one, other in itertools.pairwise(FIRST))
    assert [class_of(length) for length in (*CLASSES, 6, 100)] == [*range(len(CLASSES)), 4, len(CLASSES) - 1]
    ids = [1, 2, 3, 4] * 3
    before = drafter.chances.of(1, 0)
    drafter.sketch(ids, depth=8, nodes=8, is_chain=True)
    assert drafter.chances.of(1, 0) == before, "a prompt says nothing of how the reply follows it"
    for token in [50, 1, 60, 1, 70, 1, 80, 1] * 4:  # behind a 1 stands something else each time
        ids.append(token)
        drafter.learn(ids)
    assert drafter.chances.of(1, 0) < before
    for _ in range(500):
        ids.append([2, 3, 4, 1][len(ids) % 4])
        drafter.learn(ids)
    assert drafter.chances.of(30, 0) > 0.98
    drafter.learn(list(ids))
    assert drafter.chances.tests[-1][0] == pytest.approx(CARRIED)
    assert drafter.chances.of(30, 0) > 0.97


def test_another_chat_knows_nothing_of_this_one() -> None:
    drafter = NgramDrafter(ENDS)
    propose([1, 2, 3, 4, 1], drafter=drafter)
    assert propose([9, 1], drafter=drafter) == ()
    assert propose([1, 2, 3, 8, 1, 2, 3], drafter=drafter) == (8, 1, 2, 3)


def depth_of(found: Sketch) -> int:
    return depth(found.parents)


def test_other_chats_are_a_second_source_only_where_it_is_on() -> None:
    first, second = [1, 2, 3, 4, 5, 6], [9, 9, 2, 3]

    def found(*with_others: bool) -> tuple[int, ...]:
        drafter = NgramDrafter(ENDS)
        options: dict[str, Any] = {"depth": 3, "nodes": 3, "is_chain": True}
        drafter.sketch(first, **options, with_others=with_others[0])
        return drafter.sketch(second, **options, with_others=with_others[1]).tokens

    assert found(True, True) == (4, 5, 6)
    assert found(False, True) == found(True, False) == found(False, False) == ()


def test_what_stands_in_this_chat_goes_before_as_long_a_match_in_another() -> None:
    drafter = NgramDrafter(ENDS)
    options: dict[str, Any] = {"depth": 1, "nodes": 9, "is_chain": False, "with_others": True}
    drafter.sketch([1, 2, 3], **options)
    drafter.sketch([8, 1, 2, 99, 5], **options)
    assert drafter.sketch([7, 1, 2, 4, 6, 1, 2], **options).tokens == (4, 3), "and no end of a turn from there"
    assert drafter.sketch([7, 8, 1, 2], **options).tokens == (4, 3), "the latest chat first"


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
