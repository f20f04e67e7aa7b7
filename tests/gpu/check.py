"""Kernels, exactness, step times and memory on a CUDA machine, without a network: `python tests/gpu/check.py`.

Models of random weights in the shapes of Llama-3-8B and a 1.5B one. Prints one JSON object, and a table on standard
error as it goes; exit status 0 when nothing is wrong. `--only` takes sections by name for a short slot, and one that
fails does not stop the others: where it takes the card with it, a new process does the rest. `--out FILE` holds what is
known after each section. No section is begun after `--seconds`, and 50 seconds later what is known is printed and the
process ends, so that all takes less than eight minutes. `--device cpu --tiny` runs the same code anywhere (with
TRITON_INTERPRET=1 the kernels too); `--starter FOLDER` adds a real model.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers

from tests.gpu.report import Report, first_line

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 400
GRACE = 50
"""Seconds in which sections are begun, and that the last one may take beyond them; importing takes up to 30 more."""

SECTIONS = {
    "kernels": ("kernels", "oracle"),
    "8b": ("steps", "eight"),
    "bandwidth": ("kernels", "bandwidth"),
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


def check(
    report: Report,
    names: list[str],
    say: Callable[[str], None],
    keep: Callable[[dict[str, Any]], object] = lambda result: None,
    anew: Callable[[list[str]], dict[str, Any] | None] = lambda names: None,
    cut_short: Callable[[dict[str, Any]], object] = lambda result: None,
) -> dict[str, Any]:
    """Run the sections; the result as the object that is printed, and kept after each of them.

    ``anew`` runs sections in a process of their own, for when the card is lost to this one. ``cut_short`` hears what is
    known when a section goes on GRACE seconds after the time was up, and should end the process.
    """
    begun = time.perf_counter()
    results: dict[str, Any] = {}
    told = 0

    def found() -> dict[str, Any]:
        return {
            "ok": not report.problems,
            "problems": report.problems,
            "goals": report.goals,
            "device": name_of_device,
            "versions": versions(),
            "seconds": time.perf_counter() - begun,
            "table": report.lines,
            "sections": results,
        }

    def give_up() -> None:
        left = [name for name in names if "seconds" not in results.get(name, {})]
        report.wrong(f"the time is up, and {left[0]} goes on; cut short: {', '.join(left)}")
        keep(found())
        cut_short(found())

    name_of_device = device_name(report.device)
    watch = threading.Timer(max(0.0, report.until + GRACE - time.perf_counter()), give_up)
    watch.daemon = True
    watch.start()
    for number, name in enumerate(names):
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
        keep(found())
        gc.collect()  # a failed section's tensors hang on its traceback
        if (lost := loss(report.device)) is not None:
            report.wrong(f"the card is lost after section {name}: {lost}")
            rest = names[number + 1 :]
            others = anew(rest) if rest else None
            if others is not None:
                results |= others["sections"]
                report.problems += others["problems"]
                report.goals += others["goals"]
                report.lines += others["table"]
            elif rest:
                report.wrong(f"sections {', '.join(rest)} are left out: they did not run in a new process either")
            break
    watch.cancel()
    keep(found())
    return found()


def loss(device: torch.device) -> str | None:
    """Why nothing more can be done on the card in this process, as behind an illegal access; None when it can."""
    if device.type == "cuda":
        try:
            torch.cuda.synchronize(device)
            torch.cuda.empty_cache()
        except RuntimeError as error:
            return first_line(error)
    return None


def in_a_new_process(options: argparse.Namespace, until: float, names: list[str]) -> dict[str, Any] | None:
    """The sections' result from a process of their own, whose lines go to standard error; None when it printed none."""
    left = max(0.0, until - time.perf_counter())
    command = [sys.executable, __file__, "--device", options.device, "--only", ",".join(names)]
    command += ["--tokens", str(options.tokens), "--seconds", f"{left:.0f}", *(["--tiny"] if options.tiny else [])]
    command += ["--starter", options.starter] if options.starter else []
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    try:
        found: dict[str, Any] = json.loads(printed)
    except ValueError:
        return None
    return found


def device_name(device: torch.device) -> str:
    """What it ran on."""
    if device.type == "cpu":
        return platform.processor() or "cpu"
    properties = torch.cuda.get_device_properties(device)
    card = f"sm_{properties.major}{properties.minor}, {properties.multi_processor_count} multiprocessors"
    return f"{properties.name} ({card}, {properties.total_memory / 1e9:.0f} GB)"


def versions() -> dict[str, str | None]:
    """Of what the bits and the times depend on."""
    try:
        triton = importlib.import_module("triton").__version__
    except Exception as error:  # one that is there and broken must not stop what needs none
        triton = first_line(error)
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "transformers": transformers.__version__,
        "triton": triton,
    }


def main(argv: list[str] | None = None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--tiny", action="store_true", help="a model of one small layer")
    parser.add_argument("--only", help=f"sections, separated by commas, of {', '.join(SECTIONS)}")
    parser.add_argument("--tokens", type=int, default=48, help="of each text")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="no section or text is begun after this time")
    parser.add_argument("--starter", help="folder of a real model")
    parser.add_argument("--out", type=Path, help="a file for the JSON object, written after each section")
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

    def keep(found: dict[str, Any]) -> None:
        if options.out is not None:
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    def end(result: dict[str, Any]) -> None:
        print(json.dumps(result, indent=1), flush=True)
        say(f"PROBLEM: {report.problems[-1]}")
        os._exit(1)  # the card may be busy with what is not waited for

    result = check(report, names, say, keep, partial(in_a_new_process, options, until), end)
    print(json.dumps(result, indent=1))
    for problem in report.problems:
        say(f"PROBLEM: {problem}")
    say(f"{result['seconds']:.0f} s; " + ("ok" if result["ok"] else f"not ok: {len(report.problems)} problems"))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
