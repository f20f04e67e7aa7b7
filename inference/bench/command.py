"""`python -m inference bench`: its options, and the run that they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of bench."""


def bench(options: argparse.Namespace) -> int:
    """Measure; returns the exit status."""
    return 0
