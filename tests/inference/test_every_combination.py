"""Drafter x K x rule x sampling x stop, float32: coupled text equals plain text; Stop and again, fifty times."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference.drafters.comb import levels
from inference.drafters.ngram import NgramDrafter
from inference.drafters.none import NoDrafter
from inference.drafters.twin import TwinDrafter
from inference.exact import fast_width, find_width
from inference.model import ReferenceForward
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.inference.models_for_tests import (
    CPU,
    VOCABULARY,
    FixedK,
    ToyForward,
    automatic,
    engine_for,
    tiny_model,
    write,
)

if TYPE_CHECKING:
    from inference.drafters.base import Drafter
    from inference.engine import Engine

PROMPT = [5, 17, 5, 17, 3, 42, 5, 17]
SAMPLINGS = {
    "greedy": Sampling(temperature=0),
    "greedy with penalties": Sampling(temperature=0, repetition_penalty=1.3, presence_penalty=0.5, min_new_tokens=10),
    "warm": Sampling(temperature=0.8, top_p=1.0),
    "everything": Sampling(
        temperature=1.1, top_k=30, top_p=0.95, min_p=0.02, repetition_penalty=1.1, frequency_penalty=0.2
    ),
}
ENDS = {"no end": frozenset[int](), "ends": frozenset({9, 30, 77, 100})}


@pytest.fixture(scope="module")
def forwards() -> tuple[ReferenceForward, ReferenceForward]:
    """A target, and a near copy that drafts."""
    model = tiny_model("llama")
    near = copy.deepcopy(model)
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in near.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return ReferenceForward(model), ReferenceForward(near)


def drafter(name: str, near: ReferenceForward, engine: Engine) -> Drafter:
    if name == "twin":
        return TwinDrafter(near, engine.cache, CPU)
    return NgramDrafter(frozenset({9})) if name == "ngram" else NoDrafter()


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("name", ["none", "twin", "ngram"])
def test_coupled_text_is_plain_text(forwards: Any, name: str, k: int, sampling: str, ends: str) -> None:
    target, near = forwards
    options: dict[str, Any] = {"sampling": SAMPLINGS[sampling], "count": 60, "ends": ENDS[ends]}
    plain = write(engine_for(target), PROMPT, NoDrafter(), FixedK(0), **options)
    engine = engine_for(target)
    assert write(engine, PROMPT, drafter(name, near, engine), FixedK(k), **options) == plain


REPEATING = [5, 17, 3, 42, 5, 17, 3, 9, 5, 17, 8, 42, 5, 17]
"""Its end stands in it several times, with several continuations."""


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("mode", ["trees", "chains", "exact"])
@pytest.mark.parametrize("name", ["twin", "ngram", "hybrid", "auto"])
def test_what_chooses_its_drafts_writes_plain_text(forwards: Any, name: str, mode: str, sampling: str) -> None:
    """Look-ups that branch and drafters that choose a source each round, K automatic."""
    target, near = forwards
    width = find_width(target, VOCABULARY, 8, CPU) if mode == "exact" else fast_width(64)
    assert width is not None
    options: dict[str, Any] = {"sampling": SAMPLINGS[sampling], "count": 60, "ends": ENDS["ends"]}
    for prompt in (PROMPT, REPEATING):
        plain = write(engine_for(target, width), prompt, NoDrafter(), FixedK(0), **options)
        engine = engine_for(target, width)
        parts = (NgramDrafter(frozenset({9})), TwinDrafter(near, engine.cache, CPU))
        drafting = automatic(*parts, preset=name, trees=mode == "trees")
        assert write(engine, prompt, drafting, drafting, **options) == plain


def test_a_twins_siblings_are_accepted_where_its_own_token_is_wrong(forwards: Any) -> None:
    target, near = forwards
    for sampling in ("greedy", "everything"):
        plain = write(engine_for(target), PROMPT, NoDrafter(), FixedK(0), SAMPLINGS[sampling], 120)
        engine = engine_for(target)
        drafting = automatic(TwinDrafter(near, engine.cache, CPU), trees=True)
        for _ in engine.prefill(PROMPT, lambda: False):
            pass
        sampler = Sampler(SAMPLINGS[sampling], 7, PROMPT)
        outcomes = list(engine.decode(PROMPT, sampler, drafting, drafting, lambda _: None, 120))
        assert [token for outcome in outcomes for token in outcome.tokens] == plain
        rows = [(levels(outcome.draft), outcome) for outcome in outcomes if outcome.drafted]
        saved = sum(
            any(len(level) > 1 and token in level[1:] for level, token in zip(found, outcome.tokens, strict=False))
            for found, outcome in rows
        )
        assert saved > 0
        assert all(outcome.drafted <= 63 for outcome in outcomes)


def test_trees_branch_are_accepted_off_the_main_branch_and_never_in_chains_mode() -> None:
    """A text that goes on now one way, now the other: what was accepted must be moved together in the cache."""
    forward = ToyForward(vocabulary=5, seed=3, spread=1.0)
    prompt = [1, 2, 3, 1, 2, 3, 1, 2]
    plain = write(engine_for(forward), prompt, NoDrafter(), FixedK(0), SAMPLINGS["warm"], 150)
    branched = moved = 0
    for trees in (True, False):
        engine = engine_for(forward)
        drafting = automatic(NgramDrafter(frozenset()), trees=trees)
        for _ in engine.prefill(prompt, lambda: False):
            pass
        sampler = Sampler(SAMPLINGS["warm"], 7, prompt)
        outcomes = list(engine.decode(prompt, sampler, drafting, drafting, lambda _: None, 150))
        assert [token for outcome in outcomes for token in outcome.tokens] == plain
        for outcome in outcomes:
            is_tree = outcome.draft.parents != tuple(range(-1, len(outcome.draft.parents) - 1))
            assert trees or not is_tree
            assert not trees or outcome.drafted <= 63
            branched += is_tree
            first = outcome.draft.tokens[: len(outcome.tokens)]
            moved += is_tree and outcome.accepted > 0 and first[:1] != outcome.tokens[:1]
    assert branched > 10
    assert moved > 5


@pytest.mark.parametrize("name", ["none", "twin", "ngram"])
def test_textbook_text_is_the_same_for_the_same_seed_and_draft(forwards: Any, name: str) -> None:
    """The rule promises the distribution (test_verify); a seed still repeats its own text, and greedy is plain."""
    target, near = forwards
    texts = []
    for _ in range(2):
        engine = engine_for(target)
        for _ in engine.prefill(PROMPT, lambda: False):
            pass
        sampler = Sampler(SAMPLINGS["everything"], 7, PROMPT, rule="textbook")
        rounds = engine.decode(PROMPT, sampler, drafter(name, near, engine), FixedK(3), lambda _: None, 60)
        texts.append([token for outcome in rounds for token in outcome.tokens])
    assert texts[0] == texts[1]
    assert len(texts[0]) == 60


def test_stop_and_again_fifty_times_gives_the_same_text(forwards: Any) -> None:
    target, near = forwards
    chance = random.Random(5)
    engine = engine_for(target)
    sampling = SAMPLINGS["warm"]
    whole = write(engine_for(target), PROMPT, NoDrafter(), FixedK(0), sampling, 80)
    for _ in range(50):
        for _ in engine.prefill(PROMPT, lambda: False):
            pass
        sampler = Sampler(sampling, 7, PROMPT)
        name = chance.choice(["none", "twin", "ngram"])
        rounds = engine.decode(
            PROMPT, sampler, drafter(name, near, engine), FixedK(chance.choice([0, 2, 5])), lambda _: None, 80
        )
        written: list[int] = []
        for _ in range(chance.randrange(1, 20)):
            outcome = next(rounds, None)
            if outcome is None:
                break
            written.extend(outcome.tokens)
        rounds.close()
        assert written == whole[: len(written)]
        assert engine.ids == tuple([*PROMPT, *written][:-1])
    assert write(engine, PROMPT, NoDrafter(), FixedK(0), sampling, 80) == whole
