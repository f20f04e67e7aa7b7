"""The card's way of doing rounds, on the CPU: kernels interpreted, capture replaced by a plain call."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from inference import device_rounds
from inference.decoder import Decoder, pack
from inference.device_rounds import Choice, DeviceRounds, GraphTwin, follow
from inference.drafters.base import Draft
from inference.drafters.ngram import NgramDrafter
from inference.drafters.none import NoDrafter
from inference.engine import Engine
from inference.exact import fast_width
from inference.fused import FusedStep, refusal
from inference.graphs import GraphForward, Pass, StaticRows, bucket, buckets, plain_call
from inference.kv_cache import KVCache
from inference.linears import DenseLinear
from inference.quantize.pack import pack as pack_matrix
from inference.quantize.pack import rounded
from inference.quantize.triton_launch import LowBitProduct, Tile, power_of_two
from inference.reply_text import ReplyText
from inference.rows import tree_rows
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.inference.models_for_tests import CPU, FixedK, Poisoned, tiny_model, write
from tests.inference.text.tiny_tokenizers import tiny_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.engine import Foresight, Outcome
    from inference.model import Forward

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")

SHAPE = {"hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
SMALL = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 1}
SLOTS = 512


def taken_apart(family: str, **changes: Any) -> Any:
    model = tiny_model(family, **{**SHAPE, "num_hidden_layers": 2, **changes})
    for _ in pack(model):
        pass
    return model


def graphs(model: Any) -> GraphForward:
    return GraphForward(Decoder(model), FusedStep(model, SLOTS), CPU, plain_call)


def read(forward: Forward, tokens: list[int], cache: KVCache) -> None:
    forward(tree_rows(tokens, None, cache.length, cache.slots), cache, last_only=True)
    cache.advance(len(tokens))


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "mistral"])
def test_a_fused_step_is_the_decoders(family: str) -> None:
    """A chain, a tree with a branch, and a row with padding, behind a prompt; all families, a window among them."""
    model = taken_apart(family, **({"sliding_window": 7} if family == "mistral" else {}))
    assert refusal(model, CPU) is None
    plain, fused = Decoder(model), graphs(model)
    for parents, width in (([-1, 0, 0, 1], 0), ([-1], 3)):
        caches = [KVCache(100, 40), KVCache(100, 40)]
        found = []
        for forward, cache in zip((plain, fused), caches, strict=True):
            read(forward, list(range(2, 12)), cache)
            tokens = [5, 9, 11, 3][: len(parents)]
            rows = tree_rows(tokens, parents, cache.length, cache.slots, width=width)
            found.append(forward(rows, cache).clone())
        assert torch.allclose(found[0], found[1], atol=2e-4)
        for layer in caches[0].layers:
            for mine, theirs in zip(caches[0].layer(layer), caches[1].layer(layer), strict=True):
                assert torch.allclose(mine[:, :, :14], theirs[:, :, :14], atol=1e-4)


def test_buckets_double_up_to_the_buffer() -> None:
    assert buckets(1664) == [512, 1024, 1664]
    assert [bucket(span, 1664) for span in (1, 512, 513, 1600)] == [512, 512, 1024, 1664]
    assert buckets(384) == [384]


def test_passes_are_captured_once_for_each_count_and_bucket() -> None:
    model = taken_apart("llama")
    captured: list[int] = []

    def capture(work: Any) -> Any:
        work()  # as a real capture does
        captured.append(1)
        return work

    forward = GraphForward(Decoder(model), FusedStep(model, 1024), CPU, capture)
    cache = KVCache(700, 20)
    read(forward, [4, 5, 6], cache)
    before = [buffer[:, :, :3].clone() for layer in cache.layers for buffer in cache.layer(layer)]
    assert list(forward.prepare((1, 2), cache))[-1] == (4, 4)
    assert len(captured) == 4
    after = [buffer[:, :, :3] for layer in cache.layers for buffer in cache.layer(layer)]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True)), "capturing writes to scratch slots only"
    for tokens in ([1], [2], [3, 4]):
        forward(tree_rows(tokens, None, cache.length, cache.slots), cache)
    assert len(captured) == 4
    other = KVCache(30, 20)
    forward(tree_rows([1], None, 0, other.slots), other)
    assert len(captured) == 5
    forward.forget_others(cache)
    forward(tree_rows([1], None, 3, cache.slots), cache)
    assert len(captured) == 5
    forward(tree_rows([1], None, 0, other.slots), other)
    assert len(captured) == 6


def test_what_cannot_be_captured_runs_as_it_is() -> None:
    def capture(work: Any) -> Any:
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    model = taken_apart("llama", **SMALL)
    forward, cache = GraphForward(Decoder(model), FusedStep(model, SLOTS), CPU, capture), KVCache(50, 10)
    rows = tree_rows([7], None, 0, cache.slots)
    assert torch.equal(forward(rows, cache), graphs(model)(rows, KVCache(50, 10)))
    assert forward.uncaptured == "operation not permitted when stream is capturing"


class LowBit(nn.Module):
    """Stands for the twin's layers, which take the kernel on a card only."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        weight = layer.weight.detach()
        scales = weight.view(len(weight), -1, 32).abs().amax(-1).bfloat16()
        levels = rounded(torch.linspace(-1, 1, 8))
        relative = weight / scales.float().repeat_interleave(32, 1)
        indices = (relative[..., None] - levels).abs().argmin(-1).to(torch.uint8)
        self.out_features, self.in_features = weight.shape
        self.bias = layer.bias
        self.product = LowBitProduct(
            [pack_matrix(indices, scales, levels)], Tile(power_of_two(self.out_features), scales.shape[1], 1, 4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product = self.product(x)
        return product if self.bias is None else product + self.bias


def rough(model: Any) -> Any:
    """A twin of a model that is taken apart, of full precision, to be quick, and with noise."""
    twin = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(0)
    for layer in twin.modules():
        if type(layer) is DenseLinear and layer.weight is not None:
            layer.weight = nn.Parameter(
                layer.weight.detach() + torch.randn(layer.weight.shape, generator=generator) * 0.02, requires_grad=False
            )
    return twin


def low_bit(model: Any) -> Any:
    """A twin of a model that is taken apart, in 3 bits."""
    twin = copy.deepcopy(model)
    for name, layer in [(name, layer) for name, layer in twin.named_modules() if type(layer) is DenseLinear]:
        parent, _, last = name.rpartition(".")
        setattr(twin.get_submodule(parent), last, LowBit(layer))
    return twin


def test_a_fused_step_rounds_between_low_bit_products() -> None:
    """The same products, one by one with PyTorch's operations between them, and fused: roundings differ a little."""
    twin = low_bit(taken_apart("qwen2", **SMALL))
    forward, cache = graphs(twin), KVCache(100, 40)
    read(forward, [3, 4, 5, 6], cache)
    rows = tree_rows([7, 8], None, cache.length, cache.slots)
    found, plain = forward(rows, cache).clone(), Decoder(twin)(rows, cache)
    assert functional.cosine_similarity(found, plain).min() > 0.999


@pytest.fixture(scope="module")
def card() -> tuple[Engine, GraphTwin]:
    """A target with rounds of its own and its twin, as on a card."""
    target = taken_apart("llama", **SMALL)
    cache = KVCache(400, 40)
    forward, choice = graphs(target), Choice(CPU)
    engine = Engine(forward, cache, fast_width(8), CPU)
    engine.rounds = DeviceRounds(forward, choice)
    return engine, GraphTwin(graphs(rough(target)), cache, choice)


PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]
COUNT = 4


@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=0), Sampling(temperature=0.9, top_p=0.9), Sampling(temperature=0.8, repetition_penalty=1.3)],
    ids=["greedy", "nucleus", "penalty"],
)
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_drafts_change_no_text(card: tuple[Engine, GraphTwin], sampling: Sampling) -> None:
    engine, twin = card

    def text(drafter: Any, k: int) -> tuple[list[int], FixedK]:
        engine.reuse(())
        planner = FixedK(k)
        return write(engine, PROMPT, drafter, planner, sampling, COUNT), planner

    plain, _ = text(NoDrafter(), 0)
    drafted, planner = text(twin, 2)
    assert drafted == plain
    assert sum(outcome.accepted for outcome in planner.outcomes) > 0, "the twin is right sometimes"
    assert all(outcome.verify_ms > 0 for outcome in planner.outcomes)
    if sampling.temperature == 0.9:  # a drafter on the host, with the noise of the card
        poisoned, _ = text(Poisoned(lambda ids, _: (ids[-1] + 1) % 128), 2)
        assert poisoned == plain


def first_of(end: int) -> Foresight:
    """Ends behind the first of these tokens."""
    return lambda tokens: next((count for count, token in enumerate(tokens, 1) if token == end), None)


def test_nothing_is_drafted_behind_an_end_but_the_step_that_was_launched(card: tuple[Engine, GraphTwin]) -> None:
    """The host looks one step late; what was drafted meanwhile is not part of the draft."""
    engine, twin = card
    engine.reuse(())
    for _ in engine.prefill(PROMPT, lambda: False):
        pass
    sampler = Sampler(Sampling(temperature=0), 7, PROMPT)
    assert twin.launch(PROMPT, 4, sampler, lambda tokens: None) == 4
    whole = twin.chain[1:5].tolist()
    asked: list[list[int]] = []

    def foresee(tokens: Sequence[int]) -> int | None:
        asked.append(list(tokens))
        return first_of(whole[1])(tokens)

    place = whole.index(whole[1]) + 1
    assert twin.launch(PROMPT, 4, sampler, foresee) == place
    assert asked == [whole[:count] for count in range(1, place + 1)]
    assert int(twin._place) == place + 1, "one step was launched meanwhile"
    assert twin.launch(PROMPT, place, sampler, foresee) == place, "the last one needs no look"


class Waits:
    """What the host does with a card, in order: steps and marks it launches, what it waits for and what it reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, host: Sequence[torch.Tensor]) -> None:
        self.log: list[str] = []
        self._host = {tensor.data_ptr() for tensor in host}
        self._marks = 0
        for name in ("tolist", "item", "cpu", "numpy", "__int__", "__float__", "__bool__", "__index__"):
            monkeypatch.setattr(torch.Tensor, name, self._reading(name, getattr(torch.Tensor, name)))
        monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: self.log.append("synchronize"))

    def _reading(self, name: str, real: Any) -> Any:
        def read(tensor: torch.Tensor, *rest: Any) -> Any:
            if tensor.data_ptr() not in self._host:
                self.log.append(name)
            return real(tensor, *rest)

        return read

    def event(self, **_: object) -> Any:
        """Stands for a card's event."""
        number, log = self._marks, self.log
        self._marks += 1
        return SimpleNamespace(
            record=lambda: log.append(f"mark {number}"), synchronize=lambda: log.append(f"wait {number}")
        )


def test_the_host_waits_once_a_round_and_looks_one_step_late(
    card: tuple[Engine, GraphTwin], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps and passes do nothing here; rows are made on the host, as on a card."""
    engine, twin = card
    engine.reuse(())
    for _ in engine.prefill(PROMPT, lambda: False):
        pass
    waits = Waits(monkeypatch, [twin._read])

    def step() -> None:
        waits.log.append("step")
        twin._place.add_(1)
        twin.chain.index_copy_(0, twin._place, torch.tensor([7]))

    monkeypatch.setattr(twin, "_step", lambda size: step)
    monkeypatch.setattr(engine.forward, "prepared", lambda count, *_: Pass(
        StaticRows(count, CPU), lambda: waits.log.append("pass"), torch.zeros(count, 128)))  # fmt: skip
    monkeypatch.setattr(Choice, "tokens", lambda _, logits, positions: torch.full((len(logits),), 7))
    late = device_rounds._Late
    monkeypatch.setattr(device_rounds, "_Late", lambda _: late(torch.device("cuda")))
    monkeypatch.setattr(torch.cuda, "Event", waits.event)
    sampler = Sampler(Sampling(temperature=0), 7, PROMPT)
    assert engine.rounds is not None

    def run(k: int, drafter: Any, foresee: Foresight | None = None) -> list[str]:
        waits.log.clear()
        assert engine.rounds is not None
        done = engine.rounds.run(PROMPT, k, sampler, drafter, engine.cache, engine.width, foresee)
        assert done is not None
        assert done.draft.tokens == (7,) * k
        return list(waits.log)

    run(0, NoDrafter())  # the reply's sampling goes to the card
    assert run(0, NoDrafter()) == ["pass", "tolist"]
    assert run(3, twin) == ["step", "step", "step", "pass", "tolist"]
    assert run(3, twin, lambda tokens: None) == [
        "step", "mark 0", "step", "mark 1", "wait 0", "step", "mark 2", "wait 1", "pass", "tolist"
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_reply_ends_at_the_same_token_with_all_drafters(card: tuple[Engine, GraphTwin]) -> None:
    engine, rough_twin = card
    assert engine.rounds is not None
    sure = GraphTwin(engine.forward, engine.cache, rough_twin._choice)  # type: ignore[arg-type]  # right every time

    def text(drafter: Any, k: int, end: int | None) -> tuple[list[int], list[Outcome]]:
        engine.reuse(())
        for _ in engine.prefill(PROMPT, lambda: False):
            pass
        sampler, planner = Sampler(Sampling(temperature=0.9), 7, PROMPT), FixedK(k)
        foresee = None if end is None else first_of(end)
        rounds = engine.decode(
            PROMPT, sampler, drafter, planner, lambda token: "end" if token == end else None, COUNT, foresee
        )
        outcomes = list(rounds)
        return [token for outcome in outcomes for token in outcome.tokens], outcomes

    plain, _ = text(NoDrafter(), 0, None)
    end = plain[2]
    whole = plain[: plain.index(end) + 1]
    ngram = NgramDrafter(frozenset())
    for drafter in (sure, rough_twin, ngram, Poisoned(lambda ids, _: end)):
        written, outcomes = text(drafter, 4, end)
        assert written == whole, drafter.name
        assert outcomes[-1].stopped == "end"
        assert engine.cache.length == len(PROMPT) + len(whole) - 1
        assert list(engine.ids) == [*PROMPT, *whole][:-1]
        for outcome in outcomes:
            if isinstance(drafter, GraphTwin) and end in outcome.draft.tokens:
                assert outcome.draft.tokens.index(end) == outcome.drafted - 1, "nothing behind the end is counted"
    _, (only,) = text(sure, 4, end)
    assert (only.drafted, only.accepted, only.tested) == (len(whole),) * 3


def test_a_look_ahead_at_a_reply_changes_nothing() -> None:
    """Where end tokens and stop strings would end it, half characters and halves of stop strings included."""
    tokenizer = tiny_tokenizer("byte", special=("<|im_end|>",))
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    ids = [*tokenizer.encode("a café, a naïve café or two", add_special_tokens=False), end, 5]
    for stops, ends in (((), frozenset({end})), (("é or",), frozenset()), (("naïve", "é, b"), frozenset({end}))):
        looked = ReplyText(tokenizer, ends, stops)
        straight = ReplyText(tokenizer, ends, stops)
        stopped = None
        for place, token in enumerate(ids):
            ahead = ids[place:]
            found = looked.foresee(ahead)
            assert found == looked.foresee(ahead)
            stopped = looked.push(token)
            assert stopped == straight.push(token)
            assert (found == 1) == (stopped is not None)
            if stopped is not None:
                break
        assert stopped == ("stop" if stops else "end")
        for one in (looked, straight):
            one.take(())
            one.finish()
        assert looked.shown == straight.shown


def test_the_twin_drafts_alone_too(card: tuple[Engine, GraphTwin]) -> None:
    """For drafters made of several, which take its draft to the host."""
    engine, twin = card
    engine.reuse(())
    for _ in engine.prefill(PROMPT, lambda: False):
        pass
    first = twin.propose(PROMPT, 2, Sampler(Sampling(temperature=0), 7, PROMPT))
    assert len(first.tokens) == 2
    penalised = Sampler(Sampling(temperature=0, presence_penalty=0.001), 7, PROMPT)
    assert not penalised.on_device
    assert twin.propose(PROMPT, 2, penalised).tokens == first.tokens


def test_the_target_is_followed_along_a_tree() -> None:
    draft = Draft((5, 6, 7, 8), (-1, -1, 1, 2))
    assert follow(draft, [6, 0, 7, 9, 0]).path == (1, 2)
    verdict = follow(draft, [6, 0, 7, 9, 0])
    assert (verdict.last, verdict.tested, verdict.full) == (9, 3, False)
    assert follow(draft, [6, 0, 7, 8, 3]).full
    assert follow(Draft(), [4]).path == ()
