"""Kills builds of the starter's twin, and fills their disk: ``python -m tests.measure_twin_kills [--calibrated N]``.

Each start loads the starter with what is kept, writes a reply, and makes the twin anew; it is killed (kill -9) at a
random moment of that, always before its end, or finds its disk full. Then the next start has to write the same text,
and nothing may be left behind that grows. The last one is let finish. Not a test: it takes minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from inference.events import DraftersChanged, Finished, LoadFailed, TwinProgress
from inference.messages import sentence
from inference.quantize import kept
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS = 20
TRIES = 60
"""A build that ends before its kill does not count."""

DISK_MB, HALF_MB = 100, 30
"""Of the small disk, and what is left of it for the half of a file; the twin of nf3 takes 55."""

RECIPES = ("nf3", "affine4")
FILLER = "filler"
MODULE = "tests.measure_twin_kills"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Start:
    """One start of the program's engine, in this process."""

    def __init__(self, recipe: str) -> None:
        self.session = Session()
        choice = ModelChoice(model="starter", drafter="twin", recipe=recipe, twin_later=True)
        *_, last = self.session.load(choice, threading.Event())
        if isinstance(last, LoadFailed):
            raise SystemExit(sentence(last.notice))

    def text(self) -> str:
        """A hash of what it writes, and whether a twin drafted."""
        assert self.session.ready is not None
        drafts = self.session.ready.offered.find("twin") is not None
        request = Request(1, (Message("user", "Why is the sky blue?"),), Sampling(temperature=0), max_new_tokens=32)
        *_, last = self.session.reply(request, Control(Speculation(on=drafts, k=3, drafter="twin")))
        assert isinstance(last, Finished)
        return f"{hashlib.sha256(str(last.token_ids).encode()).hexdigest()[:12]} {'drafted' if drafts else 'alone'}"

    def build(self, *, quick: bool) -> Iterator[str]:
        """Lines about a build: how far it is, and what went wrong."""
        for event in self.session.make_twin(threading.Event(), quick=quick):
            if isinstance(event, TwinProgress) and event.notice.id.startswith("error."):
                yield f"said {sentence(event.notice)}"
            elif isinstance(event, TwinProgress):
                yield f"at {event.fraction} {event.notice.id}"
            elif isinstance(event, DraftersChanged):
                yield f"drafters {','.join(event.drafters)}"


def child(recipe: str, how: str) -> None:
    """A start that tells what it does; it is killed from outside."""
    start = Start(recipe)
    say(f"text {start.text()}")
    say("building")
    for line in start.build(quick=how == "quick"):
        say(line)
    say(f"text {start.text()}")
    say("end")


def on_a_full_disk(recipe: str, moment: str) -> None:
    """A start whose disk (a small one, mounted over the folder of twins) is filled in the middle of a build.

    Where that is to be in the middle of the file, the room is not asked for: others took it after the question.
    """
    start, asks, filler = Start(recipe), kept.require_space, kept.folder() / FILLER
    for line in start.build(quick=True):
        if line.startswith("at 0.5") and not filler.exists():
            with filler.open("wb") as file:
                disk = os.statvfs(kept.folder())
                left = HALF_MB * 10**6 if moment == "keeping" else 0
                os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - left)
            if moment == "keeping":
                kept.require_space = lambda *_: None
        if not line.startswith("at "):
            say(line)
    say(f"text {start.text()}")
    say(f"left {leftovers()}")
    filler.unlink()
    kept.require_space = asks
    for line in start.build(quick=True):
        if not line.startswith("at "):
            say(line)
    say(f"text {start.text()}")
    say(f"left {leftovers()}")


def leftovers() -> dict[str, int]:
    """Files in the folder of twins by what they are."""
    names = [path.name for path in kept.folder().iterdir()] if kept.folder().exists() else []
    return {
        "twins": sum(name.endswith(".safetensors") for name in names),
        "parts": sum(name.endswith(kept.PART) for name in names),
        "damaged": sum(name.endswith(kept.DAMAGED) for name in names),
        "others": sum(name not in ("sources.json", FILLER) and "safetensors" not in name for name in names),
    }


def killed(recipe: str, how: str, moment: float, late: float) -> tuple[bool, list[str]]:
    """Whether the kill came before the end, and what had been said: ``moment`` is a part of the build.

    From 1 on it is that the build is being measured and kept, and so many times ``late`` seconds behind that.
    """
    command = [sys.executable, "-m", MODULE, "child", recipe, how]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            said.append(line.rstrip())
            part = float(line.split()[1]) if line.startswith("at ") else -1.0
            if part >= min(moment, 1.0):
                time.sleep((moment - 1) * late if moment > 1 else random.uniform(0, 0.1))
                running.send_signal(signal.SIGKILL)
                break
        rest = running.stdout.read().splitlines()
    return "end" not in rest and not any(line.startswith("drafters") for line in rest), said


def main() -> int:
    """All kills and both full disks; 1 when anything was not as it should be."""
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
        return 0
    if sys.argv[1:2] == ["full"]:
        on_a_full_disk(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(prog="tests.measure_twin_kills")
    parser.add_argument("--calibrated", type=int, default=1, help="so many of the kills in calibrated builds")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    random.seed(options.seed)
    say(f"seed {options.seed}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        own = Path(home) / "borrador"
        own.mkdir()
        (own / "models").symlink_to(platformdirs.user_data_path("borrador", appauthor=False) / "models")
        os.environ["XDG_DATA_HOME"] = home
        faults = kills(options.calibrated)
        say(f"{time.monotonic() - begun:.0f} s")
        faults += full_disks(home)
    say(f"{time.monotonic() - begun:.0f} s; " + ("; ".join(faults) or "all recovered, every text the same"))
    return 1 if faults else 0


def kills(calibrated: int) -> list[str]:
    """Kill until enough have landed; what was wrong."""
    faults, landed = [], 0
    texts: dict[str, int] = {}
    late = 1.0
    for _ in range(TRIES):
        recipe, how = random.choice(RECIPES), "calibrated" if landed < calibrated else "quick"
        moment = random.uniform(0, 0.5 if how == "calibrated" else 1.5)
        in_time, said = killed(recipe, how, moment, late)
        text = next((line.split()[1:] for line in said if line.startswith("text ")), ["none", ""])
        texts[text[0]] = texts.get(text[0], 0) + 1
        left = leftovers()
        landed += in_time
        late = late if in_time else late / 2
        say(f"{landed}: {recipe} {how} at {moment:.2f}, before: {' '.join(text)}, left {left}"
            + ("" if in_time else ", ended before the kill"))  # fmt: skip
        if left["parts"] > 1 or left["damaged"] or left["others"]:
            faults.append(f"left behind: {left}")
        if random.random() < 0.5:  # or the next start finds a whole one
            kept.remove(place for place, _ in kept.records())
        if landed == KILLS:
            break
    for recipe in RECIPES:
        done = subprocess.run(
            [sys.executable, "-m", MODULE, "child", recipe, "quick"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("text "):
                texts[line.split()[1]] = texts.get(line.split()[1], 0) + 1
        if lines[-1:] != ["end"] or not lines[-2].endswith("drafted"):
            faults.append(f"the last start of {recipe}: {lines[-2:]} {done.stderr[-300:]}")
    left = leftovers()
    if left != {"twins": len(RECIPES), "parts": 0, "damaged": 0, "others": 0}:
        faults.append(f"at the end: {left}")
    say(f"{landed} kills before the end; texts {texts}; at the end {left}")
    if len(texts) != 1:
        faults.append(f"texts differ: {texts}")
    return faults if landed >= KILLS else [*faults, f"only {landed} kills landed"]


def full_disks(home: str) -> list[str]:
    """Builds on a disk that fills; what was wrong. Needs the right to mount."""
    faults = []
    for moment in ("quantizing", "keeping"):
        own = Path(home) / "borrador" / "twins"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        mount = f'mount -t tmpfs -o size={DISK_MB}m tmpfs "$1" && exec "$2" -m {MODULE} full nf3 {moment}'
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", mount, "bash", str(own), sys.executable],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        say(f"disk full while {moment}: " + " | ".join(lines) + done.stderr[-500:])
        texts = {line.split()[1] for line in lines if line.startswith("text ")}
        told = [line for line in lines if line.startswith("said ")]
        none, whole = "'parts': 0, 'damaged': 0, 'others': 0", "'twins': 1"
        lefts = [line for line in lines if line.startswith("left ")]
        if len(texts) != 1 or len(told) != 1 or len(lefts) != 2 or not all(none in line for line in lefts):
            faults.append(f"disk full while {moment}: {lines}")
        elif whole not in lefts[1] or whole in lefts[0]:
            faults.append(f"disk full while {moment}, kept: {lefts}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
