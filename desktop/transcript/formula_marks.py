"""Rules for the Markdown parser that take what stands between formula marks as it is. Knows nothing of drawing.

A formula stands between dollars or between a backslash with a round bracket and its partner; one of its own between
two dollars or square brackets, over several lines if need be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_PAIRS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_BLOCK = re.compile(r"(\$\$|\\\[)")
_DOLLAR = re.compile(r"\$(?![\s$])((?:\\.|[^\\$\n]|\n(?!\n))+?)(?<![\s\\])\$(?!\d)")
LONGEST = 4_000


def add_formulas(parser: MarkdownIt) -> None:
    """Teach ``parser`` formulas."""
    parser.inline.ruler.before("escape", "formula", _inline)
    parser.block.ruler.before("fence", "formula", _block, {"alt": ["paragraph", "blockquote", "list"]})


def _inline(state: StateInline, silent: bool) -> bool:
    source, at = state.src, state.pos
    first = source[at]
    if first not in "$\\":
        return False
    opening = source[at : at + 2]
    if opening in _PAIRS:
        end = source.find(_PAIRS[opening], at + 2)
        if end < 0 or not source[at + 2 : end].strip() or end - at > LONGEST:
            return False
        content, past = source[at + 2 : end], end + 2
    elif first == "$" and (found := _DOLLAR.match(source, at)) and found.end() - at <= LONGEST:
        content, past = found[1], found.end()
    else:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = content
        token.markup = source[at:past]
        token.meta = {"display": opening in ("$$", "\\[")}
    state.pos = past
    return True


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first):
        return False
    opening = _BLOCK.match(state.src, begin, state.eMarks[first])
    if opening is None:
        return False
    closing = _PAIRS[opening[1]]
    line = first
    while line < last:
        start = state.bMarks[line] + state.tShift[line]
        if line > first and (start >= state.eMarks[line] or state.sCount[line] < state.blkIndent):
            break
        at = state.src.find(closing, opening.end() if line == first else start, state.eMarks[line])
        if at >= 0:
            if state.src[at + 2 : state.eMarks[line]].strip():
                return False  # text goes on behind it: the inline rule's
            return silent or _push(state, first, line + 1, state.src[begin : at + 2], is_whole=True)
        line += 1
    if state.src[opening.end() : state.eMarks[first]].strip():
        return False
    return silent or _push(state, first, line, state.src[begin : state.eMarks[line - 1]], is_whole=False)


def _push(state: StateBlock, first: int, past: int, markup: str, *, is_whole: bool) -> bool:
    token = state.push("formula_block", "", 0)
    token.markup = markup
    token.content = markup[2:-2].strip() if is_whole else ""
    token.map = [first, past]
    state.line = past
    return True
