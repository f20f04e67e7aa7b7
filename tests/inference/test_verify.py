"""The walk through a draft, and tree rows against chains."""

from __future__ import annotations

import pytest
import torch

from inference.drafters.base import Draft
from inference.drafters.none import NoDrafter
from inference.kv_cache import KVCache
from inference.model import ReferenceForward
from inference.rows import tree_rows
from inference.verify import Verdict, follow
from tests.inference.models_for_tests import CPU, WARM, FixedK, ToyForward, engine_for, tiny_model, write

TREE = Draft(tokens=(10, 11, 12, 13, 14), parents=(-1, -1, 1, 1, 3))


def scripted(answers: dict[int, int], paths: list[tuple[int, ...]]) -> object:
    def choose(row: int, path: object) -> int:
        paths.append(tuple(path))  # type: ignore[call-overload]
        return answers[row]

    return choose


def test_the_walk_follows_the_child_that_carries_the_targets_token() -> None:
    paths: list[tuple[int, ...]] = []
    verdict = follow(TREE, scripted({0: 11, 2: 13, 4: 14, 5: 99}, paths))  # type: ignore[arg-type]
    assert verdict == Verdict(path=(1, 3, 4), last=99, tested=3, full=True)
    assert paths == [(), (11,), (11, 13), (11, 13, 14)]


@pytest.mark.parametrize(("answers", "expected"), [
    ({0: 7}, Verdict((), 7, 1, False)),
    ({0: 10, 1: 5}, Verdict((0,), 5, 1, True)),
    ({0: 11, 2: 5}, Verdict((1,), 5, 2, False)),
])
def test_misses_and_leaves(answers: dict[int, int], expected: Verdict) -> None:
    assert follow(TREE, scripted(answers, [])) == expected  # type: ignore[arg-type]


def test_an_empty_draft_emits_the_targets_token() -> None:
    assert follow(Draft(), lambda row, path: 3) == Verdict((), 3, 0, True)


class Branching:
    """Offers the target's next tokens on the second branch of a tree, behind wrong ones."""

    name = "branching"

    def __init__(self, text: list[int], start: int) -> None:
        self._text = text
        self._start = start

    def propose(self, ids: list[int], k: int, sampler: object) -> Draft:
        here = len(ids) - self._start
        right = self._text[here : here + 2]
        if len(right) < 2 or k < 2:
            return Draft()
        wrong = (right[0] + 1) % 16
        return Draft((wrong, wrong, right[0], (right[1] + 1) % 16, right[1]), (-1, 0, -1, 2, 2))


@pytest.mark.parametrize("kind", ["toy", "llama", "gemma3"])
def test_a_tree_gives_the_plain_text_and_a_whole_cache(kind: str) -> None:
    forward = ToyForward() if kind == "toy" else ReferenceForward(tiny_model(kind, vocab_size=16))
    plain = write(engine_for(forward), [1, 2, 3], NoDrafter(), FixedK(0), WARM, count=40)
    planner = FixedK(2)
    written = write(engine_for(forward), [1, 2, 3], Branching(plain, 3), planner, WARM, count=40)  # type: ignore[arg-type]
    assert written == plain
    assert sum(outcome.accepted for outcome in planner.outcomes) > 20


def test_a_tree_row_equals_the_chain_row() -> None:
    forward = ReferenceForward(tiny_model("llama"))
    prefix = list(range(20))

    def logits(tokens: list[int], parents: list[int] | None) -> torch.Tensor:
        cache = KVCache(100, 32)
        forward(tree_rows(prefix, None, 0, cache.slots, device=CPU), cache)
        cache.advance(len(prefix))
        return forward(tree_rows(tokens, parents, 20, cache.slots, device=CPU), cache)

    tree = logits([50, 60, 70, 80], [-1, 0, 0, 2])
    assert torch.allclose(tree[3], logits([50, 70, 80], None)[2], atol=1e-4)
    assert torch.allclose(tree[1], logits([50, 60], None)[1], atol=1e-4)


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        tree_rows([1, 2, 3], None, 126, 128)
    with pytest.raises(ValueError, match="cannot follow"):
        tree_rows([1, 2], [-1, 1], 0, 128)


def test_padding_rows_write_behind_everything_and_see_slot_0_only() -> None:
    rows = tree_rows([4, 5], None, 100, 512, width=5, padded_span=True)
    assert rows.slots.tolist() == [100, 101, 509, 510, 511]
    assert rows.span == 128
    assert rows.mask.sum(1).tolist() == [101, 102, 1, 1, 1]
    assert rows.mask[2:, 0].all()
    assert rows.used == 2
