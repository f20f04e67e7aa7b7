"""Keeps the same twin over and over, a line for each time, in a copy of itself that is killed; once a line of input."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from inference.quantize import kept
from tests.inference.quantize.test_kept import RECORD, matrices


def main(folder: Path) -> None:
    torch.set_num_threads(1)  # threads do not survive a fork
    kept.folder = lambda: folder
    twin = matrices()
    for _ in sys.stdin:
        process = os.fork()
        if process == 0:
            sys.stdout.write(f"{os.getpid()}\n")
            sys.stdout.flush()
            while True:
                kept.save(twin, RECORD)
                sys.stdout.write("saved\n")
                sys.stdout.flush()
        os.waitpid(process, 0)
        sys.stdout.write("ended\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
