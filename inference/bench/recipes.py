"""`bench --recipes`: every recipe of the twin on the same texts of the target, greedy and sampled.

The target writes each text once; what drafts of each twin would have been is read off them in one pass (the same
decisions as decoding takes). Speeds are forecasts from measured steps. The record is JSON.
"""

from __future__ import annotations

import math
import threading
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from inference import terminal
from inference.bench.machine import machine
from inference.bench.suite import DEFAULT_SEED
from inference.bench.tables import table
from inference.messages import Notice, Problem
from inference.quantize.agreement import Drafted, hits, rounds
from inference.quantize.recipes import RECIPES
from inference.quantize.texts import Text
from inference.sampling import Sampler
from inference.settings import Control, Message, Request, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference.bench.prompts import Prompt
    from inference.ready import Ready
    from inference.session import Session
    from inference.twins import TwinMaker

DEPTH = 4
TEMPERATURES = (0.0, 0.7)


@dataclass(frozen=True, slots=True)
class _Written:
    text: Text
    how: Sampling


def recipes_record(
    session: Session,
    names: Sequence[str],
    prompts: Sequence[Prompt],
    limit: int,
    heard: Callable[[Notice], None],
    *,
    quick: bool,
) -> dict[str, Any]:
    """The record for a loaded session. Twins that are not kept yet are made, and kept; ``heard`` hears progress.

    Raises Problem.
    """
    ready = session.ready
    if ready is None:
        raise Problem("error.no_model")
    if ready.maker is None:
        raise Problem("error.drafter_unavailable", drafter="twin", model=ready.loaded.name, reason="drafter.no_linear")
    written = {
        temperature: [
            _write(session, ready, prompt, temperature, number, limit) for number, prompt in enumerate(prompts)
        ]
        for temperature in TEMPERATURES
    }
    found = []
    for name in names:
        heard(Notice("bench.recipe", {"recipe": name}))
        found.append(_measured(ready, ready.maker.of(name), written, heard, quick=quick))
    return {
        "kind": "recipes",
        **machine(ready, threading.Event()),
        "prompts": len(prompts),
        "max_new_tokens": limit,
        "plain_ms": ready.times.plain_at[0],
        "recipes": found,
    }


def _write(session: Session, ready: Ready, prompt: Prompt, temperature: float, number: int, limit: int) -> _Written:
    """The target's reply to the first turn, as plain decoding writes it."""
    how = Sampling(temperature=temperature, seed=DEFAULT_SEED + number)
    session.forget()
    request = Request(0, (Message("user", prompt.turns[0]),), how, limit)
    finished = terminal.write(session, request, Control(Speculation(on=False)), show=False)
    begin = finished.statistics.prompt_tokens
    return _Written(Text((*ready.engine.ids[:begin], *finished.token_ids), begin), how)


def _measured(
    ready: Ready,
    maker: TwinMaker,
    written: dict[float, list[_Written]],
    heard: Callable[[Notice], None],
    *,
    quick: bool,
) -> dict[str, Any]:
    offer = maker.load()
    if offer is None or maker.record is None or not (quick or maker.record.calibrated):
        making = maker.make(quick=quick, is_cancelled=lambda: False)
        while True:
            try:
                step = next(making)
            except StopIteration as end:
                offer = end.value
                break
            if step.notice.id.startswith("error."):
                heard(step.notice)
    assert offer is not None
    assert offer.bits is not None
    assert maker.record is not None
    plain = ready.times.plain_at[0]
    verify = [time / plain for time in ready.modes["fast"].times.verify]
    by_temperature = {}
    for temperature, texts in written.items():
        found = [_hits(ready, maker, text) for text in texts]
        drafts = [rounds(text) for text in found if text[0]]
        speeds = {}
        for k in range(1, DEPTH + 1):
            short = [rounds(text[:k]) for text in found if text[0]]
            speeds[k] = _tokens_per_round(short) / (k * offer.step_ms / plain + verify[k])
        best = max(speeds, key=lambda k: speeds[k])
        by_temperature[str(temperature)] = {
            "acceptance": _share(drafts, range(DEPTH)),
            "by_depth": [_share(drafts, [depth]) for depth in range(DEPTH)],
            "tokens_per_round": _tokens_per_round(drafts),
            "best_k": best,
            "forecast": speeds[best],
        }
    return {
        "recipe": maker.recipe,
        "bits": asdict(offer.bits),
        "bytes": maker.record.bytes,
        "calibrated": maker.record.calibrated,
        "build_seconds": maker.record.build_seconds,
        "draft_ms": offer.step_ms,
        "c": offer.step_ms / plain,
        "temperatures": by_temperature,
    }


def _hits(ready: Ready, maker: TwinMaker, written: _Written) -> list[list[bool]]:
    from inference.engine import as_row

    assert maker.twin_forward is not None
    forward, device, text = ready.engine.forward, ready.engine.device, written.text
    if written.how.temperature == 0:
        return hits(forward, maker.twin_forward, text, DEPTH, device)
    assert written.how.seed is not None
    sampler = Sampler(replace(written.how), written.how.seed, text.ids[: text.begin], ends=ready.ends)
    return hits(
        forward, maker.twin_forward, text, DEPTH, device, lambda row, position: sampler.choose(as_row(row), position)
    )


def _share(drafts: Sequence[Drafted], depths: Sequence[int]) -> dict[str, float | None]:
    """Accepted / tested over texts at these depths, with the standard error of a ratio of sums."""
    pairs = [(sum(d.accepted[i] for i in depths), sum(d.tested[i] for i in depths)) for d in drafts]
    tested = sum(pair[1] for pair in pairs)
    if not tested:
        return {"value": None, "error": None}
    value = sum(pair[0] for pair in pairs) / tested
    spread = math.sqrt(sum((accepted - value * count) ** 2 for accepted, count in pairs)) / tested
    return {"value": value, "error": spread}


def _tokens_per_round(drafts: Sequence[Drafted]) -> float:
    accepted, count = sum(sum(d.accepted) for d in drafts), sum(d.rounds for d in drafts)
    return accepted / count + 1 if count else 1.0


def recipe_lines(record: dict[str, Any]) -> list[str]:
    """The record as a table for people."""
    rows = [["recipe", "levels", "packed", "resident", "MB", "build s", "c"]]
    for temperature in TEMPERATURES:
        rows[0] += [f"accepted T {temperature:g}", "by depth", "tokens/round", "forecast"]
    for entry in record["recipes"]:
        bits = entry["bits"]
        row = [
            entry["recipe"] + ("" if entry["calibrated"] else " quick"),
            f"{bits['levels']:.2f}", f"{bits['packed']:.2f}", f"{bits['resident']:.1f}",
            f"{entry['bytes'] / 1e6:.0f}", f"{entry['build_seconds']:.0f}", f"{entry['c']:.2f}",
        ]  # fmt: skip
        for found in entry["temperatures"].values():
            depths = " ".join("-" if d["value"] is None else f"{d['value']:.2f}" for d in found["by_depth"])
            acceptance = found["acceptance"]
            shown = "-" if acceptance["value"] is None else f"{acceptance['value']:.3f}±{acceptance['error']:.3f}"
            row += [shown, depths, f"{found['tokens_per_round']:.2f}", f"{found['forecast']:.2f}x K {found['best_k']}"]
        rows.append(row)
    return table(rows)


def names_of(text: str) -> list[str]:
    """The recipes that an option names, ``all`` for all. Raises Problem."""
    names = list(RECIPES) if text == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in RECIPES:
            raise Problem("error.setting", field="recipes", value=name, allowed="all, or some of " + ", ".join(RECIPES))
    return names
