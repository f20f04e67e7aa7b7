"""Switches between two models ten times, in a process of its own; prints the memory behind each load of the first."""

from __future__ import annotations

import json
import sys

from tests.inference.models.memory_child import loaded, own


def main() -> None:
    choices = json.loads(sys.stdin.read())
    held = []
    loaded(choices[1]).close()  # what stays for good: kernels, threads
    session = loaded(choices[0])
    held.append(own())
    for switch in range(10):
        session.close()
        session = loaded(choices[(switch + 1) % 2])
        if (switch + 1) % 2 == 0:
            held.append(own())
    sys.stdout.write(json.dumps(held) + "\n")


if __name__ == "__main__":
    main()
