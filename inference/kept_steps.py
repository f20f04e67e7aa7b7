"""What the self-test of exact mode found and what steps cost, kept between loads: both take seconds to measure.

For one model on one machine with one set of kernels; costs are measured anew after a week, and are not kept from a
machine that was busy. Knows how to keep them, not how to measure.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import torch

from inference.exact import Width
from inference.measure import StepTimes
from inference.models import folders, notes

DAYS = 7
"""How long costs are believed: fans, drivers and neighbours change."""

MODELS = 40
"""As many are kept, the latest."""

BUSY = 0.5
"""Other programs' share of a core, on average over a minute, from which on measurements are not kept."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The exact width, None when there is none, and the costs in fast and in exact mode."""

    exact: Width | None
    fast_times: StepTimes
    exact_times: StepTimes


def key(folder: Path, identity: str, looked_for_exact: bool) -> str:
    """A name for all that they depend on: the model's files, the identity of fast mode, and the processor."""
    files = sorted(folder.glob("*.safetensors"))
    state = str([[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files])
    source = hashlib.sha256(state.encode()).hexdigest()[:16]
    cpu = f"{_cpu()} {psutil.cpu_count()} {torch.get_num_threads()}"
    return f"{source}, {identity}, {cpu}, {'exact' if looked_for_exact else 'fast'}"


def load(name: str) -> Steps | None:
    """What is kept under this name, unless it is old or damaged."""
    kept = notes.read(_file()).get(name)
    try:
        if not isinstance(kept, dict) or not 0 <= time.time() - kept["at"] < DAYS * 86400:
            return None
        width = None if kept["exact"] is None else Width(True, int(kept["exact"][0]), int(kept["exact"][1]))
        return Steps(width, _times(kept["fast_times"]), _times(kept["exact_times"]))
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def is_busy() -> bool:
    """Whether the machine is busy with something else, so that what is measured now is no time to keep."""
    return bool(psutil.getloadavg()[0] - torch.get_num_threads() > BUSY)


def save(name: str, steps: Steps) -> None:
    """Keep them, unless the machine is busy with something else. A folder that cannot be written stops nothing."""
    if is_busy():
        return
    kept = notes.read(_file())
    kept.pop(name, None)
    kept[name] = {
        "at": time.time(),
        "exact": None if steps.exact is None else [steps.exact.plain, steps.exact.largest],
        "fast_times": asdict(steps.fast_times),
        "exact_times": asdict(steps.exact_times),
    }
    notes.write(_file(), dict(list(kept.items())[-MODELS:]))


def _times(kept: dict[str, Any]) -> StepTimes:
    """ValueError unless every cost is a positive number."""
    plain_at, verify, growth = (tuple(map(float, kept[name])) for name in ("plain_at", "verify", "growth"))
    if len(plain_at) != 2 or not verify or not all(0 < cost < float("inf") for cost in (*plain_at, *verify)):
        raise ValueError("no costs")
    if not all(0 <= share < float("inf") for share in growth) or len(growth) not in (0, len(verify)):
        raise ValueError("no growth")
    return StepTimes(plain_at, verify, float(kept["exact_cost"]), growth)


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        return os.environ.get("PROCESSOR_IDENTIFIER", "")


def _file() -> Path:
    return folders.tuning_file().with_name("steps.json")
