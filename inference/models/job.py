"""Long work in a process of its own: it prints one JSON event a line and is killed to cancel (design D10).

``main`` is the child (`python -m inference job ...`), ``run_job`` the parent's side. Events are ``progress`` (id,
values, text, fraction), then one of ``done`` (what the job made) or ``failed`` (id, values, text).
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from typing import IO, TYPE_CHECKING, Any

from inference.messages import Notice, Problem, Value, sentence
from inference.models.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

Event = dict[str, Any]
Step = tuple[Notice, float | None]
"""What is being done and how far it is, 0 to 1, None while unknown."""

COMMAND = (sys.executable, "-m", "inference.models.job")

ENVIRONMENT = {
    "HF_HUB_DISABLE_XET": "1",  # the plain transport resumes within a file
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TQDM_DISABLE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": "utf-8",
}
"""Read by the libraries at their import, hence set before the child starts."""


def main(argv: list[str]) -> int:
    """The child. Exit status 0 when it ended with ``done``, 1 with ``failed``, 130 when interrupted."""
    parser = argparse.ArgumentParser(prog="python -m inference job")
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, kind in KINDS.items():
        own = kinds.add_parser(name)
        for names, keywords in kind.options:
            own.add_argument(*names, **keywords)
    arguments = parser.parse_args(argv)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Libraries may print; only events may reach standard output.
    out, sys.stdout = sys.stdout, sys.stderr

    def emit(event: Event) -> None:
        try:
            out.write(json.dumps(event) + "\n")
            out.flush()
        except OSError:  # nobody listens any more
            os._exit(1)

    def progress(notice: Notice, fraction: float | None) -> None:
        emit({"event": "progress", **said(notice), "fraction": fraction})

    try:
        emit({"event": "done", **KINDS[arguments.kind].run(arguments, progress)})
    except KeyboardInterrupt:
        return 130
    except Problem as problem:
        emit({"event": "failed", **said(problem.notice)})
        return 1
    except Exception as error:  # a child must end in a sentence, whatever its libraries throw
        emit({"event": "failed", **said(Notice("error.unexpected", {"detail": f"{type(error).__name__}: {error}"}))})
        return 1
    finally:
        sys.stdout = out
    return 0


def said(notice: Notice) -> Event:
    """A notice as part of an event; ``text`` is for readers without the templates, such as the installer."""
    return {"id": notice.id, "values": dict(notice.values), "text": sentence(notice)}


def run_job(
    arguments: list[str], cancel: threading.Event, environment: Mapping[str, str | None] | None = None
) -> Iterator[Event]:
    """Events of a job as they come; the child is killed when ``cancel`` is set or the iteration is given up.

    A cancelled job just ends, without ``done`` or ``failed``. ``environment`` is laid over this process's own; None
    takes a name away.
    """
    merged = {**os.environ, **ENVIRONMENT, **(environment or {})}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        child = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env={name: value for name, value in merged.items() if value is not None},
        )
        assert child.stdout is not None
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(child.stdout, lines), name="job reader", daemon=True)
        reader.start()
        ended = False
        try:
            while not cancel.is_set():
                try:
                    line = lines.get(timeout=0.1)
                except queue.Empty:
                    continue
                if line is None:
                    break
                event: Event = json.loads(line)
                ended = event["event"] in ("done", "failed")
                yield event
            if not ended and not cancel.is_set():
                errors.seek(0)
                detail = (errors.read().strip().splitlines() or [f"the job ended with status {child.wait()}"])[-1]
                yield {"event": "failed", "id": "error.unexpected", "values": {"detail": detail}}
        finally:
            if child.poll() is None:
                _kill(child)
            reader.join()
            child.stdout.close()


def finish(
    arguments: list[str], cancel: threading.Event, environment: Mapping[str, str | None] | None = None
) -> Generator[Step, None, Event]:
    """Run a job to its ``done`` event, which is returned; yields its progress.

    Raises the job's Problem, or ``error.cancelled``.
    """
    for event in run_job(arguments, cancel, environment):
        values: dict[str, Value] = event.get("values", {})
        if event["event"] == "progress":
            yield Notice(event["id"], values), event["fraction"]
        elif event["event"] == "failed":
            raise Problem(event["id"], **values)
        else:
            return event
    raise Problem("error.cancelled")


def _read(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _kill(child: subprocess.Popen[str]) -> None:
    """End the child and what it started (pip), at once; nothing it does needs an orderly end."""
    import psutil

    try:
        tree = [*psutil.Process(child.pid).children(recursive=True), psutil.Process(child.pid)]
    except psutil.NoSuchProcess:
        tree = []
    for process in tree:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
