"""Sections on whole steps: times of a plain step, a draft step and verification, and the speed-up they give.

The twin is random, so what it proposes is replaced by tokens of a set acceptance before they are verified; every step
is really done.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import torch

from inference.decoder import Decoder
from inference.device_rounds import Choice, DeviceRounds, GraphTwin
from inference.drafters.none import NoDrafter
from inference.engine import Engine
from inference.exact import fast_width
from inference.fused import FusedStep, refusal
from inference.graphs import GraphForward, StaticRows, cuda_capture, plain_call
from inference.kv_cache import KVCache
from inference.quantize.triton_launch import LowBitProduct
from inference.quantize.triton_tuning import quickest
from inference.quantize.triton_tuning import shape as shape_of
from inference.rows import tree_rows
from inference.sampling import Sampler
from inference.settings import Sampling
from tests.gpu.counting import operations
from tests.gpu.kernels import copy_bandwidth
from tests.gpu.shapes import EIGHT, ONE_AND_A_HALF, TINY, joined, low_bit_bytes, random_model, random_twin, weights
from tests.gpu.shapes import with_layers as fewer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.engine import Foresight, Outcome
    from inference.quantize.triton_launch import Tile
    from tests.gpu.report import Report
    from tests.gpu.shapes import Shape

PROMPT = 200
ROOM = 700
LONGEST = 8
ACCEPTANCES = (0.9, 0.8, 0.7)
"""The one with a goal first: what time leaves out are the others."""
DRAFTS = (2, 3, 4, 5, 6)
GOALS = {"plain": 0.75, "twin": 0.55, "c": 0.28, "v5": 1.08, "speed": 1.9}


class Card:
    """A target and its twin as the program has them on a card, over one cache."""

    def __init__(self, report: Report, model: Any, twin: Any) -> None:
        device = report.device
        self.model, self.twin_model = model, twin
        self.cache = KVCache(PROMPT + ROOM, 2 * (LONGEST + 1))
        self.choice = Choice(device)
        capture = cuda_capture(device) if device.type == "cuda" else plain_call
        self.target = GraphForward(Decoder(model), FusedStep(model, self.cache.slots), device, capture)
        self.engine = Engine(self.target, self.cache, fast_width(LONGEST), torch.device("cpu"))
        self.engine.rounds = DeviceRounds(self.target, self.choice)
        self.twin = None
        if twin is not None:
            graphs = GraphForward(Decoder(twin), FusedStep(twin, self.cache.slots), device, capture)
            self.twin = SetAcceptance(graphs, self.cache, self.choice)

    def prompt(self) -> list[int]:
        """Made-up token ids."""
        return [(17 * place * place + 5) % self.target.step.vocabulary for place in range(PROMPT)]

    def write(
        self, drafter: Any, planner: Any, sampling: Sampling, count: int
    ) -> tuple[list[int], list[Outcome], float]:
        """A reply's tokens, its rounds, and the seconds of decoding."""
        prompt = self.prompt()
        self.engine.reuse(())
        for _ in self.engine.prefill(prompt, lambda: False):
            pass
        begun = time.perf_counter()
        found = list(
            self.engine.decode(prompt, Sampler(sampling, 7, prompt), drafter, planner, lambda token: None, count)
        )
        return [token for outcome in found for token in outcome.tokens], found, time.perf_counter() - begun


class Always:
    """A planner that plans the same K each time, or one K after the other."""

    def __init__(self, *lengths: int) -> None:
        self._lengths = lengths
        self._rounds = 0

    def plan(self, ids: Sequence[int], largest: int) -> int:
        """K for the next round."""
        self._rounds += 1
        return min(self._lengths[self._rounds % len(self._lengths)], largest)

    def record(self, outcome: Outcome) -> None:
        """Nothing is learned."""


class SetAcceptance(GraphTwin):
    """Does all of the twin's work, and then proposes the known text with misses at a set rate."""

    text: tuple[int, ...] = ()
    begin = 0
    acceptance = 1.0

    def launch(self, ids: Sequence[int], k: int, sampler: Sampler, foresee: Foresight | None = None) -> int:
        """The twin's steps, and other tokens in their place."""
        count = super().launch(ids, k, sampler)
        if self.text:
            place = len(ids) - self.begin
            tokens = list(self.text[place : place + count])
            tokens += [0] * (count - len(tokens))
            draws = random.Random(len(ids))
            moved = [token if draws.random() < self.acceptance else (token + 1) % 100 for token in tokens]
            self.chain[1 : count + 1].copy_(torch.tensor(moved))
        return count


def eight(report: Report) -> dict[str, Any]:
    """The shape of an 8B model."""
    return steps(report, "8B", EIGHT, goals=True)


def one_and_a_half(report: Report) -> dict[str, Any]:
    """The shape of a 1.5B model."""
    return steps(report, "1.5B", ONE_AND_A_HALF)


def steps(report: Report, name: str, shape: Shape, *, goals: bool = False) -> dict[str, Any]:
    """Times, shares of the bandwidth, speed-ups predicted and real, capture and memory."""
    shape = TINY if report.tiny else shape
    device = report.device
    dtype = half(device)
    copied = copy_bandwidth(report)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        free = torch.cuda.mem_get_info(device)[0]
        needed = (weights(shape) + shape["vocab_size"] * shape["hidden_size"]) * 2 * 1.35 + 2e9
        if needed > free:
            layers = int(shape["num_hidden_layers"] * max(0.0, free - 4e9) / needed)
            if layers < 2:
                report.say(f"{name} is left out: it needs {needed / 1e9:.0f} GB, {free / 1e9:.0f} are free")
                return {"left_out": "memory"}
            report.say(f"{name}: {layers} of {shape['num_hidden_layers']} layers, for want of memory")
            shape = fewer(shape, layers)
    model = joined(random_model(shape, dtype, device))
    found: dict[str, Any] = {"layers": shape["num_hidden_layers"], "dtype": str(dtype)}
    if (why := refusal(model, device)) is not None:
        report.say(f"{name}: the fused step is left out: {why}")
        if device.type == "cuda":
            report.wrong(f"{name}: the step cannot be fused on this card: {why}")
        return {**found, "left_out": why}
    twin = random_twin(model)
    tuning(report, name, twin, found)
    card = Card(report, model, twin)
    assert card.twin is not None
    found["operations_a_layer"] = counts = launches(report, model)
    report.say(f"{name}: operations a layer {counts['before']:.0f} before, {counts['after']:.0f} fused")
    capturing(report, card, found)
    times = timed(report, card)
    plain_bytes, twin_bytes = 2 * weights(shape), low_bit_bytes(twin)
    c, v = times["draft"] / times["plain"], {count: times[str(count)] / times["plain"] for count in range(2, 17)}
    shares = {
        "plain": plain_bytes / times["plain"] * 1e3 / copied,
        "twin": twin_bytes / times["draft"] * 1e3 / copied,
    }
    found |= {"ms": times, "c": c, "v": v, "shares": shares, "uncaptured_ms": times["uncaptured"]}
    report.say(
        f"{name}: plain step {times['plain']:.2f} ms ({shares['plain']:.0%} of the copy; {times['uncaptured']:.2f} ms "
        f"without a graph), draft step {times['draft']:.2f} ms ({shares['twin']:.0%}), c {c:.3f}, "
        + ", ".join(f"v({count}) {v[count]:.2f}" for count in (2, 3, 5, 9, 16))
    )
    found["speed"] = speeds(report, card, times)
    best = {each["acceptance"]: each for each in found["speed"]}
    for each in best.values():
        report.say(
            f"{name}: at acceptance {each['acceptance']:.2f} (really {each['seen']:.2f}), K {each['k']}: "
            f"{each['real']:.2f} times plain decoding, {each['predicted']:.2f} predicted"
        )
    if device.type == "cuda":
        found["peak_gb"] = torch.cuda.max_memory_allocated(device) / 1e9
        found["graphs_gb"] = (card.target.pass_bytes + card.twin.graph_bytes) / 1e9
        report.say(f"{name}: {found['peak_gb']:.1f} GB at most, of which graphs {found['graphs_gb']:.2f} GB")
    if goals and not report.tiny:
        judge(report, shares, c, v[5], best[0.9]["real"] if 0.9 in best else None)
    return found


def judge(report: Report, shares: dict[str, float], c: float, v5: float, speed: float | None) -> None:
    """Hold the figures of the 8B shape to what was hoped for; ``speed`` None when there was no time for it."""
    report.goal("plain step's share of the copy", shares["plain"], least=GOALS["plain"])
    report.goal("twin step's share of the copy", shares["twin"], least=GOALS["twin"])
    report.goal("c", c, most=GOALS["c"])
    report.goal("v(5)", v5, most=GOALS["v5"])
    if speed is not None:
        report.goal("speed-up at acceptance .90", speed, least=GOALS["speed"])


def tuning(report: Report, name: str, twin: Any, found: dict[str, Any]) -> None:
    """Give the twin's products their quickest tiles, as the program does at load; most of it is compiling."""
    if report.tiny:
        return
    begun = time.perf_counter()
    tiles: dict[str, Tile] = {}
    for module in twin.modules():
        product = getattr(module, "product", None)
        if isinstance(product, LowBitProduct):
            known = tiles.get(shape_of(product))
            if known is None and report.late:
                report.say(f"{name}: the other tiles are not tuned: the time is up")
                return
            product.use(1, known or tiles.setdefault(shape_of(product), quickest(product)))
    found["tiles"] = {shape: str(tile) for shape, tile in tiles.items()}
    report.say(f"{name}: tiles of {len(tiles)} shapes found in {time.perf_counter() - begun:.0f} s")


def half(device: torch.device) -> torch.dtype:
    """The card's 16-bit precision; float32 where kernels are interpreted."""
    if device.type == "cpu":
        return torch.float32
    return torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16


def launches(report: Report, model: Any) -> dict[str, float]:
    """Operations and kernels of a layer in the decoder, one by one, and in the fused step."""

    def run(forward: Any) -> Callable[[], object]:
        cache = KVCache(64, 40)
        rows = tree_rows([1], None, 0, cache.slots, device=report.device)
        return lambda: forward(rows, cache)

    def fused() -> Callable[[], object]:
        step, cache, rows = FusedStep(model, 128), KVCache(64, 40), StaticRows(1, report.device)
        rows.write(tree_rows([1], None, 0, cache.slots))
        step.reserve(cache)
        return lambda: step(rows.tokens, rows.sight, 128, cache)

    layers = len(model.model.layers)
    plain = Decoder(model)
    plain._compiled = None  # a CPU may have one call for all of it
    return {"before": operations(run(plain)) / layers, "after": operations(fused()) / layers}


def capturing(report: Report, card: Card, found: dict[str, Any]) -> None:
    """How long it takes to capture all passes."""
    begun = time.perf_counter()
    counts = (1, 2) if report.tiny else range(1, 17)
    for _ in card.target.prepare(counts, card.cache):
        pass
    report.synchronize()
    target = time.perf_counter() - begun
    if card.twin is not None:
        card.twin.prepare()
    report.synchronize()
    found["capture_s"] = {"target": target, "twin": time.perf_counter() - begun - target, "passes": len(list(counts))}
    for graphs in (card.target, card.twin.graphs) if card.twin is not None else (card.target,):
        if graphs.uncaptured is not None:
            report.wrong(f"passes run without graphs: {graphs.uncaptured}")
    report.say(f"capturing: {target:.1f} s for the target, {found['capture_s']['twin']:.1f} s for the twin")


def timed(report: Report, card: Card) -> dict[str, float]:
    """Milliseconds of a plain step, of one draft step, and of passes of 2 to 16 rows, behind a prompt."""
    engine, twin = card.engine, card.twin
    assert twin is not None
    sampler = Sampler(Sampling(temperature=0), 7, card.prompt())
    engine.reuse(())
    for _ in engine.prefill(card.prompt(), lambda: False):
        pass
    ids = card.prompt()

    def rows_of(count: int) -> Callable[[], object]:
        rows = tree_rows(list(range(count)), None, card.cache.length, card.cache.slots)
        return lambda: card.target(rows, card.cache)

    times = {"plain": report.milliseconds(rows_of(1))}
    for count in range(2, 17):
        # Where nothing is measured in earnest, a few will do.
        if report.tiny and count > 2:
            times[str(count)] = times["2"]
        else:
            times[str(count)] = report.milliseconds(rows_of(count))
    more = 2 if report.tiny else 5
    one, several = (report.milliseconds(lambda k=k: twin.launch(ids, k, sampler)) for k in (1, more))  # type: ignore[misc]
    times["draft"] = max(1e-6, (several - one) / (more - 1))
    times["choice"] = report.milliseconds(
        lambda: card.choice.tokens(card.target.logits[:1], torch.tensor([1], device=report.device))
    )
    rows = tree_rows([1], None, card.cache.length, card.cache.slots, device=report.device)
    forward = Decoder(card.model)
    times["uncaptured"] = report.milliseconds(lambda: forward(rows, card.cache))
    return times


def speeds(report: Report, card: Card, times: dict[str, float]) -> list[dict[str, Any]]:
    """For each acceptance the K that is predicted to be best, its prediction, and what was really gained."""
    twin = card.twin
    assert twin is not None
    count = 5 if report.tiny else 160
    greedy = Sampling(temperature=0)
    text, _, _ = card.write(NoDrafter(), Always(0), greedy, count)
    _, _, plain = card.write(NoDrafter(), Always(0), greedy, count)
    found = []
    for acceptance in ACCEPTANCES[:1] if report.tiny else ACCEPTANCES:
        if report.late:
            report.say("the other acceptances are left out: the time is up")
            break

        def predicted(k: int, rate: float = acceptance) -> float:
            tokens = (1 - rate ** (k + 1)) / (1 - rate)
            return tokens * times["plain"] / (k * times["draft"] + times[str(k + 1)])

        k = 2 if report.tiny else max(DRAFTS, key=predicted)
        twin.text, twin.begin, twin.acceptance = tuple(text), PROMPT, acceptance
        try:
            written, rounds, spent = card.write(twin, Always(k), greedy, count)
        finally:
            twin.text = ()
        tested, accepted = sum(r.tested for r in rounds), sum(r.accepted for r in rounds)
        found.append({
            "acceptance": acceptance, "seen": accepted / max(1, tested), "k": k, "predicted": predicted(k),
            "real": plain / spent, "tokens_per_round": len(written) / len(rounds),
            "equal_text": written == text,
        })  # fmt: skip
    return found


def starter(report: Report) -> dict[str, Any]:
    """A real model from a folder: loaded as the program loads it, one reply with the twin and one without."""
    if report.folder is None:
        report.say("the starter is left out: no --starter FOLDER")
        return {"left_out": "no folder"}
    import threading

    from inference.events import Finished, Loaded
    from inference.messages import sentence
    from inference.session import Session
    from inference.settings import Control, Message, ModelChoice, Request, Speculation

    session = Session()
    *_, loaded = session.load(ModelChoice(model=report.folder, device=report.device.type), threading.Event())
    if not isinstance(loaded, Loaded):
        notice = getattr(loaded, "notice", None)
        report.wrong(f"the starter is not loaded: {sentence(notice) if notice else loaded}")
        return {"failed": "load"}
    request = Request(1, (Message("user", "Why is the sky blue?"),), Sampling(temperature=0), max_new_tokens=96)
    texts, figures = [], {}
    for name, speculation in (("off", Speculation(on=False)), ("on", Speculation(k=4))):
        *_, finished = session.reply(request, Control(speculation))
        if not isinstance(finished, Finished):
            report.wrong(f"the starter's reply with speculation {name} ends with {finished}")
            return {"failed": f"speculation {name}"}
        texts.append(finished.text)
        figures[name] = finished.statistics.tokens_per_second
        report.say(f"starter, speculation {name}: {figures[name]:.1f} tokens/s, {finished.statistics.rounds} rounds")
    if texts[0] != texts[1]:
        report.wrong("the starter writes another text with speculation")
    return {"tokens_per_second": figures, "equal": texts[0] == texts[1]}
