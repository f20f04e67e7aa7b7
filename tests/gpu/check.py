"""Exactness, step times and memory on a CUDA machine, without a network: `python tests/gpu/check.py`.

A model of random weights in the shape of a 1.5B one writes with speculation off and on; every text that must be equal
is compared. Prints one JSON object, and a summary on standard error; exit status 0 when all of them are. Without
bitsandbytes the twin is left out. `--device cpu --tiny` runs the same code anywhere.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers

from inference.decoder import Decoder, pack, refusal
from inference.draft_length import RoundTimes
from inference.drafters.base import Draft
from inference.drafters.none import NoDrafter
from inference.drafters.offered import Offer, Offered
from inference.drafters.twin import TwinDrafter
from inference.drafting import Drafting, Learned
from inference.engine import Engine
from inference.exact import fast_width, find_width
from inference.kv_cache import KVCache
from inference.measure import draft_step_ms, step_times
from inference.model import ReferenceForward
from inference.sampling import Sampler
from inference.settings import LARGEST_K, Control, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inference.drafters.base import Drafter
    from inference.engine import Outcome
    from inference.measure import StepTimes
    from inference.model import Forward

LARGE = {
    "vocab_size": 151_936, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
    "num_attention_heads": 12, "num_key_value_heads": 2, "max_position_embeddings": 4096,
}  # fmt: skip
TINY = {
    "vocab_size": 512, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096,
}  # fmt: skip
FEW_LAYERS = 4
"""In float32, where fast mode must be equal too, this many layers will do."""

LOGIT_SPREAD = 3.0

PROMPT_TOKENS = 200
SAMPLINGS = {"greedy": Sampling(temperature=0), "T 0.8": Sampling(temperature=0.8, top_p=1.0)}
LENGTHS: dict[str, int | None] = {"4": 4, "auto": None}
SEED = 7


@dataclass
class Findings:
    """What was seen; ``problems`` are what must not be."""

    deadline: float
    texts: list[dict[str, Any]] = field(default_factory=list)
    forwards: list[dict[str, Any]] = field(default_factory=list)
    twin: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    left_out: int = 0


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
        ])


def random_model(shape: dict[str, int], dtype: torch.dtype, device: torch.device) -> Any:
    """A Llama of this shape with random weights, made on the device."""
    config = transformers.LlamaConfig(
        **shape, tie_word_embeddings=False, bos_token_id=None, eos_token_id=None, pad_token_id=0
    )
    torch.manual_seed(SEED)
    with device:
        model: Any = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    with torch.no_grad():  # logits as far apart as a trained model's, or the noise of T 0.8 alone would write the text
        model.lm_head.weight.normal_(0, LOGIT_SPREAD / config.hidden_size**0.5)
    return model.to(device).eval().requires_grad_(False)


def twin_of(model: Any, findings: Findings) -> Forward | None:
    """The twin's forward, or None with the reason noted."""
    if importlib.util.find_spec("bitsandbytes") is None:
        findings.twin = {"left_out": "bitsandbytes is not installed"}
        return None
    from inference.quantize.build import build_twin

    begun = time.perf_counter()
    build = build_twin(model, [[token * 37 % model.config.vocab_size for token in range(1, 200)]])
    while True:
        try:
            next(build)
        except StopIteration as end:
            twin = end.value
            break
        except (RuntimeError, ValueError, NotImplementedError) as error:
            findings.twin = {"failed": first_line(error)}
            findings.problems.append(f"the twin could not be built: {first_line(error)}")
            return None
    synchronize(model.device)
    findings.twin = {
        "seconds": time.perf_counter() - begun,
        "matrices": twin.matrices,
        "bits": {"levels": twin.level_bits, "packed": twin.packed_bits, "resident": twin.resident_bits},
    }
    return forward_of(twin.model)


def forward_of(twin: Any) -> Forward:
    """The decoder where the twin's matrices are joined, else transformers' modules."""
    return Decoder(twin) if hasattr(twin.model.layers[0].self_attn, "qkv_proj") else ReferenceForward(twin)


def forwards(model: Any) -> Iterator[tuple[str, Forward]]:
    """The reference forward and then the fast one, which takes the model apart."""
    yield "reference", ReferenceForward(model)
    if refusal(model) is None:
        for _ in pack(model):
            pass
        yield "decoder", Decoder(model)


def examine(
    precision: str, name: str, forward: Forward, twin: Forward | None, model: Any, tokens: int, findings: Findings
) -> None:
    """One forward in both modes: times, and texts for every sampling, drafter and K."""
    device, vocabulary = model.device, model.config.vocab_size
    begun = time.perf_counter()
    exact = find_width(forward, vocabulary, LARGEST_K, device)
    found = time.perf_counter()
    fast_times, exact_times = step_times(forward, exact, LARGEST_K, device)
    step_ms = draft_step_ms(twin or forward, device)
    cache = KVCache(PROMPT_TOKENS + tokens + 1, 2 * (LARGEST_K + 1))
    findings.forwards.append({
        "precision": precision,
        "forward": name,
        "exact_width": exact.plain if exact else None,
        "self_test_seconds": found - begun,
        "fast_ms": asdict(fast_times),
        "exact_ms": asdict(exact_times) if exact else None,
        "draft_ms": step_ms,
        "memory": memory(device),
    })
    if exact is None and precision != "float32":  # there, fast mode writes the same text anyway
        findings.problems.append(f"{precision}, {name}: no width gives equal rows, so exact mode is off")
    drafters: list[Drafter] = [Spoilt(TwinDrafter(forward, cache, device), vocabulary)]
    if twin is not None:
        drafters.append(TwinDrafter(twin, cache, device))
    for width, times in ((exact, exact_times), (fast_width(LARGEST_K), fast_times)):
        if width is None:
            continue
        engine = Engine(forward, cache, width, device)
        must = width.exact or precision == "float32"
        for sampling, how in SAMPLINGS.items():
            plain: list[int] = []
            for drafter, k in [(NoDrafter(), "0"), *((drafter, k) for drafter in drafters for k in LENGTHS)]:
                if time.perf_counter() > findings.deadline:
                    findings.left_out += must
                    continue
                written, seen = write(engine, drafter, LENGTHS.get(k, 0), how, times, step_ms, tokens, vocabulary)
                plain = plain or written
                at = next((i for i, pair in enumerate(zip(written, plain, strict=True)) if pair[0] != pair[1]), None)
                mode = "exact" if width.exact else "fast"
                findings.texts.append({
                    "precision": precision, "forward": name, "mode": mode, "sampling": sampling,
                    "drafter": drafter.name, "k": k, "must_be_equal": must, "equal": at is None,
                    "first_difference": at, **seen,
                })  # fmt: skip
                if must and at is not None:
                    place = f"{precision}, {name}, {mode}, {sampling}, {drafter.name}, K {k}"
                    findings.problems.append(f"{place}: differs from plain decoding from token {at} on")


def write(
    engine: Engine,
    drafter: Drafter,
    k: int | None,
    how: Sampling,
    times: StepTimes,
    step_ms: float,
    tokens: int,
    vocabulary: int,
) -> tuple[list[int], dict[str, Any]]:
    """The tokens of one reply to a made-up prompt, and its figures."""
    prompt = [(17 * place * place + 5) % vocabulary for place in range(PROMPT_TOKENS)]
    engine.reuse(())
    for _ in engine.prefill(prompt, lambda: False):
        pass
    sampler = Sampler(how, SEED, prompt)
    offered = Offered()
    if drafter.name != "none":
        offered.add(Offer(drafter, step_ms))
    drafting = Drafting(offered, drafter.name, Learned(RoundTimes(times)), Control(Speculation(k=k)))
    outcomes: list[Outcome] = list(engine.decode(prompt, sampler, drafting, drafting, lambda token: None, tokens))
    written = [token for outcome in outcomes for token in outcome.tokens]
    tested = sum(outcome.tested for outcome in outcomes)
    spent = sum(outcome.draft_ms + outcome.verify_ms for outcome in outcomes)
    return written, {
        "tokens": len(written),
        "rounds": len(outcomes),
        "acceptance": sum(outcome.accepted for outcome in outcomes) / tested if tested else None,
        "tokens_per_second": 1e3 * len(written) / spent,
    }


def memory(device: torch.device) -> dict[str, float] | None:
    """Gigabytes on the card now and at most."""
    if device.type != "cuda":
        return None
    return {"gb": torch.cuda.memory_allocated() / 1e9, "peak_gb": torch.cuda.max_memory_allocated() / 1e9}


def synchronize(device: torch.device) -> None:
    """Wait for the card."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def first_line(error: Exception) -> str:
    """What an error says, shortly."""
    return f"{type(error).__name__}: {error}".split("\n")[0]


def check(device: torch.device, tiny: bool, tokens: int, seconds: float) -> dict[str, Any]:
    """Everything; the result as the object that is printed."""
    begun = time.perf_counter()
    findings = Findings(deadline=begun + seconds)
    shape = TINY if tiny else LARGE
    few = {**shape, "num_hidden_layers": min(FEW_LAYERS, shape["num_hidden_layers"])}
    weights = 0
    for precision, of in (("bfloat16", shape), ("float32", few)):
        model = random_model(of, getattr(torch, precision), device)
        weights = weights or sum(parameter.numel() for parameter in model.parameters())
        twin = twin_of(model, findings) if precision == "bfloat16" else None
        for name, forward in forwards(model):
            examine(precision, name, forward, twin, model, tokens, findings)
        del model, twin, forward
    if findings.left_out:
        findings.problems.append(f"{findings.left_out} texts were left out: {seconds:.0f} s are over")
    return {
        "ok": not findings.problems,
        "problems": findings.problems,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else platform.processor() or "cpu",
        "versions": versions(),
        "weights": weights,
        "seconds": time.perf_counter() - begun,
        "twin": findings.twin,
        "forwards": findings.forwards,
        "texts": findings.texts,
    }


def versions() -> dict[str, str | None]:
    """Of what the bits depend on."""
    triton = importlib.util.find_spec("triton")
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "transformers": transformers.__version__,
        "triton": __import__("triton").__version__ if triton else None,
    }


def summary(result: dict[str, Any]) -> list[str]:
    """The result for people."""
    found = [
        f"{result['device']}, torch {result['versions']['torch']}, transformers {result['versions']['transformers']}; "
        f"{result['weights'] / 1e9:.2f} billion weights; {result['seconds']:.0f} s",
        f"twin: {json.dumps(result['twin'])}",
    ]
    for forward in result["forwards"]:
        fast, exact = forward["fast_ms"], forward["exact_ms"]
        found.append(
            f"{forward['precision']}, {forward['forward']}: plain {fast['plain_at'][0]:.2f} ms, "
            f"verify of K 4 {fast['verify'][4]:.2f} ms, draft step {fast['draft']:.2f} ms; "
            + (f"exact width {forward['exact_width']} adds {100 * exact['exact_cost']:.1f} %" if exact else "no exact")
            + (f"; {forward['memory']['peak_gb']:.1f} GB at most" if forward["memory"] else "")
        )
    for text in result["texts"]:
        acceptance = "" if text["acceptance"] is None else f", {100 * text['acceptance']:.0f} % accepted"
        place = " ".join(text[name] for name in ("precision", "forward", "mode", "sampling", "drafter"))
        found.append(
            f"  {place} K {text['k']}: "
            + ("equal" if text["equal"] else f"differs from token {text['first_difference']} on")
            + ("" if text["must_be_equal"] else " (need not be equal)")
            + f", {text['tokens_per_second']:.1f} tokens/s{acceptance}"
        )
    return [*found, *(f"PROBLEM: {problem}" for problem in result["problems"]), "ok" if result["ok"] else "not ok"]


def main(argv: list[str] | None = None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--tiny", action="store_true", help="a model of two small layers")
    parser.add_argument("--tokens", type=int, default=48, help="of each text")
    parser.add_argument("--seconds", type=float, default=210, help="no text is begun after this time")
    options = parser.parse_args(argv)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("There is no CUDA device; --device cpu --tiny runs the same code here.", file=sys.stderr)
        return 1
    result = check(torch.device(options.device), options.tiny, options.tokens, options.seconds)
    print(json.dumps(result, indent=1))
    print("\n".join(summary(result)), file=sys.stderr)
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
