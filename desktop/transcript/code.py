"""Colours of code: each line as runs with a role, by Pygments. Knows nothing of Qt or of where the code stands."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from desktop.transcript.cutter import FENCE

if TYPE_CHECKING:
    from desktop.transcript.blocks import Role

LONGEST_LEXED = 20_000
"""Longer code in one piece, or with a line longer than a tenth of it, is shown without colours."""
HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of what follows without being seen themselves."""
_ROLES: tuple[tuple[str, Role], ...] = (
    ("Comment", "comment"), ("Literal.String", "string"), ("Literal.Number", "number"), ("Keyword.Constant", "number"),
    ("Keyword", "keyword"), ("Operator.Word", "keyword"), ("Name.Function", "name"), ("Name.Class", "name"),
    ("Name.Builtin", "name"), ("Name.Tag", "name"), ("Name.Decorator", "name"), ("Name.Attribute", "name"),
    ("Generic.Deleted", "string"), ("Generic.Inserted", "keyword"),
)  # fmt: skip
Words = list[tuple[str, "Role"]]


def coloured(lines: list[str], language: str, states: tuple[str | int, ...]) -> tuple[list[Words], tuple[str, ...]]:
    """The words of each line with their roles, and the lexer's states at the end, to go on from.

    ``states`` are those at the end of the lines before, empty at the beginning.
    """
    code = "\n".join(lines) + "\n"
    lexer = _lexer(language)
    if lexer is None or len(code) > LONGEST_LEXED or max(map(len, lines)) > LONGEST_LEXED // 10:
        return [[(line, "")] for line in lines], ()
    try:
        return _lexed(lexer, code, len(lines), tuple(map(str, states)) or ("root",))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError):  # a lexer's own mistake
        return [[(line, "")] for line in lines], ()


def code_at(text: str, start: int) -> str:
    """The code whose fence, or first line, stands at ``start`` of ``text``, without its marks."""
    line_start = text.rfind("\n", 0, start) + 1
    first, _, rest = text[line_start:].partition("\n")
    fence = re.match(r"(?P<before>[^`~]*?)(?P<mark>`{3,}|~{3,})", first)
    taken = []
    if fence is None:
        for line in f"{first}\n{rest}".split("\n"):
            if line.strip() and not line.startswith(("    ", "\t")):
                break
            taken.append(line.removeprefix("\t") if line.startswith("\t") else line[4:])
        return "\n".join(taken).strip("\n")
    width = len(fence["before"])
    for line in rest.split("\n"):
        inner = _without(line, fence["before"], width)
        mark = FENCE.match(inner)
        if mark and mark[1].startswith(fence["mark"]) and not inner[mark.end() :].strip():
            break
        taken.append(inner)
    return "\n".join(taken)


def _without(line: str, before: str, width: int) -> str:
    """``line`` without what stood before its fence: as many quote marks and at most as many spaces."""
    if ">" in before:
        return re.sub(r"^\s{0,3}(>\s?)" + f"{{1,{before.count('>')}}}", "", line)
    return line[min(width, len(line) - len(line.lstrip())) :]


def _lexed(lexer: Any, code: str, count: int, states: tuple[str, ...]) -> tuple[list[Words], tuple[str, ...]]:
    found: list[Words] = [[]]
    try:
        tokens = lexer.get_tokens_unprocessed(code + "\n", states)
    except TypeError:  # of the kinds that take no states
        tokens = lexer.get_tokens_unprocessed(code + "\n")
    at = 0
    after: tuple[str, ...] = ()
    for start, kind, value in tokens:
        if start != at:
            raise ValueError("the lexer left a gap")
        at += len(value)
        role = _role(kind)
        for index, part in enumerate(value.split("\n")):
            if index:
                found.append([])
            if part and found[-1] and (found[-1][-1][1] == role or part.isspace()):
                found[-1][-1] = (found[-1][-1][0] + part, found[-1][-1][1])
            elif part:
                found[-1].append((part, role))
        if at > len(code) and inspect.isgenerator(tokens):
            # The line feed that was added shows the states behind the code itself.
            after = tuple(map(str, inspect.getgeneratorlocals(tokens).get("statestack", ())))
    if at != len(code) + 1:
        raise ValueError("the lexer lost text")
    return found[:count], after


@cache
def _lexer(language: str) -> Any:
    if not language:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@cache
def _role(kind: object) -> Role:
    name = str(kind).removeprefix("Token.")
    return next((role for begin, role in _ROLES if name.startswith(begin)), "")
