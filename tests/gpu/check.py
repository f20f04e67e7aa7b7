"""Kernels, exactness, step times and memory on a CUDA machine, without a network: `python tests/gpu/check.py`.

Models of random weights in the shapes of Llama-3-8B and a 1.5B one. Prints one JSON object, and a table on standard
error as it goes; exit status 0 when nothing is wrong. `--only` takes sections by name for a short slot, and one that
fails does not stop the others. `--device cpu --tiny` runs the same code anywhere (with TRITON_INTERPRET=1 the kernels
too); `--starter FOLDER` adds a real model.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers

from tests.gpu.report import Report, first_line

if TYPE_CHECKING:
    from collections.abc import Callable

SECTIONS = {
    "kernels": ("kernels", "oracle"),
    "bandwidth": ("kernels", "bandwidth"),
    "8b": ("steps", "eight"),
    "bf16": ("texts", "bfloat16"),
    "8-bit": ("texts", "eight_bit"),
    "1.5b": ("steps", "one_and_a_half"),
    "fp16": ("texts", "float16"),
    "fp32": ("texts", "float32"),
    "starter": ("steps", "starter"),
}
"""By name, in order of what a short slot should see first: the module and function of each."""


def section(name: str) -> Callable[[Report], dict[str, Any]]:
    """A section's function. Imported only now: what one of them lacks must not stop the others."""
    module, function = SECTIONS[name]
    found: Callable[[Report], dict[str, Any]] = getattr(importlib.import_module(f"tests.gpu.{module}"), function)
    return found


def check(report: Report, names: list[str], say: Callable[[str], None]) -> dict[str, Any]:
    """Run the sections; the result as the object that is printed."""
    begun = time.perf_counter()
    results: dict[str, Any] = {}
    told = 0
    for name in names:
        started = time.perf_counter()
        say(f"--- {name}")
        if report.late:
            report.wrong(f"section {name} is left out: the time is up")
            results[name] = {"left_out": "time"}
        else:
            try:
                results[name] = section(name)(report)
            except Exception as error:
                report.wrong(f"section {name} failed: {first_line(error)}")
                results[name] = {"failed": first_line(error), "traceback": traceback.format_exc()}
                say(traceback.format_exc())
        results[name]["seconds"] = time.perf_counter() - started
        for line in report.lines[told:]:
            say(line)
        told = len(report.lines)
        say(f"    {results[name]['seconds']:.0f} s")
        gc.collect()  # a failed section's tensors hang on its traceback
        if report.device.type == "cuda":
            try:
                torch.cuda.empty_cache()
            except RuntimeError as error:  # a card that an illegal access has stopped
                report.wrong(f"the card is lost after section {name}: {first_line(error)}")
                break
    return {
        "ok": not report.problems,
        "problems": report.problems,
        "goals": report.goals,
        "device": device_name(report.device),
        "versions": versions(),
        "seconds": time.perf_counter() - begun,
        "table": report.lines,
        "sections": results,
    }


def device_name(device: torch.device) -> str:
    """What it ran on."""
    if device.type == "cpu":
        return platform.processor() or "cpu"
    properties = torch.cuda.get_device_properties(device)
    card = f"sm_{properties.major}{properties.minor}, {properties.multi_processor_count} multiprocessors"
    return f"{properties.name} ({card}, {properties.total_memory / 1e9:.0f} GB)"


def versions() -> dict[str, str | None]:
    """Of what the bits and the times depend on."""
    triton = importlib.util.find_spec("triton")
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "transformers": transformers.__version__,
        "triton": __import__("triton").__version__ if triton else None,
    }


def main(argv: list[str] | None = None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--tiny", action="store_true", help="a model of one small layer")
    parser.add_argument("--only", help=f"sections, separated by commas, of {', '.join(SECTIONS)}")
    parser.add_argument("--tokens", type=int, default=48, help="of each text")
    parser.add_argument("--seconds", type=float, default=420, help="no section and no text is begun after this time")
    parser.add_argument("--starter", help="folder of a real model")
    options = parser.parse_args(argv)
    names = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := [name for name in names if name not in SECTIONS]:
        parser.error(f"there is no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    if options.device == "cuda" and not torch.cuda.is_available():
        print("There is no CUDA device; --device cpu --tiny runs the same code here.", file=sys.stderr)
        return 1

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    device = torch.device("cuda", torch.cuda.current_device()) if options.device == "cuda" else torch.device("cpu")
    until = time.perf_counter() + options.seconds
    report = Report(device, options.tiny, options.tokens, until, options.starter)
    say(f"{device_name(device)}; {json.dumps(versions())}")
    result = check(report, names, say)
    print(json.dumps(result, indent=1))
    for problem in report.problems:
        say(f"PROBLEM: {problem}")
    say(f"{result['seconds']:.0f} s; " + ("ok" if result["ok"] else f"not ok: {len(report.problems)} problems"))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
