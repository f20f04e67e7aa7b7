"""`python -m inference`: the whole program without a window. Standard output is the answer, standard error the rest.

Exit status 0 done, 1 could not do it, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import sys

from inference.messages import Problem


def _parser() -> argparse.ArgumentParser:
    from inference.bench.command import add_arguments as bench_arguments
    from inference.models.command import add_arguments as models_arguments
    from inference.terminal import add_arguments as chat_arguments
    from inference.twin_command import add_arguments as twin_arguments

    parser = argparse.ArgumentParser(
        prog="borrador-cli", description="Local chat with a language model that drafts for itself."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    chat_arguments(commands.add_parser("chat", help="a terminal chat, or one reply with --prompt"))
    bench_arguments(commands.add_parser("bench", help="measure drafters against plain decoding"))
    chat_arguments(commands.add_parser("demo", help="one built-in prompt with speculation off and on"))
    models_arguments(commands.add_parser("models", help="what is installed; add, check, remove"))
    twin_arguments(commands.add_parser("twin", help="the low-bit copy that drafts: build, info, remove"))
    doctor = commands.add_parser("doctor", help="what this machine has and lacks")
    doctor.add_argument("--json", action="store_true")
    commands.add_parser("job", help="internal: one download in a process of its own", add_help=False)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] == ["job"]:
        from inference.models.job import main as job

        return job(arguments[1:])
    options = _parser().parse_args(arguments)
    try:
        if options.command == "doctor":
            from inference.doctor import doctor

            return doctor(options.json)
        if options.command == "models":
            from inference.models.command import models

            return models(options)
        if options.command == "twin":
            from inference.twin_command import twin

            return twin(options)
        if options.command == "bench":
            from inference.bench.command import bench

            return bench(options)
        from inference.terminal import chat, demo

        return demo(options) if options.command == "demo" else chat(options)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2 if problem.notice.id in ("error.setting", "error.drafter") else 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
