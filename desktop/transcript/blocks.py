"""What a piece of a reply is made of: blocks of runs, each run with its place in the source. Knows nothing of Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["paragraph", "heading", "code", "rule", "table", "formula"]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text in one style. ``source`` is its offset in the reply, -1 where it has none.

    ``formula`` is the formula in TeX that ``text`` writes with its marks; ``mark`` says that ``text`` is one character
    that cannot be seen by itself.
    """

    text: str
    source: int = -1
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""
    formula: str = ""
    mark: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading (``level`` 1-6), a piece of code, a formula of its own, a rule or a piece of a table.

    ``indent`` counts list and quote levels; ``marker`` is what stands before the first line of a list item. Of code
    and of a table, ``is_first`` and ``is_last`` are the outer pieces. Code is lines with their line feeds, the one
    before a piece that is not the first included; ``start`` is where its fence stands in the source. ``rows`` of a
    table are rows of cells, the first one of the first piece the head, and ``state`` is what the next piece needs to go
    on with this one: the columns' shares of the width. ``sides`` are where its columns' text stands: left, center or
    right, empty where nothing is said. A long line is cut: then the block before ``is_cut`` and the one behind
    ``joins`` it.
    """

    kind: Kind
    runs: tuple[Run, ...] = ()
    level: int = 0
    indent: int = 0
    marker: str = ""
    quoted: bool = False
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()
    language: str = ""
    start: int = -1
    is_first: bool = False
    is_last: bool = False
    state: tuple[int, ...] = ()
    sides: tuple[str, ...] = ()
    is_cut: bool = False
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A place up to which a text can be laid out for good.

    ``lead`` is what the rest must be read behind, when the cut lies within code or a table: the fence, or the head.
    ``in_line`` says that it lies within a long line.
    """

    at: int
    lead: str = ""
    in_line: bool = False
