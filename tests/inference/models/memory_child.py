"""What loading takes, in a process of its own: prints one JSON object a model, bytes of memory.

Measured after two small models, one of ours and one that transformers runs, which bring the libraries and threads;
the cache is written to the end, since it takes memory only where it is written.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from inference import freeing, measure
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling


def own() -> int:
    """Bytes of this process in memory; a model that the reference forward runs stays mapped from its file."""
    freeing.release()
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem", "RssFile"))


def loaded(choice: dict[str, Any]) -> Session:
    measure.BUDGET_S = 0.0  # speed is not what is looked at
    session = Session()
    *_, last = session.load(ModelChoice(**choice), threading.Event())
    assert session.ready is not None, last
    request = Request(1, (Message("user", "Say something"),), Sampling(temperature=0), 8)
    *_, _ = session.reply(request, Control())
    import torch

    cache: Any = session.ready.engine.cache
    with torch.inference_mode():
        for layer in cache.layers:
            for buffer in cache.layer(layer):
                buffer.fill_(0)
    return session


def main() -> None:
    ours, theirs, *choices = json.loads(sys.stdin.read())
    for first in (ours, theirs):
        loaded(first).close()
    for choice in choices:
        before = own()
        session = loaded(choice)
        assert session.ready is not None
        taken, dtype = own() - before, session.ready.loaded.dtype
        session.close()
        del session
        sys.stdout.write(json.dumps({"taken": taken, "dtype": dtype, "left": own() - before}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
