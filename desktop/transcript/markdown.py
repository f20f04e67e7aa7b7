"""Markdown of a reply parsed, piece by piece, into plain blocks and runs that know their place in the source.

HTML stays text and a picture becomes a link to it; nothing here can load anything. Knows nothing of Qt.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from desktop.transcript.blocks import Block, Run
from desktop.transcript.code import HIDDEN
from desktop.transcript.cutter import FENCE
from desktop.transcript.formula_marks import add_formulas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from desktop.transcript.blocks import Cut, Kind

LONGEST_CHUNK = 20_000
"""A piece longer than this is shown as it is, so that parsing stays short."""
LARGEST_TABLE = 1_500
MOST_COLUMNS = 40
"""A table with more cells in one piece, or more columns, is shown as it is."""
LEAST_SHARE, LARGEST_SHARE = 6, 60
"""A column's share of the width is as its longest text, within these bounds."""
DEEPEST_INDENT = 6

_TOO_DEEP = re.compile(r"^(?:[ \t]*>){12}|^[ \t]{40}[-*+\d>]", re.MULTILINE)
"""The parser drops what is nested deeper than it counts."""
_ANY_MARK = re.compile(r"[*_`\[\]<>|\\$&~#]|https?://|^[ \t]|[ \t]$|^[-+=]|^\d{1,9}[.)]", re.MULTILINE)
"""Text without any of these is plain paragraphs."""
_NOT_CODE_ALONE = re.compile(r"^\s*(?:`{3,}|~{3,})|[\r\0]", re.MULTILINE)
"""What the rest of code may hold that is not code, or not shown as it is."""
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_BARE_LINK = re.compile(r"https?://[^\s<>\"'`\[\]{}|\\^]*[^\s<>\"'`\[\]{}|\\^.,;:!?)*_]")
_TASK = re.compile(r"\[([ xX])\]\s+")


def parse(text: str, before: Cut, end: int, state: tuple[int, ...] = (), *, behind: Cut | None = None) -> list[Block]:
    """The blocks of ``text`` from the cut ``before`` to ``end``; offsets in them count from the start of ``text``.

    ``state`` is that of the block before the piece; ``behind`` is the cut that ends it, if one does.
    """
    blocks = _blocks(text[before.at : end], before, state, behind)
    if blocks and before.in_line:
        blocks[0] = replace(blocks[0], joins=True)
    if blocks and behind is not None and behind.in_line:
        blocks[-1] = replace(blocks[-1], is_cut=True, is_last=False)
    return blocks


def _blocks(source: str, before: Cut, state: tuple[int, ...], behind: Cut | None) -> list[Block]:
    if before.lead and FENCE.match(before.lead) and not _NOT_CODE_ALONE.search(source):
        return _rest_of_code(source, before, goes_on=behind is not None)
    if not before.lead and not _ANY_MARK.search(source.rstrip()):
        return list(_paragraphs(source, before.at, keep_end=behind is not None and behind.in_line))
    is_code = FENCE.match(before.lead or source) is not None
    if not is_code and (len(source) > LONGEST_CHUNK or _TOO_DEEP.search(source)):
        return _as_it_is(source, before.at)
    blocks = list(_Reader(before.lead, source, before.at, state, goes_on=bool(behind and behind.lead)).blocks())
    return blocks if blocks or before.lead or not source.strip() else _as_it_is(source, before.at)


def _rest_of_code(source: str, before: Cut, *, goes_on: bool) -> list[Block]:
    """Code that stands in the source as it is shown."""
    runs = tuple(_runs_of_code(source if goes_on else source.removesuffix("\n"), before.at))
    language = _language(before.lead.lstrip("`~"))
    return [Block("code", runs, language=language, is_last=not goes_on)] if runs else []


def _paragraphs(source: str, offset: int, *, keep_end: bool) -> Iterator[Block]:
    for part in re.finditer(r"[^\n]+(?:\n[^\n]+)*", source):
        words = part[0] if keep_end else part[0].rstrip()
        if words.strip():
            yield Block("paragraph", (Run(words, offset + part.start()),))


def _as_it_is(source: str, offset: int) -> list[Block]:
    blocks = []
    for line in source.rstrip("\n").split("\n"):
        blocks.append(Block("paragraph", (Run(line, offset),)))
        offset += len(line) + 1
    return blocks


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("text_join")  # what was escaped stays apart, so that each run is found in the source
    add_formulas(parser)
    return parser


class _Reader:
    """Walks the parser's tokens and finds each run again in the source."""

    def __init__(self, lead: str, source: str, offset: int, state: tuple[int, ...], *, goes_on: bool) -> None:
        self._lead = lead
        self._source = lead + source
        self._offset = offset - len(lead)
        self._state = state
        self._goes_on = goes_on
        self._found = len(lead)
        self._indent = 0
        self._quotes = 0
        self._marker = ""
        self._numbers: list[int | None] = []
        self._line_starts: list[int] = []

    def blocks(self) -> Iterator[Block]:
        tokens = _parser().parse(self._source)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                past = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                yield from self._table(tokens[at:past], is_last=past == len(tokens) - 1)
                at = past
            elif token.type == "inline":
                heading = tokens[at - 1].type == "heading_open"
                level = int(tokens[at - 1].tag[1]) if heading else 0
                yield from self._paragraph("heading" if heading else "paragraph", token, level)
            elif token.type in ("fence", "code_block"):
                yield self._code(token, is_last=at == len(tokens) - 1)
            elif token.type == "formula_block":
                place = self._place_of(token.markup)
                run = Run(token.markup, place, code=not token.content, formula=token.content)
                yield self._block("formula" if token.content else "paragraph", (run,))
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

    def _paragraph(self, kind: Kind, token: Token, level: int) -> Iterator[Block]:
        """One block, but for a formula of its own within the text, which is a block between two."""
        task = _TASK.match(token.content) if self._marker == "•" else None
        if task:
            self._marker = "☐" if task[1] == " " else "☑"
        runs: list[Run] = []
        for run, is_apart in self._runs(token):
            if task and not runs and run.text.startswith("["):
                shift = len(task[0]) if run.text.startswith(task[0]) else 0
                run = replace(run, text=run.text[shift:], source=run.source + shift if run.source >= 0 else -1)
            if is_apart:
                if any(one.text.strip() for one in runs):
                    yield self._block(kind, tuple(runs), level)
                yield self._block("formula", (run,))
                runs = []
            elif run.text and (runs or run.text != "\n"):
                runs.append(run)
        if runs or self._marker:
            yield self._block(kind, tuple(runs), level)

    def _code(self, token: Token, *, is_last: bool) -> Block:
        first_line = token.map[0] if token.map else 0
        is_rest = bool(self._lead) and first_line == 0
        content = token.content.removesuffix("\n")
        if token.type == "fence" and not is_rest:
            self._found = max(self._found, self._start_of_line(first_line + 1) - self._offset)
        place = self._place_of(content)
        runs: list[Run] = []
        if place >= 0 or not content:
            runs += _runs_of_code(content, place)
        else:  # each line stands apart in the source, behind spaces or quotation marks
            for index, line in enumerate(content.split("\n")):
                if index:
                    runs.append(Run("\n", code=True))
                runs += _runs_of_code(line, self._place_of(line))
        marker, self._marker = self._marker, ""
        return Block(
            "code",
            tuple(runs),
            indent=min(self._indent, DEEPEST_INDENT),
            marker=marker,
            quoted=self._quotes > 0,
            language=_language(token.info),
            start=-1 if is_rest else self._start_of_line(first_line),
            is_first=not is_rest,
            is_last=not (self._goes_on and is_last),
        )

    def _table(self, tokens: list[Token], *, is_last: bool) -> Iterator[Block]:
        is_rest = bool(self._lead) and (tokens[0].map or [0])[0] == 0
        rows: list[list[tuple[Run, ...]]] = []
        columns = sum(token.type == "th_open" for token in tokens)
        if columns > MOST_COLUMNS or sum(token.type == "inline" for token in tokens) > LARGEST_TABLE:
            first, last = tokens[0].map or [0, 0]
            start, end = self._start_of_line(first), self._start_of_line(last)
            start = max(start, self._offset + len(self._lead))
            at = self._offset
            yield from _as_it_is(self._source[start - at : end - at], start)
            return
        is_head = False
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
                is_head = is_rest and len(rows) == 1
            elif token.type == "inline":
                rows[-1].append(() if is_head else tuple(run for run, _ in self._runs(token)))
        if is_rest:
            rows = rows[1:]
        if not rows:
            return
        padded = tuple(tuple(row + [()] * (columns - len(row))) for row in rows)
        goes_on = self._goes_on and is_last
        state = self._state if is_rest else _shares(padded) if goes_on else ()
        indent = min(self._indent, DEEPEST_INDENT)
        styles = (str(token.attrs.get("style", "")) for token in tokens if token.type == "th_open")
        sides = tuple(style.removeprefix("text-align:") for style in styles)
        yield Block(
            "table", indent=indent, rows=padded, is_first=not is_rest, is_last=not goes_on, state=state, sides=sides
        )

    def _place_of(self, text: str) -> int:
        """Where a text stands in the source, searched onward from the last one that was found; -1 if nowhere."""
        at = self._source.find(text, self._found) if text else -1
        if at < 0:
            return -1
        self._found = at + len(text)
        return at + self._offset

    def _start_of_line(self, number: int) -> int:
        if not self._line_starts:
            self._line_starts = [0, *(found.end() for found in re.finditer("\n", self._source))]
        return self._offset + (self._line_starts[number] if number < len(self._line_starts) else len(self._source))

    def _runs(self, inline: Token) -> Iterator[tuple[Run, bool]]:
        """Each run, and whether it is a formula that stands by itself."""
        depth = {"strong": 0, "em": 0, "s": 0}
        link = ""
        for token in inline.children or ():
            name, _, side = token.type.rpartition("_")
            if name in depth:
                depth[name] += 1 if side == "open" else -1
                continue
            if name == "link":
                link = _safe(token.attrs.get("href", "")) if side == "open" else ""
                continue
            style = Run("", bold=depth["strong"] > 0, italic=depth["em"] > 0, struck=depth["s"] > 0, link=link)
            if token.type == "formula":
                place = self._place_of(token.markup)
                run = replace(style, text=token.markup, source=place, formula=token.content)
                yield run, bool(token.meta["display"])
            elif token.type == "image":
                yield self._image(token, style), False
            elif token.type == "code_inline":
                yield replace(style, text=token.content, source=self._place_of(token.content), code=True), False
            elif token.type in ("softbreak", "hardbreak"):
                yield replace(style, text="\n", source=self._place_of("\n")), False
            else:
                for text, is_link in _split(token.content, _BARE_LINK) if not link else ((token.content, False),):
                    place = self._place_of(text)
                    yield replace(style, text=text, source=place, link=text if is_link else link), False

    def _image(self, token: Token, style: Run) -> Run:
        address = str(token.attrs.get("src", ""))
        if not _safe(address):
            text = f"![{token.content}]({address})"
            return replace(style, text=text, source=self._place_of(text))
        text = token.content or address
        return replace(style, text=text, source=self._place_of(text), link=style.link or address)


def _safe(address: object) -> str:
    return str(address) if _SAFE_LINK.match(str(address)) else ""


def _split(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """``text`` in parts, each with whether the pattern found it."""
    at = 0
    for found in pattern.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], False
        yield found[0], True
        at = found.end()
    if at < len(text):
        yield text[at:], False


def _runs_of_code(text: str, place: int) -> Iterator[Run]:
    """Code as it stands at ``place`` of the source; marks that would not be seen are runs of their own."""
    for part, is_hidden in _split(text, HIDDEN):
        yield Run(part, place, code=True, mark=is_hidden)
        place += len(part) if place >= 0 else 0


def _language(info: str) -> str:
    """The language that a fence names."""
    words = info.split()
    return words[0].strip("{}.").lower() if words else ""


def _shares(rows: Sequence[Sequence[Sequence[Run]]]) -> tuple[int, ...]:
    """Of each column, its share of the width in percent, as its longest text."""
    widths = [
        max(LEAST_SHARE, *(min(LARGEST_SHARE, sum(len(run.text) for run in row[column])) for row in rows))
        for column in range(len(rows[0]))
    ]
    whole = sum(widths)
    return tuple(round(100 * width / whole) for width in widths)
