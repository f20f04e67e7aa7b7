"""The walk through a draft, and tree rows against chains."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
import torch

from inference.drafters.base import Draft
from inference.drafters.none import NoDrafter
from inference.kv_cache import KVCache
from inference.model import ReferenceForward
from inference.noise import STREAMS, keyed_uniform
from inference.rows import tree_rows
from inference.sampling import Sampler, draw
from inference.settings import Sampling
from inference.verify import Verdict, verify
from tests.inference.models_for_tests import CPU, WARM, FixedK, ToyForward, engine_for, tiny_model, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TREE = Draft(tokens=(10, 11, 12, 13, 14), parents=(-1, -1, 1, 1, 3))


def rows(answers: dict[int, int]) -> Callable[[int], np.ndarray]:
    """Logits whose best token behind row i is answers[i]."""

    def row(index: int) -> np.ndarray:
        logits = np.zeros(100, dtype=np.float32)
        logits[answers[index]] = 1
        return logits

    return row


def greedy() -> Sampler:
    return Sampler(Sampling(temperature=0), 0, [])


@pytest.mark.parametrize(("answers", "expected"), [
    ({0: 11, 2: 13, 4: 14, 5: 99}, Verdict((1, 3, 4), 99, 3, True)),
    ({0: 7}, Verdict((), 7, 1, False)),
    ({0: 10, 1: 5}, Verdict((0,), 5, 1, True)),
    ({0: 11, 2: 5}, Verdict((1,), 5, 2, False)),
])
def test_the_walk_follows_the_child_that_carries_the_targets_token(
    answers: dict[int, int], expected: Verdict
) -> None:
    assert verify(TREE, rows(answers), greedy(), 0) == expected


def test_an_empty_draft_emits_the_targets_token() -> None:
    assert verify(Draft(), rows({0: 3}), greedy(), 0) == Verdict((), 3, 0, True)


def test_each_node_is_judged_with_its_own_path() -> None:
    sampler = Sampler(Sampling(temperature=0, presence_penalty=2.0), 0, [])
    # The target likes 11 best everywhere; behind a path that holds 11 the penalty makes it another.
    verdict = verify(TREE, rows(dict.fromkeys(range(6), 11)), sampler, 0)
    assert verdict == Verdict((1,), 0, 2, False)
    assert verify(TREE, rows(dict.fromkeys(range(6), 11)), sampler, 0) == verdict


EVERYTHING = Sampling(
    temperature=1.3, top_k=5, top_p=0.9, min_p=0.05, repetition_penalty=1.2, presence_penalty=0.3
)
SIZE = 8
TARGET = np.random.default_rng(1).standard_normal((SIZE, SIZE)).astype(np.float32) * 1.5
NEAR = TARGET + np.random.default_rng(2).standard_normal((SIZE, SIZE)).astype(np.float32)


def plain_distribution(sampling: Sampling) -> np.ndarray:
    """The exact probability of each three tokens behind token 0."""
    expected = np.zeros((SIZE, SIZE, SIZE))
    for first in range(SIZE):
        for second in range(SIZE):
            share = 1.0
            for path, last in (([], 0), ([first], first), ([first, second], second)):
                row = Sampler(sampling, 0, [0]).probabilities(TARGET[last], path).astype(np.float64)
                share = share * (row if len(path) == 2 else row[[first, second][len(path)]])
            expected[first, second] = share
    return expected


class Remembering(Sampler):
    """Reckons the distribution behind a row and a text once, for whatever seed; the coins are each seed's own."""

    known: ClassVar[dict[tuple[bytes, tuple[int, ...], tuple[int, ...]], np.ndarray]] = {}

    def __init__(self, seed: int) -> None:
        super().__init__(EVERYTHING, seed, [0], rule="textbook")
        self.text: tuple[int, ...] = ()

    def commit(self, token: int, position: int) -> None:
        super().commit(token, position)
        self.text += (token,)

    def probabilities(self, row: np.ndarray, path: Sequence[int]) -> np.ndarray:
        key = row.tobytes(), self.text, tuple(path)
        if key not in self.known:
            self.known[key] = super().probabilities(row, path)
        return self.known[key].copy()


def propose(kind: str, last: int, sampler: Sampler, position: int, written: list[int]) -> Draft:
    if kind == "tree":  # deterministic candidates: the two best of the drafter, and one behind the first
        best = np.argsort(-NEAR[last])[:2].tolist()
        return Draft((*best, int(NEAR[best[0]].argmax())), (-1, -1, 0))
    tokens: list[int] = []
    drawn = []
    for depth in range(2):
        token, probabilities = sampler.propose(NEAR[tokens[-1] if tokens else last], position + depth, tokens)
        tokens.append(token)
        drawn.append(probabilities)
    return Draft.chain(tokens, drawn)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "tree"])
def test_the_textbook_rule_keeps_the_distribution_of_three_tokens(kind: str) -> None:
    draws = 100_000
    expected = plain_distribution(EVERYTHING) * draws
    assert expected.sum() == pytest.approx(draws, rel=1e-4)
    counts = np.zeros_like(expected)
    accepted = 0
    for seed in range(draws):
        sampler = Remembering(seed)
        written = [0]
        while len(written) < 4:
            draft = propose(kind, written[-1], sampler, len(written), written)
            sources = [written[-1], *draft.tokens]
            verdict = verify(draft, lambda i, sources=sources: TARGET[sources[i]], sampler, len(written))
            for token in [*(draft.tokens[node] for node in verdict.path), verdict.last]:
                sampler.commit(token, len(written))
                written.append(token)
            accepted += len(verdict.path)
        counts[tuple(written[1:4])] += 1
    assert accepted > draws / 2
    assert counts[expected == 0].sum() == 0
    common = expected >= 5
    rare = ~common & (expected > 0)
    deviations = [((counts - expected) ** 2 / np.maximum(expected, 1e-9))[common].sum()]
    if expected[rare].sum() > 5:
        deviations.append((counts[rare].sum() - expected[rare].sum()) ** 2 / expected[rare].sum())
    freedom = int(common.sum()) + len(deviations) - 2
    assert sum(deviations) < freedom + 4 * (2 * freedom) ** 0.5


def test_textbook_streams_are_independent() -> None:
    drawn = {name: [keyed_uniform(3, i, name) for i in range(4000)] for name in STREAMS}
    for one, other in itertools.combinations(drawn.values(), 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.06
    assert all(0 <= value < 1 for values in drawn.values() for value in values)


def test_equal_distributions_never_refuse_and_leave_no_empty_residual() -> None:
    sampler = Sampler(Sampling(temperature=1.0, top_p=1.0), 5, [], rule="textbook")
    for position in range(500):
        token, probabilities = sampler.propose(TARGET[position % SIZE], position, [])
        draft = Draft.chain([token], [probabilities])  # type: ignore[list-item]
        verdict = verify(draft, lambda i, position=position: TARGET[position % SIZE], sampler, position)
        assert verdict.path == (0,)
    certain = np.zeros(SIZE, dtype=np.float32)
    certain[2] = 1
    # A draft distribution that lies about its token: refused, and the residual of p - q is all zero.
    draft = Draft.chain([3], [np.where(np.arange(SIZE) == 3, 1e-9, certain).astype(np.float32)])
    logits = np.where(certain > 0, 0, -np.inf).astype(np.float32)
    assert verify(draft, lambda i: logits, sampler, 0).last == 2


def test_draw_never_takes_a_token_of_probability_zero() -> None:
    probabilities = np.array([0, 0.5, 0, 0.5, 0], dtype=np.float32)
    assert {draw(probabilities, u) for u in (0.0, 0.3, 0.5, 0.7, 0.999999999)} == {1, 3}


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
