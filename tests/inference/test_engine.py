"""Speculation changes no token: the loop against plain decoding and against transformers' generate."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from inference.decoder import Decoder, pack
from inference.drafters.none import NoDrafter
from inference.drafters.twin import TwinDrafter
from inference.exact import fast_width
from inference.model import ReferenceForward
from inference.quantize.build import build_twin
from inference.quantize.recipes import RECIPES
from inference.quantize.texts import Text
from inference.settings import Sampling
from tests.inference.models_for_tests import (
    CPU,
    GREEDY,
    VOCABULARY,
    WARM,
    FixedK,
    Poisoned,
    ToyForward,
    automatic,
    engine_for,
    tiny_model,
    write,
)

FAMILIES = ("llama", "qwen2", "gemma3")
PROMPT = [5, 17, 99, 3, 42, 8, 21]
MODES = {"greedy": GREEDY, "warm": WARM}


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A tiny target and its twin."""
    model = tiny_model(request.param)
    build = build_twin(model, [Text(tuple(range(1, 60)), 1)], RECIPES["affine3"])
    while True:
        try:
            next(build)
        except StopIteration as end:
            return model, end.value.model


@pytest.mark.parametrize("mode", MODES)
def test_every_k_writes_the_plain_text(pair: tuple[Any, Any], mode: str) -> None:
    model, twin = pair
    forward = ReferenceForward(model)
    plain = write(engine_for(forward), PROMPT, NoDrafter(), FixedK(0), MODES[mode])
    assert len(plain) == 200
    if mode == "greedy":
        expected = model.generate(torch.tensor([PROMPT]), max_new_tokens=200, do_sample=False, pad_token_id=0)
        assert plain == expected[0, len(PROMPT) :].tolist()
    accepted = 0
    for k in (0, 1, 2, 4, 7, None):
        engine = engine_for(forward)
        drafter = TwinDrafter(ReferenceForward(twin), engine.cache, CPU)
        planner: Any = automatic(drafter) if k is None else FixedK(k)
        drafter = planner if k is None else drafter
        assert write(engine, PROMPT, drafter, planner, MODES[mode]) == plain, f"K {k}"
        accepted += sum(o.accepted for o in planner.outcomes) if k else 0
    assert accepted > 0, "the twin never agreed: the test would not notice a draft that is ignored"


@pytest.mark.parametrize("mode", MODES)
def test_after_a_stop_and_in_the_second_turn(pair: tuple[Any, Any], mode: str) -> None:
    model, twin = pair
    texts = []
    for k in (0, 4):
        engine = engine_for(ReferenceForward(model))
        drafter = TwinDrafter(ReferenceForward(twin), engine.cache, CPU)
        for _ in engine.prefill(PROMPT, lambda: False):
            pass
        from inference.sampling import Sampler

        rounds = engine.decode(PROMPT, Sampler(MODES[mode], 7, PROMPT), drafter, FixedK(k), lambda _: None, 200)
        first: list[int] = []
        while len(first) < 20:
            first.extend(next(rounds).tokens)
        rounds.close()  # Stop: at any round, with drafts of the next one never made
        assert engine.cache.length == len(PROMPT) + len(first) - 1
        history = [*PROMPT, *first[:15], 11, 12, 13]  # the user's next message follows a part of the reply
        second = write(engine, history, drafter, FixedK(k), MODES[mode], count=60)
        cold = write(engine_for(ReferenceForward(model)), history, NoDrafter(), FixedK(0), MODES[mode], count=60)
        assert second == cold
        texts.append((first[:20], second))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("length", [1, 2, 300])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_a01_every_prompt_length_and_k(length: int, k: int) -> None:
    model = tiny_model("llama")
    prompt = [(7 * i + 3) % VOCABULARY for i in range(length)]
    plain = write(engine_for(ReferenceForward(model)), prompt, NoDrafter(), FixedK(0), count=100)
    engine = engine_for(ReferenceForward(model))
    near = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in near.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    drafter = TwinDrafter(ReferenceForward(near), engine.cache, CPU)
    assert write(engine, prompt, drafter, FixedK(k), count=100) == plain


@pytest.mark.parametrize("k", [4, 8])
@pytest.mark.parametrize("place", [5, 6, 7, 8])
def test_a02_an_end_token_inside_a_draft_ends_the_reply(place: int, k: int) -> None:
    forward = ToyForward(seed=2)
    plain = write(engine_for(forward), [1, 2], NoDrafter(), FixedK(0), WARM, count=30)
    end = plain[place]
    expected = plain[: plain.index(end) + 1]
    engine = engine_for(forward)
    drafter = TwinDrafter(forward, engine.cache, CPU)  # the target itself: every draft is accepted
    planner = FixedK(k)
    heard: list[int] = []
    for _ in engine.prefill([1, 2], lambda: False):
        pass
    from inference.sampling import Sampler

    def stop(token: int) -> str | None:
        heard.append(token)
        return "end" if token == end else None

    written = [
        token
        for outcome in engine.decode([1, 2], Sampler(WARM, 7, [1, 2]), drafter, planner, stop, 30)
        for token in outcome.tokens
    ]
    assert written == heard == expected
    assert engine.cache.length == 2 + len(expected) - 1
    assert planner.outcomes[0].accepted == k, "tokens cut by the stop still count as accepted"


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a03_never_more_than_the_limit(limit: int) -> None:
    forward = ToyForward(seed=2)
    plain = write(engine_for(forward), [1, 2, 3, 1, 2, 3, 1, 2], NoDrafter(), FixedK(0), count=limit)
    engine = engine_for(forward)
    drafter = TwinDrafter(forward, engine.cache, CPU)
    assert write(engine, [1, 2, 3, 1, 2, 3, 1, 2], drafter, FixedK(8), count=limit) == plain
    assert len(plain) == limit


POISONS = {
    "random": lambda ids, depth: (len(ids) * 2654435761 + depth * 40503) % VOCABULARY,
    "constant": lambda ids, depth: 42,
    "always end": lambda ids, depth: 9,
    "out of step": None,
}


@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.parametrize("mode", MODES)
def test_poisoned_drafters_change_no_token(poison: str, mode: str) -> None:
    forward = ReferenceForward(tiny_model("llama"))
    ends = frozenset({9})
    plain = write(engine_for(forward), PROMPT, NoDrafter(), FixedK(0), MODES[mode], count=120, ends=ends)
    rule = POISONS[poison]
    if rule is None:  # the right tokens, one place late

        def rule(ids: Any, depth: int) -> int:
            return ([0, *plain])[min(len(ids) - len(PROMPT), len(plain))]

    for k in (1, 4, 7):
        assert write(engine_for(forward), PROMPT, Poisoned(rule), FixedK(k), MODES[mode], count=120, ends=ends) == plain
    drafting = automatic(Poisoned(rule))
    assert write(engine_for(forward), PROMPT, drafting, drafting, MODES[mode], count=120, ends=ends) == plain


def test_a_perfect_drafter_is_accepted_whole() -> None:
    forward = ReferenceForward(tiny_model("llama"))
    engine = engine_for(forward)
    planner = FixedK(4)
    write(engine, PROMPT, TwinDrafter(forward, engine.cache, CPU), planner, WARM, count=100)
    assert all(outcome.accepted == outcome.drafted == outcome.tested for outcome in planner.outcomes)
    assert [len(outcome.tokens) for outcome in planner.outcomes] == [5] * 20
    assert {outcome.origins for outcome in planner.outcomes} == {("accepted",) * 4 + ("bonus",)}


def test_the_end_of_the_context_ends_the_reply() -> None:
    forward = ToyForward()
    for k in (0, 4):
        engine = engine_for(forward, context=40)
        planner = FixedK(k)
        written = write(engine, [1, 2, 3], TwinDrafter(forward, engine.cache, CPU), planner, WARM, count=100)
        assert len(written) == 37
        assert planner.outcomes[-1].stopped == "context"


def test_a17_the_seed_decides_and_nothing_else() -> None:
    forward = ToyForward()
    texts = set()
    for k in (0, 0, 1, 4):
        engine = engine_for(forward)
        texts.add(tuple(write(engine, [1, 2], TwinDrafter(forward, engine.cache, CPU), FixedK(k), WARM, seed=42)))
    assert len(texts) == 1
    assert tuple(write(engine_for(forward), [1, 2], NoDrafter(), FixedK(0), WARM, seed=43)) not in texts


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0, repetition_penalty=1.3),
        Sampling(temperature=0, presence_penalty=1.0),
        Sampling(temperature=0, frequency_penalty=1.0),
        Sampling(temperature=0.9, top_k=6, top_p=0.9, min_p=0.02, repetition_penalty=1.2, frequency_penalty=0.5),
    ],
)
@pytest.mark.parametrize("k", [2, 8, 48])
def test_a13_penalties_see_each_nodes_own_prefix(sampling: Sampling, k: int) -> None:
    forward = ToyForward(seed=5)
    plain = write(engine_for(forward), [1, 2], NoDrafter(), FixedK(0), sampling, count=120)
    near = ToyForward(seed=5)
    near.table = near.table + 0.5 * ToyForward(seed=6).table
    engine = engine_for(forward)
    assert write(engine, [1, 2], TwinDrafter(near, engine.cache, CPU), FixedK(k), sampling, count=120) == plain


def test_prefill_can_be_given_up_between_chunks_and_goes_on() -> None:
    forward = ReferenceForward(tiny_model("llama"))
    prompt = [(3 * i + 1) % VOCABULARY for i in range(700)]
    engine = engine_for(forward)
    progress = []
    for done in engine.prefill(prompt, lambda: len(progress) >= 2):
        progress.append(done)
    assert progress == [0, 256]
    assert engine.ids == tuple(prompt[:256])
    assert list(engine.prefill(prompt, lambda: False)) == [256, 512, 699]
    warm = write(engine, prompt, NoDrafter(), FixedK(0), count=20)
    assert warm == write(engine_for(forward), prompt, NoDrafter(), FixedK(0), count=20)


def test_prefill_can_be_given_up_between_layers_and_goes_on() -> None:
    model = tiny_model("llama")
    list(pack(model))
    decoder = Decoder(model)
    prompt = [(3 * i + 1) % VOCABULARY for i in range(700)]
    engine = engine_for(decoder)
    asked = iter([False] * 5 + [True])  # before the first chunk, its two layers, before the second, and its first layer
    assert list(engine.prefill(prompt, lambda: next(asked))) == [0, 256]
    assert engine.ids == tuple(prompt[:256])
    assert next(asked, None) is None
    assert list(engine.prefill(prompt, lambda: False)) == [256, 512, 699]
    again = write(engine, prompt, NoDrafter(), FixedK(0), count=20)
    assert again == write(engine_for(decoder), prompt, NoDrafter(), FixedK(0), count=20)


def test_an_error_in_a_round_leaves_nothing_to_repair() -> None:
    forward = ReferenceForward(tiny_model("llama"))
    engine = engine_for(forward)

    def fail_at_third(ids: Any, depth: int) -> int:
        if len(ids) > len(PROMPT) + 6:
            raise RuntimeError("the drafter fell over")
        return 1

    with pytest.raises(RuntimeError, match="fell over"):
        write(engine, PROMPT, Poisoned(fail_at_third), FixedK(2), WARM, count=40)
    again = write(engine, PROMPT, NoDrafter(), FixedK(0), WARM, count=40)
    assert again == write(engine_for(forward), PROMPT, NoDrafter(), FixedK(0), WARM, count=40)


def test_decode_without_a_whole_prefill_is_refused() -> None:
    engine = engine_for(ToyForward())
    with pytest.raises(ValueError, match="prefill"):
        write_nothing = engine.decode([1, 2, 3], None, NoDrafter(), FixedK(0), lambda _: None, 5)  # type: ignore[arg-type]
        next(write_nothing)


def test_fast_width_never_pads() -> None:
    assert fast_width(8).rows([1], None, engine_for(ToyForward()).cache, CPU).tokens.shape == (1,)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.7, top_k=4, top_p=0.8, min_p=0.1),
        Sampling(temperature=1.3, top_k=4, top_p=0.8, min_p=0.1),
        Sampling(temperature=1.3, top_p=1.0),
    ],
)
def test_a11_speculation_draws_what_plain_decoding_draws(sampling: Sampling) -> None:
    """Token for token over many seeds, which is more than the same distribution."""
    forward, near = ToyForward(seed=1), ToyForward(seed=1)
    near.table = near.table + ToyForward(seed=9).table * 0.5
    texts = set()
    for seed in range(400):
        plain = write(engine_for(forward, context=80), [1, 2], NoDrafter(), FixedK(0), sampling, count=3, seed=seed)
        engine = engine_for(forward, context=80)
        drafter = TwinDrafter(near, engine.cache, CPU)
        assert write(engine, [1, 2], drafter, FixedK(2), sampling, count=3, seed=seed) == plain
        texts.add(tuple(plain))
    assert len(texts) > 2, "sampling took the most likely token every time"


@pytest.mark.parametrize("window", [8, 16])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a06_sliding_windows_and_prompts_longer_than_them(window: int, attention: str) -> None:
    model = tiny_model("gemma3", sliding_window=window)
    model.set_attn_implementation(attention)
    prompt = [(7 * i + 3) % VOCABULARY for i in range(50)]
    expected = model.generate(torch.tensor([prompt]), max_new_tokens=100, do_sample=False, pad_token_id=0)
    plain = write(engine_for(ReferenceForward(model)), prompt, NoDrafter(), FixedK(0), count=100)
    assert plain == expected[0, len(prompt) :].tolist()
    near = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in near.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.01)
    engine = engine_for(ReferenceForward(model))
    planner = FixedK(4)
    assert write(engine, prompt, TwinDrafter(ReferenceForward(near), engine.cache, CPU), planner, count=100) == plain
    assert sum(outcome.accepted for outcome in planner.outcomes) > 0


@pytest.mark.parametrize("sampling", [GREEDY, WARM, Sampling(temperature=0.9, repetition_penalty=1.3)])
@pytest.mark.parametrize("rule", ["coupled", "textbook"])
@pytest.mark.parametrize(("wide", "narrow"), [("target", "draft"), ("draft", "target")])
def test_a08_vocabularies_padded_differently(sampling: Sampling, rule: str, wide: str, narrow: str) -> None:
    """Same tokenizer, other numbers of rows: what one side lacks has probability zero there; nothing breaks."""
    sizes = {wide: 20, narrow: 16}
    full = ToyForward(vocabulary=20, seed=4)
    full.table[:, :, 16:] += 1.5  # the ids beyond the smaller size are often wanted

    def cut(size: int) -> ToyForward:
        forward = ToyForward(vocabulary=20)
        forward.table = full.table[:, :, :size]
        return forward

    from inference.sampling import Sampler

    engine = engine_for(cut(sizes["target"]))
    drafter = TwinDrafter(cut(sizes["draft"]), engine.cache, CPU)
    for _ in engine.prefill([1, 2], lambda: False):
        pass
    planner = FixedK(4)
    sampler = Sampler(sampling, 7, [1, 2], rule=rule)
    rounds = engine.decode([1, 2], sampler, drafter, planner, lambda _: None, 120)
    written = [token for outcome in rounds for token in outcome.tokens]
    assert max(written) < sizes["target"]
    if wide == "target":
        assert max(written) >= 16
    assert sum(outcome.accepted for outcome in planner.outcomes) > 0
    if rule == "coupled" or sampling.temperature == 0:
        assert written == write(engine_for(cut(sizes["target"])), [1, 2], NoDrafter(), FixedK(0), sampling, count=120)


def test_c15_a_reader_that_gives_up_ends_the_work() -> None:
    forward = ToyForward()
    engine = engine_for(forward)
    for _ in engine.prefill([1, 2], lambda: False):
        pass
    from inference.sampling import Sampler

    planner = FixedK(2)
    rounds = engine.decode(
        [1, 2], Sampler(WARM, 7, [1, 2]), TwinDrafter(forward, engine.cache, CPU), planner, lambda _: None, 200
    )
    next(rounds)
    del rounds
    assert len(planner.outcomes) == 1
    assert len(write(engine, [1, 2], NoDrafter(), FixedK(0), WARM, count=5)) == 5
