"""Sections on texts: with speculation and without, in every precision, forward, mode and sampling, token for token."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from inference.decoder import Decoder
from inference.device_rounds import Choice, DeviceRounds, GraphTwin
from inference.drafters.base import Draft
from inference.drafters.none import NoDrafter
from inference.drafters.twin import TwinDrafter
from inference.engine import Engine
from inference.exact import fast_width, find_width
from inference.fused import FusedStep, refusal
from inference.graphs import GraphForward, cuda_capture, plain_call
from inference.kv_cache import KVCache
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.gpu.shapes import ONE_AND_A_HALF, TINY, in_eight_bits, joined, random_model, random_twin, with_layers
from tests.gpu.steps import Always

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inference.drafters.base import Drafter
    from inference.engine import Outcome
    from inference.exact import Width
    from tests.gpu.report import Report

LARGEST_K = 8
PROMPT_TOKENS = 200
SAMPLINGS = {"greedy": Sampling(temperature=0), "T 0.8, top-p 0.95": Sampling(temperature=0.8, top_p=0.95)}
PLANS = {"K 4": (4,), "K 0 to 8": (0, 3, 1, 8, 2, 5)}
SEED = 7
FEW_LAYERS = 4
"""In float32, where fast mode must be equal too, this many layers will do."""


class Spoilt:
    """A drafter that is right two times out of three, so that drafts are accepted, cut and refused."""

    name = "spoilt"

    def __init__(self, drafter: Drafter, vocabulary: int) -> None:
        self._drafter = drafter
        self._vocabulary = vocabulary

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        """The other drafter's chain, with each token at a position divisible by three moved by one."""
        tokens = self._drafter.propose(ids, k, sampler).tokens
        return Draft.chain([
            (token + 1) % self._vocabulary if (len(ids) + depth) % 3 == 0 else token
            for depth, token in enumerate(tokens)
        ])  # fmt: skip


def bfloat16(report: Report) -> dict[str, Any]:
    """The 16-bit precision of most models."""
    return texts(report, "bfloat16", torch.bfloat16, reference=True)


def float16(report: Report) -> dict[str, Any]:
    """That of older cards."""
    return texts(report, "float16", torch.float16)


def eight_bit(report: Report) -> dict[str, Any]:
    """8-bit weights, activations in 16 bits."""
    return texts(report, "8-bit weights", torch.float16, eight=True)


def float32(report: Report) -> dict[str, Any]:
    """Few layers in full precision, where rows may be alone or not."""
    return texts(report, "float32", torch.float32, reference=True)


def texts(
    report: Report, name: str, dtype: torch.dtype, *, reference: bool = False, eight: bool = False
) -> dict[str, Any]:
    """Every forward of one precision: its exact width, and all texts held to plain decoding."""
    shape = TINY if report.tiny else ONE_AND_A_HALF
    if dtype == torch.float32:
        shape = with_layers(shape, FEW_LAYERS)
    if report.device.type == "cuda" and dtype == torch.bfloat16 and torch.cuda.get_device_capability() < (8, 0):
        report.say(f"{name} is left out: this card computes in float16")
        return {"left_out": "this card has no bfloat16"}
    if report.device.type == "cpu" and eight:
        dtype = torch.float32  # packed layers have no weights to read
    model = random_model(shape, dtype, report.device)
    found: list[dict[str, Any]] = []
    for kind, forward, rounds, drafters in forwards(report, model, reference, eight):
        examine(report, name, kind, forward, rounds, drafters, shape["vocab_size"], found)
        if report.late:
            report.wrong(f"{name}: the other texts are left out: the time is up")
            break
    equal = sum(text["equal"] for text in found if text["must_be_equal"])
    must = sum(text["must_be_equal"] for text in found)
    report.say(f"{name}: {equal} of {must} texts that must be equal to plain decoding are")
    return {"texts": found}


def forwards(report: Report, model: Any, reference: bool, eight: bool) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Name, forward, rounds of its own, and the drafters that go with it over a cache still to be given."""
    device = report.device
    if reference:
        try:
            from inference.model import ReferenceForward
        except ImportError as error:  # a bare machine lacks what folders are read with
            report.say(f"the reference forward is left out: {error}")
        else:
            yield "reference", ReferenceForward(model), None, []
    model = joined(model)
    if eight:
        model = in_eight_bits(model)
    else:
        yield "decoder", Decoder(model), None, []
    if (why := refusal(model, device)) is not None:
        report.say(f"graphs are left out: {why}")
        if device.type == "cuda":
            report.wrong(f"the step cannot be fused on this card: {why}")
        return
    capture = cuda_capture(device) if device.type == "cuda" else plain_call
    forward = GraphForward(Decoder(model), FusedStep(model, 1024), device, capture)
    choice = Choice(device)
    twin = random_twin(model) if not eight else None
    graphs = None if twin is None else GraphForward(Decoder(twin), FusedStep(twin, 1024), device, capture)
    yield "graphs", forward, (DeviceRounds(forward, choice), choice), [] if graphs is None else [graphs]


def examine(
    report: Report, precision: str, kind: str, forward: Any, rounds: Any, twins: list[Any], vocabulary: int,
    found: list[dict[str, Any]],
) -> None:  # fmt: skip
    """One forward in both modes: texts for every sampling, drafter and plan."""
    device = torch.device("cpu") if kind == "graphs" else report.device
    begun = time.perf_counter()
    largest = 2 if report.tiny else LARGEST_K
    exact: Width | None = find_width(forward, vocabulary, largest, device)
    spent_s = time.perf_counter() - begun
    report.say(f"{precision}, {kind}: exact width {exact.plain if exact else 'none'}, found in {spent_s:.1f} s")
    if exact is None and precision != "float32":
        report.wrong(f"{precision}, {kind}: no width gives equal rows, so exact mode is off")
    cache = KVCache(PROMPT_TOKENS + report.tokens + 1, 2 * (largest + 1))
    drafters: list[Any] = [Spoilt(TwinDrafter(forward, cache, device), vocabulary)]
    if twins:
        drafters.append(GraphTwin(twins[0], cache, rounds[1]))
    for width in (exact, fast_width(largest)):
        if width is None or (not width.exact and precision != "float32" and report.tiny):
            continue
        engine = Engine(forward, cache, width, device)
        engine.rounds = rounds[0] if rounds else None
        must = width.exact or precision == "float32"
        for sampling, how in SAMPLINGS.items():
            plain, spent = write(engine, NoDrafter(), (0,), how, report.tokens, vocabulary)
            for drafter in drafters:
                for plan, lengths in PLANS.items():
                    if report.late:
                        return
                    written, seen = write(engine, drafter, lengths, how, report.tokens, vocabulary)
                    pairs = zip(written, plain, strict=False)
                    at = next((i for i, pair in enumerate(pairs) if pair[0] != pair[1]), None)
                    mode = "exact" if width.exact else "fast"
                    found.append({
                        "precision": precision, "forward": kind, "mode": mode, "sampling": sampling,
                        "drafter": drafter.name, "plan": plan, "must_be_equal": must,
                        "equal": at is None and len(written) == len(plain), "first_difference": at,
                        "plain_tokens_per_second": spent["tokens_per_second"], **seen,
                    })  # fmt: skip
                    if must and not found[-1]["equal"]:
                        place = f"{precision}, {kind}, {mode}, {sampling}, {drafter.name}, {plan}"
                        report.wrong(f"{place}: differs from plain decoding from token {at} on")


def write(
    engine: Engine, drafter: Any, lengths: tuple[int, ...], how: Sampling, tokens: int, vocabulary: int
) -> tuple[list[int], dict[str, Any]]:
    """The tokens of one reply to a made-up prompt, and its figures."""
    prompt = [(17 * place * place + 5) % vocabulary for place in range(PROMPT_TOKENS)]
    engine.reuse(())
    for _ in engine.prefill(prompt, lambda: False):
        pass
    sampler = Sampler(how, SEED, prompt)
    begun = time.perf_counter()
    outcomes: list[Outcome] = list(
        engine.decode(prompt, sampler, drafter, Always(*lengths), lambda token: None, tokens)
    )
    spent = time.perf_counter() - begun
    written = [token for outcome in outcomes for token in outcome.tokens]
    tested = sum(outcome.tested for outcome in outcomes)
    return written, {
        "tokens": len(written),
        "rounds": len(outcomes),
        "acceptance": sum(outcome.accepted for outcome in outcomes) / tested if tested else None,
        "tokens_per_second": len(written) / spent,
    }
