"""Markdown of a reply cut into pieces that can be laid out for good, and each piece parsed into plain blocks and runs.

HTML stays text and pictures become their address in words; nothing here can load anything. Knows nothing of Qt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

LONGEST_CHUNK = 20_000
"""A piece longer than this is shown as it is, so that parsing stays short."""
LONG_TEXT, LONG_CODE = 4_000, 1_500
"""From this length on, text is also cut between its lines, and code that is still open."""
LARGEST_TABLE = 1_500
"""A table with more cells is shown as it is."""
DEEPEST_INDENT = 6

Kind = Literal["paragraph", "heading", "code", "rule", "table"]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_TOO_DEEP = re.compile(r"^(?:[ \t]*>){12}|^[ \t]{40}[-*+\d>]", re.MULTILINE)
"""The parser drops what is nested deeper than it counts."""
_BEGINS_TEXT = re.compile(r"\w|[-*+] ")
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_DECIDED = 2
"""So many characters of a line tell that it begins a new paragraph."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text in one style. ``source`` is its offset in the reply, -1 where it has none."""

    text: str
    source: int = -1
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading (``level`` 1-6), a code block (one run a line), a rule or a table (``rows`` of cells).

    ``indent`` counts list and quote levels; ``marker`` is what stands before the first line of a list item.
    """

    kind: Kind
    runs: tuple[Run, ...] = ()
    level: int = 0
    indent: int = 0
    marker: str = ""
    quoted: bool = False
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()


class Cutter:
    """Finds, in a text that only grows, up to where it can be laid out for good. Each line is looked at once.

    Everything before ``cut`` is whole paragraphs, list items and code. Long code is cut between its lines: ``fence`` is
    then the mark that opened it, so that what follows is still read as code.
    """

    def __init__(self) -> None:
        self.cut = 0
        self.fence = ""
        self._at = 0
        self._open = ""
        self._is_outer = False
        self._after_blank = False
        self._in_table = False

    def advance(self, text: str) -> int:
        """Look at what was added to ``text``; the new cut."""
        while self._at < len(text):
            end = text.find("\n", self._at)
            line = text[self._at :] if end < 0 else text[self._at : end]
            if end < 0 and len(line) < _DECIDED:
                break
            if self._may_cut_before(line):
                self.cut, self.fence = self._at, self._open
            if end < 0:
                break
            self._at = end + 1
            self._look_at(line)
        return self.cut

    def _may_cut_before(self, line: str) -> bool:
        length = self._at - self.cut
        if self._open:
            return self._is_outer and length > LONG_CODE
        if not line or line[0].isspace() or not length:
            return False
        is_long = length > LONG_TEXT and not self._in_table and _BEGINS_TEXT.match(line) is not None
        return self._after_blank or is_long

    def _look_at(self, line: str) -> None:
        fence = _FENCE.match(line)
        if self._open:
            if fence and fence[1].startswith(self._open) and not line[fence.end() :].strip():
                if self._is_outer:
                    self.cut, self.fence = self._at, ""
                self._open = ""
        elif fence:
            self._open = fence[1]
            self._is_outer = not line[0].isspace()
        self._in_table = not self._open and "|" in line
        self._after_blank = not self._open and not line.strip()


def parse(text: str, start: int, end: int, fence: str = "") -> list[Block]:
    """The blocks of ``text[start:end]``; the offsets in them count from the start of ``text``.

    With ``fence`` the piece begins inside code that this mark opened.
    """
    source = text[start:end]
    is_code = bool(fence) or _FENCE.match(source) is not None
    if not is_code and (len(source) > LONGEST_CHUNK or _TOO_DEEP.search(source)):
        return _as_it_is(source, start)
    opening = f"{fence}\n" if fence else ""
    blocks = list(_Reader(opening + source, start - len(opening)).blocks())
    return blocks if blocks or not source.strip() else _as_it_is(source, start)


def _as_it_is(source: str, offset: int) -> list[Block]:
    blocks = []
    for line in source.rstrip("\n").split("\n"):
        blocks.append(Block("paragraph", (Run(line, offset),)))
        offset += len(line) + 1
    return blocks


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Reader:
    """Walks the parser's tokens and finds each run again in the source."""

    def __init__(self, source: str, offset: int) -> None:
        self._source = source
        self._offset = offset
        self._found = 0
        self._indent = 0
        self._quotes = 0
        self._marker = ""
        self._numbers: list[int | None] = []

    def blocks(self) -> Iterator[Block]:
        tokens = _parser().parse(self._source)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                past = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                yield from self._table(tokens[at:past])
                at = past
            elif token.type == "inline":
                heading = tokens[at - 1].type == "heading_open"
                level = int(tokens[at - 1].tag[1]) if heading else 0
                yield self._block("heading" if heading else "paragraph", tuple(self._runs(token)), level)
            elif token.type in ("fence", "code_block"):
                lines = token.content.removesuffix("\n").split("\n")
                yield self._block("code", tuple(self._found_run(Run(line, code=True)) for line in lines))
            elif token.type == "hr":
                yield self._block("rule", ())
            else:
                self._nest(token)
            at += 1

    def _block(self, kind: Kind, runs: tuple[Run, ...], level: int = 0) -> Block:
        marker, self._marker = self._marker, ""
        return Block(kind, runs, level, min(self._indent, DEEPEST_INDENT), marker, self._quotes > 0)

    def _nest(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            self._indent += 1
            self._numbers.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._indent -= 1
            self._numbers.pop()
        elif token.type == "list_item_open":
            number = self._numbers[-1]
            self._marker = "•" if number is None else f"{number}{token.markup or '.'}"
            if number is not None:
                self._numbers[-1] = number + 1
        elif token.type == "blockquote_open":
            self._indent += 1
            self._quotes += 1
        elif token.type == "blockquote_close":
            self._indent -= 1
            self._quotes -= 1

    def _table(self, tokens: list[Token]) -> Iterator[Block]:
        rows: list[list[tuple[Run, ...]]] = []
        cells = sum(token.type == "inline" for token in tokens)
        if cells > LARGEST_TABLE:
            first, last = tokens[0].map or [0, 0]
            lines = self._source.split("\n")
            before = sum(len(line) + 1 for line in lines[:first])
            yield from _as_it_is("\n".join(lines[first:last]), self._offset + before)
            return
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(tuple(self._runs(token)))
        width = max(map(len, rows))
        padded = tuple(tuple(row + [()] * (width - len(row))) for row in rows)
        yield Block("table", indent=min(self._indent, DEEPEST_INDENT), rows=padded)

    def _found_run(self, style: Run) -> Run:
        """`style` with the place of its text, searched onward from the last run that was found."""
        at = self._source.find(style.text, self._found) if style.text else -1
        if at < 0:
            return style
        self._found = at + len(style.text)
        return replace(style, source=at + self._offset)

    def _runs(self, inline: Token) -> Iterator[Run]:
        depth = {"strong": 0, "em": 0, "s": 0}
        link = ""
        for token in inline.children or ():
            name, _, side = token.type.rpartition("_")
            if name in depth:
                depth[name] += 1 if side == "open" else -1
            elif name == "link":
                href = str(token.attrs.get("href", ""))
                link = href if side == "open" and _SAFE_LINK.match(href) else ""
            elif text := _words(token):
                yield self._found_run(
                    Run(
                        text,
                        bold=depth["strong"] > 0,
                        italic=depth["em"] > 0,
                        struck=depth["s"] > 0,
                        code=token.type == "code_inline",
                        link=link,
                    )
                )


def _words(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "image":
        return f"[{token.content or '…'}: {token.attrs.get('src', '')}]"
    return token.content
