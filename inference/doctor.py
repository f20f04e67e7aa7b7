"""What this machine has and lacks, in sentences with the remedy.

Every probe stands alone: what it throws becomes a finding, and libraries that can take the process down with them
(torch, Qt) are looked at from a process of their own. Changes nothing and fetches nothing.
"""

from __future__ import annotations

import json as json_module
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from inference.messages import Notice, sentence
from inference.models import fit, fitting, starter
from inference.models.folders import data_folder, hub_cache, nearest_existing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Level = Literal["good", "note", "bad"]

GIGABYTE = 1e9
LOW_MEMORY = 2 * GIGABYTE
LOW_DISK = 2 * GIGABYTE
PRODUCTS = {
    "compiler": "doctor.products_compiler", "processor": "doctor.products_processor", "wrong": "doctor.products_wrong",
}
PATIENCE = 120
"""Seconds for a library to load from a cold disk."""

TORCH = """
import json
import torch
found = {"version": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip}
found["bf16"] = bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
torch.ones(8, 8) @ torch.ones(8, 8)
try:
    import bitsandbytes
    found["bitsandbytes"] = None
except Exception as error:
    found["bitsandbytes"] = f"{type(error).__name__}: {error}"
if torch.cuda.is_available():
    try:
        (torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")).sum().item()
        found["bf16"] = torch.cuda.get_device_capability() >= (8, 0)
        found["gpu"] = None
    except Exception as error:
        found["gpu"] = f"{type(error).__name__}: {error}"
try:
    from inference.native import products
    found["products"] = products.trouble()
except Exception as error:
    found["products"] = "wrong"
print(json.dumps(found))
"""
QT = """
import json
from PySide6 import QtCore, QtWidgets
QtWidgets.QApplication([])
print(json.dumps({"version": QtCore.qVersion()}))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. Only ``bad`` keeps the program from running."""

    probe: str
    level: Level
    notice: Notice


class Broken(Exception):
    """A library did not load in its own process; the text is the last line it left."""


def doctor(json: bool) -> int:
    """Print what was found; exit status 0 when the program can run here, else 1."""
    findings = [finding for name, probe in PROBES.items() for finding in _isolated(name, probe)]
    can_run = not any(finding.level == "bad" for finding in findings)
    verdict = sentence(Notice("doctor.can_run" if can_run else "doctor.cannot_run"))
    if json:
        listed = [
            {"probe": finding.probe, "level": finding.level, "id": finding.notice.id,
             "values": dict(finding.notice.values), "text": sentence(finding.notice)}
            for finding in findings
        ]
        text = json_module.dumps({"can_run": can_run, "verdict": verdict, "findings": listed}, indent=1)
    else:
        marks = {"good": " ", "note": "-", "bad": "!"}
        lines = [f"{marks[finding.level]} {sentence(finding.notice)}" for finding in findings]
        text = "\n".join([*lines, "", verdict])
    sys.stdout.write(text + "\n")
    return 0 if can_run else 1


def _isolated(name: str, probe: Callable[[], Iterator[tuple[Level, Notice]]]) -> list[Finding]:
    found: list[Finding] = []
    try:
        for level, notice in probe():
            found.append(Finding(name, level, notice))
    except Exception as error:  # one blind spot must not hide the others
        detail = f"{type(error).__name__}: {error}"
        found.append(Finding(name, "note", Notice("doctor.failed", {"probe": name, "detail": detail})))
    return found


def _python() -> Iterator[tuple[Level, Notice]]:
    system = f"{platform.system()} {platform.machine()}"
    yield "good", Notice("doctor.python", {"version": platform.python_version(), "system": system})


def _torch() -> Iterator[tuple[Level, Notice]]:
    found = _torch_found()
    if "broken" in found:
        yield "bad", Notice("doctor.torch_broken", {"detail": found["broken"]})
        return
    yield "good", Notice("doctor.torch", {"version": found["version"], "build": _build(found)})
    if found["bitsandbytes"]:
        yield "bad", Notice("doctor.bitsandbytes_broken", {"detail": found["bitsandbytes"]})
    device = "GPU" if found.get("gpu", "none") is None else "CPU"
    if device == "CPU" and not found["bf16"] and found["products"] is None:
        return  # weights of 16 bits are read as they are all the same
    yield ("good", Notice("doctor.bf16", {"device": device})) if found["bf16"] else (
        "note", Notice("doctor.bf16_slow", {"device": device}))


def _gpu() -> Iterator[tuple[Level, Notice]]:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield "good", Notice("doctor.gpu_none")
        return
    try:
        driver = str(pynvml.nvmlSystemGetDriverVersion())
        for index in range(pynvml.nvmlDeviceGetCount()):
            card = pynvml.nvmlDeviceGetHandleByIndex(index)
            memory = pynvml.nvmlDeviceGetMemoryInfo(card)
            yield "good", Notice("doctor.gpu", {
                "name": str(pynvml.nvmlDeviceGetName(card)), "driver": driver,
                "free_gb": memory.free / GIGABYTE, "total_gb": memory.total / GIGABYTE,
            })
    finally:
        pynvml.nvmlShutdown()
    found = _torch_found()
    if "broken" in found:
        return
    if not found["cuda"]:
        yield "note", Notice("doctor.gpu_build", {"build": _build(found)})
    elif found.get("gpu", "PyTorch sees none") is not None:
        yield "note", Notice("doctor.gpu_unusable", {"detail": found.get("gpu", "PyTorch sees none")})


def _compiler() -> Iterator[tuple[Level, Notice]]:
    """What there is for our own kernels: compiled products on a CPU, Triton's on a card."""
    found = _torch_found()
    if sys.platform != "linux":
        yield "good", Notice("doctor.compiler_unneeded")
        return
    if found.get("gpu", "none") is not None:
        trouble = found.get("products", "compiler")
        yield ("good", Notice("doctor.products")) if trouble is None else (
            "note", Notice(PRODUCTS[trouble]))
        return
    path = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    yield ("good", Notice("doctor.compiler", {"path": path})) if path else ("note", Notice("doctor.compiler_none"))


def _memory() -> Iterator[tuple[Level, Notice]]:
    import psutil

    memory = psutil.virtual_memory()
    values = {"free_gb": memory.available / GIGABYTE, "total_gb": memory.total / GIGABYTE}
    low = memory.available < LOW_MEMORY
    yield "note" if low else "good", Notice("doctor.memory_low" if low else "doctor.memory", values)


def _parts() -> Iterator[tuple[Level, Notice]]:
    """What the starter takes where it would run here, part by part, and what goes first where memory runs out."""
    if starter.is_ready():
        memory = fit.memories()[0]
        shape = fitting.shape_in(starter.folder(), starter.folder().name)
        parts = dict(fit.segments(shape, fit.usual(shape, memory.kind), memory.kind))
        names = ("target", "twin", "cache", "graphs", "work")
        values = {f"{name}_mb": parts.get(name, 0) / 1e6 for name in names}
        yield "good", Notice("doctor.takes", {
            "model": starter.folder().name, "total_mb": sum(values.values()), "memory": memory.kind, **values,
        })
    yield "good", Notice("memory.order")


def _recipes() -> Iterator[tuple[Level, Notice]]:
    """Which low-bit copy of each model was found to draft fastest here."""
    for found in fitting.choices():
        speed = max((one["speed"] for one in found["candidates"] if one["recipe"] == found["recipe"]), default=1.0)
        values = {"model": found["model"], "recipe": found["recipe"], "device": found["device"], "speed": speed}
        yield "good", Notice("doctor.recipe", values)


def _disk() -> Iterator[tuple[Level, Notice]]:
    for folder, variable in ((data_folder(), "XDG_DATA_HOME"), (hub_cache(), "HF_HOME")):
        existing = nearest_existing(folder)
        free = shutil.disk_usage(existing).free
        try:
            with tempfile.TemporaryFile(dir=existing):
                pass
        except OSError:
            yield "bad", Notice("doctor.disk_refused", {"folder": str(folder), "variable": variable})
            continue
        low = free < LOW_DISK
        id = "doctor.disk_low" if low else "doctor.disk"
        yield "note" if low else "good", Notice(id, {"folder": str(folder), "free_gb": free / GIGABYTE})


def _window() -> Iterator[tuple[Level, Notice]]:
    screen = "the desktop" if sys.platform != "linux" else (
        os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM") or "")
    try:
        found = _in_its_own_process(QT, {} if screen else {"QT_QPA_PLATFORM": "offscreen"})
        yield "good", Notice("doctor.qt", {"version": found["version"]})
    except Broken as broken:
        yield "bad" if screen else "note", Notice("doctor.qt_libraries", {"detail": str(broken)})
    yield ("good", Notice("doctor.display", {"name": screen})) if screen else ("note", Notice("doctor.display_none"))


def _starter() -> Iterator[tuple[Level, Notice]]:
    if starter.is_ready():
        yield "good", Notice("doctor.starter", {"folder": str(starter.folder())})
    else:
        yield "note", Notice("doctor.starter_missing")


def _hub() -> Iterator[tuple[Level, Notice]]:
    from huggingface_hub import constants

    if constants.is_offline_mode():
        yield "note", Notice("doctor.hub_offline")
        return
    address = urlsplit(constants.ENDPOINT)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=3):
            yield "good", Notice("doctor.hub", {"address": constants.ENDPOINT})
    except OSError:
        yield "note", Notice("doctor.hub_unreachable", {"address": constants.ENDPOINT})


@cache
def _torch_found() -> dict[str, Any]:
    try:
        return _in_its_own_process(TORCH, {})
    except Broken as broken:
        return {"broken": str(broken)}


def _build(found: dict[str, Any]) -> str:
    return f"CUDA {found['cuda']}" if found["cuda"] else f"ROCm {found['hip']}" if found["hip"] else "CPU"


def _in_its_own_process(code: str, environment: dict[str, str]) -> dict[str, Any]:
    """What the code prints as JSON on its last line; Broken when it dies, by whatever death."""
    try:
        ended = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise Broken(f"no answer in {PATIENCE} s") from error
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or [""])[-1]
        raise Broken(last or f"it ended with status {ended.returncode}")
    found: dict[str, Any] = json_module.loads(ended.stdout.strip().splitlines()[-1])
    return found


PROBES: dict[str, Callable[[], Iterator[tuple[Level, Notice]]]] = {
    "Python": _python, "PyTorch": _torch, "GPU": _gpu, "compiler": _compiler, "memory": _memory, "parts": _parts,
    "recipes": _recipes,
    "disk": _disk, "window": _window, "starter model": _starter, "model hub": _hub,
}
