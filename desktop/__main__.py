"""``python -m desktop``: reads the command line, without Qt or torch, and opens the window."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from inference.events import Problem
from inference.settings import DRAFTERS, LARGEST_K, RECIPES, ModelChoice, Speculation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"borrador: {message}\n")


class _Version(argparse.Action):
    """Says which version this is, which takes longer to find out than all of the command line, and ends."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and end")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        sys.stdout.write(f"Borrador {version('borrador')}\n")
        parser.exit(0)


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window; the exit status. A wrong argument exits with 2 and one sentence on standard error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # without a console there is none, and libraries write to it
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (kept until the process ends)
    try:
        choice, speculation, is_named = read_arguments(argv)
    except Problem as problem:
        sys.stderr.write(f"borrador: {problem}\n")
        return 2
    if not has_display(sys.platform, os.environ):
        sys.stderr.write("borrador: There is no display; use borrador-cli chat for a chat in the terminal.\n")
        return 1
    # What is imported and made up to the first frame stays: looking for cycles in it takes a tenth of the start.
    gc.disable()
    try:
        from desktop.app import run

        return run(choice, speculation, is_named=is_named)
    finally:
        gc.enable()


def has_display(platform: str, environment: Mapping[str, str]) -> bool:
    """Whether a window can be shown; without one, Qt would abort the process."""
    if not platform.startswith("linux"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def read_arguments(argv: Sequence[str] | None) -> tuple[ModelChoice, Speculation, bool]:
    """What the command line asks for, and whether it names the model. Raises Problem for a value that cannot be."""
    parser = _Parser(prog="borrador", description="Chat with a language model that drafts for itself.")
    parser.add_argument("--version", action=_Version)
    parser.add_argument("--model", help="starter, a folder, or owner/name[@revision]; the last one where none is named")
    parser.add_argument("--drafter", default="auto", help=" or ".join(DRAFTERS))
    parser.add_argument("--draft-model", default="", help="a smaller model of the same tokenizer, for small-model")
    parser.add_argument(
        "--k", default="auto", help=f"auto, or how many tokens are drafted in a round (0 to {LARGEST_K})"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--exact", action="store_true", help="the same text bit for bit, whatever the draft")
    mode.add_argument("--fast", action="store_true", help="fastest, near ties may fall differently")
    parser.add_argument("--context", type=int, default=8192, help="context in tokens")
    parser.add_argument("--dtype", default="auto", help="auto, bfloat16, float16 or float32")
    parser.add_argument("--recipe", default="auto", choices=RECIPES, help="of the self-draft's copy")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, or cuda:N for card N")
    given = parser.parse_args(argv)
    exact = True if given.exact else False if given.fast else None
    model = ModelChoice().model if given.model is None else given.model
    choice = ModelChoice(model, given.drafter, given.dtype, given.device, given.context, exact, given.draft_model)
    choice = replace(choice, recipe=given.recipe, twin_later=True)
    speculation = Speculation(on=given.drafter != "none", k=_draft_length(given.k))
    return choice, speculation, given.model is not None


def _draft_length(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isdecimal() and int(text) <= LARGEST_K:
        return int(text)
    raise Problem("error.setting", field="--k", value=text, allowed=f"auto or a whole number from 0 to {LARGEST_K}")


if __name__ == "__main__":
    sys.exit(main())
