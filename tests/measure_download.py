"""Measures downloads over a bad line, and their speed beside `hf download`: ``python -m tests.measure_download``.

A hub on loopback cuts the line 20 times at random places of a file of 200 MB while the program is killed three times;
then both programs fetch the file over a whole line, in turns. Not a test: timings belong to a quiet machine.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import fake_hub
from tests.fake_hub import FakeHub, Fault, Repository

WEIGHTS = "model.safetensors"
MEGABYTE = 1_000_000
CUTS = 20
KILLS = 3


def say(line: str) -> None:
    """A line of the result."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def environment(hub: FakeHub, home: Path) -> dict[str, str]:
    """A user of their own, with this hub."""
    own = {"HF_ENDPOINT": hub.url, "HF_HOME": str(home / "hf"), "XDG_DATA_HOME": str(home / "data"), "NO_PROXY": "*"}
    return {**os.environ, **own, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


def ours() -> list[str]:
    """The program's own download."""
    return [sys.executable, "-m", "inference", "models", "pull", "owner/tiny"]


def theirs() -> list[str]:
    """The hub client's command."""
    return [str(Path(sys.executable).with_name("hf")), "download", "owner/tiny"]


def start(command: list[str], hub: FakeHub, home: Path) -> subprocess.Popen[bytes]:
    """A program of its own group, so that a kill takes its child processes too."""
    return subprocess.Popen(
        command, env=environment(hub, home), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def bad_line(size: int, seed: int) -> None:
    """Cut, kill, go on, and say what it took."""
    chance = random.Random(seed)
    with FakeHub() as hub, tempfile.TemporaryDirectory() as home:
        files = fake_hub.model_files(size)
        fake_hub._hash(files[WEIGHTS], True)  # takes longer than the client waits for an answer
        hub.repositories["owner/tiny"] = Repository(files)
        pace = 40.0 * MEGABYTE
        cut_at: list[int] = []

        def another_cut() -> None:
            cut_at.append(chance.randint(size * MEGABYTE // 100, size * MEGABYTE // 24))
            hub.faults.append(Fault(WEIGHTS, cut_after=cut_at[-1], bytes_per_second=pace, times=1))

        for _ in range(CUTS):
            another_cut()
        hub.faults.append(Fault(WEIGHTS, bytes_per_second=pace))  # the line is as slow after the last cut
        kills = 0
        begun = time.monotonic()
        while True:
            running = start(ours(), hub, Path(home))
            fetched = sum(asked.sent for asked in hub.bodies(WEIGHTS))
            wanted = fetched + chance.randint(size // 8, size // 4) * MEGABYTE
            while running.poll() is None:
                if kills < KILLS and sum(asked.sent for asked in hub.bodies(WEIGHTS)) >= wanted:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
                    kills += 1
                    time.sleep(0.3)  # the server notices
                    bodies = hub.bodies(WEIGHTS)
                    if bodies[-1].sent != cut_at[min(len(bodies), len(cut_at)) - 1]:
                        last = hub.faults.pop()  # the cut that was meant for it has not come: one more later
                        another_cut()
                        hub.faults.append(last)
                    break
                time.sleep(0.002)
            else:
                break
        bodies = hub.bodies(WEIGHTS)
        cuts = sum(asked.sent == at for asked, at in zip(bodies, cut_at, strict=False))
        fetched = sum(asked.sent for asked in bodies)
        whole = [path for path in Path(home).glob("hf/hub/models--*/snapshots/*/*") if path.name == WEIGHTS]
        is_right = bool(whole) and whole[0].read_bytes() == files[WEIGHTS]
        share = fetched / len(files[WEIGHTS])
        say(
            f"seed {seed}: {len(files[WEIGHTS]) / MEGABYTE:.0f} MB, {cuts} cuts, {kills} kills, "
            f"{len(bodies)} requests: {share:.3f} times the bytes, content right: {is_right}, "
            f"exit {running.returncode}, {time.monotonic() - begun:.0f} s"
        )


def speed(size: int, repeats: int) -> None:
    """The two programs in turns; the transfer alone is timed by the server, the whole by the clock."""
    took: dict[str, list[float]] = {"ours": [], "hf": []}
    wholes: dict[str, list[float]] = {"ours": [], "hf": []}
    with FakeHub() as hub:
        hub.step = 1 << 20
        files = fake_hub.model_files(size)
        fake_hub._hash(files[WEIGHTS], True)
        hub.repositories["owner/tiny"] = Repository(files)
        transfers: list[float] = []
        serve = fake_hub._Handler.file

        @functools.wraps(serve)
        def timed(self, held, name, asked, fault) -> None:  # type: ignore[no-untyped-def]
            begun = time.perf_counter()
            serve(self, held, name, asked, fault)
            if name == WEIGHTS and self.command == "GET":
                transfers.append(time.perf_counter() - begun)

        fake_hub._Handler.file = timed  # type: ignore[method-assign]
        for _ in range(repeats):
            for name, command in (("ours", ours()), ("hf", theirs())):
                with tempfile.TemporaryDirectory() as home:
                    transfers.clear()
                    begun = time.perf_counter()
                    running = start(command, hub, Path(home))
                    _, err = running.communicate()
                    if running.returncode:
                        raise SystemExit(f"{name}: {err.decode()[-500:]}")
                    wholes[name].append(time.perf_counter() - begun)
                    took[name].append(sum(transfers))
    for what, times in (("transfer alone", took), ("whole program, with hashing and start", wholes)):
        middle = {name: statistics.median(values) for name, values in times.items()}
        pairs = [theirs / ours for ours, theirs in zip(times["ours"], times["hf"], strict=True)]
        say(
            f"{what}: ours {middle['ours']:.2f} s, hf download {middle['hf']:.2f} s; "
            f"{middle['hf'] / middle['ours']:.2f} times as fast (pairs {min(pairs):.2f} to {max(pairs):.2f})"
        )


def main() -> None:
    """Both measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for seed in range(options.seeds):
        bad_line(options.megabytes, seed)
    if options.repeats:
        speed(options.megabytes, options.repeats)


if __name__ == "__main__":
    main()
