"""Makes and keeps the same twin over and over, a line for each step, in a copy of itself that is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from inference import twins
from inference.quantize import kept
from tests.inference.quantize.test_killed_builds import maker_of


def main(model: Path, folder: Path) -> None:
    torch.set_num_threads(1)  # threads do not survive a fork
    kept.folder = lambda: folder
    twins.PROMPTS = twins.PROMPTS[:3]
    maker = maker_of(model)
    for _ in sys.stdin:
        process = os.fork()
        if process == 0:
            say(str(os.getpid()))
            while True:
                maker.texts.clear()
                for _ in maker.make(quick=False, is_cancelled=lambda: False):
                    say("step")
                say("kept")
        os.waitpid(process, 0)
        say("ended")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
