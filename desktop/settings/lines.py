"""Texts a person writes one a line: those that end a reply, and those whose odds are changed. Knows no widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inference.events import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIGNS = (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"))


def as_lines(texts: Iterable[str]) -> str:
    """One text a line; line breaks, tabs and backslashes are written with a backslash."""
    return "\n".join(map(_written, texts))


def from_lines(lines: str) -> tuple[str, ...]:
    """The texts; blank lines are none. Spaces count."""
    return tuple(_read(line) for line in lines.split("\n") if line.strip())


def bias_as_lines(bias: Iterable[tuple[str, float]]) -> str:
    """One text=value a line."""
    return "\n".join(f"{_written(text)}={value:g}" for text, value in bias)


def bias_from_lines(lines: str) -> tuple[tuple[str, float], ...]:
    """The pairs. Raises Problem for a line that is none."""
    found = []
    for line in lines.split("\n"):
        if not line.strip():
            continue
        text, sign, value = line.rpartition("=")
        try:
            found.append((_read(text), float(value)))
        except ValueError:
            sign = ""
        if not sign or not text:
            raise Problem("error.setting", field="logit_bias", value=repr(line), allowed="written as text=value")
    return tuple(found)


def _written(text: str) -> str:
    for sign, written in _SIGNS:
        text = text.replace(sign, written)
    return text


def _read(line: str) -> str:
    parts = line.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)
