"""Tells the words of code apart with Pygments; run as a program it does so for each line it reads. Knows nothing of Qt.

A line is JSON: the language, the lexer's states (nothing at the beginning), whole lines of code, and a line that is
still being written. So is the answer: three numbers for each word that has a role (where it begins, its length, its
place in `ROLES`), the states behind the whole lines, and whether the language is known.
"""

from __future__ import annotations

import inspect
import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from desktop.reply import in_halves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_CODE = 20_000
LONGEST_LINE = 2_000
"""Longer code in one piece, or with a longer line, gets no colours."""
ROLES = ("", "keyword", "name", "string", "number", "comment")
_BEGINNINGS = (
    ("Comment", "comment"), ("Literal.String", "string"), ("Literal.Number", "number"), ("Keyword.Constant", "number"),
    ("Keyword", "keyword"), ("Operator.Word", "keyword"), ("Name.Function", "name"), ("Name.Class", "name"),
    ("Name.Builtin", "name"), ("Name.Tag", "name"), ("Name.Decorator", "name"), ("Name.Attribute", "name"),
    ("Generic.Deleted", "string"), ("Generic.Inserted", "keyword"),
)  # fmt: skip
States = tuple[str, ...]


def words(language: str, states: Sequence[str], lines: str, begun: str = "") -> tuple[list[int], States, bool]:
    """The words of ``lines``, which end with a line feed, and of the line that is ``begun`` behind them.

    Their beginnings count from the start of ``lines``; the states are those behind ``lines``.
    """
    lexer = _lexer(language)
    if lexer is None:
        return [], (), False
    found, after = _lexed(lexer, tuple(states), lines)
    if begun:
        more, _ = _lexed(lexer, after if lines else tuple(states), begun)
        for at in range(0, len(more), 3):
            more[at] += len(lines)
        found += more
    return found, after if lines else tuple(states), True


def _lexed(lexer: Any, states: States, code: str) -> tuple[list[int], States]:
    if not code or len(code) > LONGEST_CODE or max(map(len, code.split("\n"))) > LONGEST_LINE:
        return [], ()
    try:
        return _read(lexer, states or ("root",), code)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError):  # a lexer's own mistake
        return [], ()


def _read(lexer: Any, states: States, code: str) -> tuple[list[int], States]:
    try:
        tokens: Iterator[tuple[int, object, str]] = lexer.get_tokens_unprocessed(code + "\n", states)
    except TypeError:  # of the kinds that take no states
        tokens = lexer.get_tokens_unprocessed(code + "\n")
    found: list[int] = []
    after: States = ()
    at = 0
    for start, kind, value in tokens:
        if start != at:
            raise ValueError("the lexer left a gap")
        at += len(value)
        role = _role(kind)
        if role and found and found[-1] == role and found[-3] + found[-2] == start:
            found[-2] += len(value)
        elif role:
            found += (start, len(value), role)
        if at > len(code) and inspect.isgenerator(tokens):
            # The line feed that was added shows the states behind the code itself.
            after = tuple(map(str, inspect.getgeneratorlocals(tokens).get("statestack", ())))
    if at != len(code) + 1:
        raise ValueError("the lexer lost text")
    if found and found[-3] + found[-2] > len(code):
        found[-2] = len(code) - found[-3]
    return found, after


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@cache
def _role(kind: object) -> int:
    name = str(kind).removeprefix("Token.")
    return ROLES.index(next((role for begin, role in _BEGINNINGS if name.startswith(begin)), ""))


def main() -> int:
    """Answer every line until there are no more."""
    for line in sys.stdin:
        language, states, lines, begun = json.loads(line)
        answer = words(language, states, in_halves(lines), in_halves(begun))  # JSON has put the halves together
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
