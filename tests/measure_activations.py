"""What rounding activations to 8 bits costs a twin in acceptance: `python -m tests.measure_activations [--prompts F]`.

The target writes each text once, greedily. The same twin then drafts over it with activations of 8 bits (a scale for
32, as the kernels round them), of 16 (bfloat16) and unrounded; all else, in float32, is the same. Accepted / tested at
K 4, pooled, and the difference to 16 bits in pairs, a text each. Not a test: it takes minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from inference import terminal
from inference.bench.prompts import BUILT_IN, Prompt, evenly, read_prompts
from inference.events import LoadFailed
from inference.messages import sentence
from inference.quantize import kept
from inference.quantize.agreement import Drafted, hits, rounds
from inference.quantize.build import assemble
from inference.quantize.linear import LowBitLinear
from inference.quantize.pack import round_activations
from inference.quantize.texts import Text
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.quantize.pack import Packed
    from inference.ready import Ready
    from inference.twins import TwinMaker

DEPTH = 4
KINDS = ("8 bits", "16 bits", "32 bits")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Activations:
    """In which of KINDS activations reach the products."""

    def __init__(self) -> None:
        self.kind = KINDS[0]

    def of(self, x: torch.Tensor) -> torch.Tensor:
        """Rows [n, columns] as the products see them, float32."""
        if self.kind == "8 bits":
            values, scales = round_activations(x)
            return (values.float() * scales[..., None]).flatten(1)[:, : x.shape[1]]
        return x.bfloat16().float() if self.kind == "16 bits" else x.float()


class Measured(nn.Module):
    """A layer of the twin, spread out in float32."""

    def __init__(self, parts: Sequence[Packed], bias: torch.Tensor | None, activations: Activations) -> None:
        super().__init__()
        self.weights = torch.cat([part.dequantize() for part in parts])
        self.bias = bias
        self.out_features, self.in_features = self.weights.shape
        self.activations = activations

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.activations.of(x.reshape(-1, self.in_features))
        product = functional.linear(rows, self.weights, self.bias)
        return product.view(*x.shape[:-1], self.out_features).to(x.dtype)


def loaded(recipe: str) -> Session:
    """The starter; its twins come later."""
    session = Session()
    choice = ModelChoice(model="starter", drafter="twin", recipe=recipe, twin_later=True)
    *_, last = session.load(choice, threading.Event())
    if isinstance(last, LoadFailed):
        raise SystemExit(sentence(last.notice))
    return session


def written(session: Session, prompts: Sequence[Prompt], limit: int) -> list[Text]:
    """The target's greedy replies."""
    assert session.ready is not None
    texts = []
    for prompt in prompts:
        session.forget()
        request = Request(0, (Message("user", prompt.turns[0]),), Sampling(temperature=0), limit)
        finished = terminal.write(session, request, Control(Speculation(on=False)), show=False)
        begin = finished.statistics.prompt_tokens
        texts.append(Text((*session.ready.engine.ids[:begin], *finished.token_ids), begin))
    return texts


def matrices_of(maker: TwinMaker, *, calibrated: bool) -> dict[str, Packed]:
    """The twin's matrices: kept ones, else made now and kept."""
    source = kept.source_of(maker.folder)
    found = kept.load(source, maker.recipe, calibrated=calibrated)
    if found is None:
        for _ in maker.make(quick=not calibrated, is_cancelled=lambda: False):
            pass
        found = kept.load(source, maker.recipe, calibrated=calibrated)
    assert found is not None, "the twin could not be kept"
    return found[0]


def measured(maker: TwinMaker, matrices: dict[str, Packed], activations: Activations) -> Any:
    """The forward of a twin whose products take activations as they are told."""
    parts_of: dict[str, list[Packed]] = {}
    for path, packed in matrices.items():
        parent, _, name = path.rpartition(".")
        joined = next((new for new, old in maker.joined.items() if name in old), name)
        parts_of.setdefault(f"{parent}.{joined}" if parent else joined, []).append(packed)
    model = assemble(maker.model.model, matrices, maker.joined).model
    for path, module in list(model.named_modules()):
        if isinstance(module, LowBitLinear):
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, Measured(parts_of[path], module.bias, activations))
    return maker.forward_of(model)


def share(drafts: Sequence[Drafted]) -> float:
    """Accepted / tested over all texts."""
    return sum(sum(one.accepted) for one in drafts) / sum(sum(one.tested) for one in drafts)


def errors(drafts: Sequence[Drafted]) -> list[float]:
    """What each text adds to the pooled share's error, so that those of two kinds can be taken in pairs."""
    value, tested = share(drafts), sum(sum(one.tested) for one in drafts)
    return [(sum(one.accepted) - value * sum(one.tested)) / tested for one in drafts]


def lines(found: dict[str, list[Drafted]]) -> list[str]:
    """The shares with standard errors, and differences to 16 bits with those of pairs."""
    base = found["16 bits"]
    told = []
    for kind, drafts in found.items():
        error = math.hypot(*errors(drafts))
        apart = math.hypot(*(mine - other for mine, other in zip(errors(drafts), errors(base), strict=True)))
        per_round = sum(sum(one.accepted) for one in drafts) / sum(one.rounds for one in drafts) + 1
        told.append(
            f"  {kind}: accepted {share(drafts):.4f} +- {error:.4f}, {per_round:.3f} tokens a round; "
            f"less 16 bits {share(drafts) - share(base):+.4f} +- {apart:.4f}"
        )
    return told


def compared(ready: Ready, maker: TwinMaker, texts: Sequence[Text], *, calibrated: bool) -> dict[str, list[Drafted]]:
    """By kind of activations what the drafts over each text would have been."""
    activations = Activations()
    forward = measured(maker, matrices_of(maker, calibrated=calibrated), activations)
    found: dict[str, list[Drafted]] = {kind: [] for kind in KINDS}
    for text in texts:
        for kind in KINDS:
            activations.kind = kind
            found[kind].append(rounds(hits(ready.engine.forward, forward, text, DEPTH, ready.engine.device)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--recipes", default="nf3,affine3,affine4")
    parser.add_argument("--prompts", type=Path, help="a file of prompts; without one, the program's own")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--calibrated", action="store_true", help="twins with error feedback, minutes each")
    options = parser.parse_args()
    prompts = evenly(read_prompts(options.prompts) if options.prompts else BUILT_IN, options.limit)
    session = loaded(options.recipes.split(",")[0])
    ready = session.ready
    assert ready is not None
    assert ready.maker is not None
    texts = [text for text in written(session, prompts, options.max_new_tokens) if len(text.ids) > text.begin]
    say(f"{len(texts)} texts, {sum(len(text.ids) - text.begin for text in texts)} tokens")
    maker = ready.maker
    for recipe in options.recipes.split(","):
        maker = maker.of(recipe)  # which reads the texts that the last one wrote
        found = compared(ready, maker, texts, calibrated=options.calibrated)
        say(f"{recipe}, {'calibrated' if options.calibrated else 'quick'}")
        for line in lines(found):
            say(line)


if __name__ == "__main__":
    main()
