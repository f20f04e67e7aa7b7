"""Writes parsed blocks into the document and notes where each run stands. Knows nothing of scrolling or painting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from desktop.transcript.formats import CONTINUES, Ground

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QTextBlockFormat, QTextCharFormat

    from desktop.transcript.formats import Formats
    from desktop.transcript.markdown import Block, Run
    from desktop.transcript.passage import Passage

LINE_SEPARATOR = "\u2028"
QUESTION_MARGINS = {"setTopMargin": 10, "setBottomMargin": 22}
LONGEST_LINE = 2_000
"""A growing paragraph longer than this is continued in a block of its own, so that adding to it stays cheap."""


def begin_block(cursor: QTextCursor, look: QTextBlockFormat, text: QTextCharFormat) -> None:
    """Go on in a new block at the end of the document; an empty last block is used up first."""
    cursor.movePosition(QTextCursor.MoveOperation.End)
    if cursor.block().length() > 1:
        cursor.insertBlock(look, text)
    else:
        cursor.setBlockFormat(look)
        cursor.setBlockCharFormat(text)
    cursor.setCharFormat(text)


def write_blocks(
    cursor: QTextCursor, blocks: Sequence[Block], formats: Formats, passage: Passage, *, goes_on: bool
) -> None:
    """Lay out ``blocks`` at the end of the document and add their runs to ``passage``.

    Where ``passage`` ended inside code, the first block goes on with it; with ``goes_on`` the last one is not its end.
    """
    for index, block in enumerate(blocks):
        if block.kind == "table":
            _write_table(cursor, block, formats, passage)
        elif block.kind == "code":
            is_first = index > 0 or not passage.fence
            is_last = index < len(blocks) - 1 or not goes_on
            _write_code(cursor, block, formats, passage, is_first=is_first, is_last=is_last)
        else:
            begin_block(cursor, formats.block(block), formats.body())
            if block.marker:
                cursor.insertText(block.marker + " ", formats.body())
            _write_runs(cursor, block.runs, block, formats, passage)
            if block.kind == "rule":
                _keep_empty(cursor)


def _write_code(
    cursor: QTextCursor, block: Block, formats: Formats, passage: Passage, *, is_first: bool, is_last: bool
) -> None:
    lines = block.runs if is_first or any(run.text for run in block.runs) else ()
    for index, line in enumerate(lines):
        look = formats.grounded(Ground.CODE, is_new=is_first and index == 0, indent=block.indent)
        if is_first and index == 0:
            look.setTopMargin(10)
        begin_block(cursor, look, formats.run(line, block))
        _write_runs(cursor, (line,), block, formats, passage)
        if not line.text:
            _keep_empty(cursor)
    if is_last:
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not lines and cursor.block().length() == 1:
            cursor.movePosition(QTextCursor.MoveOperation.PreviousBlock)
        look = cursor.blockFormat()
        look.setBottomMargin(16)
        cursor.setBlockFormat(look)


def write_plain(cursor: QTextCursor, source: int, text: str, formats: Formats, passage: Passage) -> None:
    """Add text as it is at the end of the document; each line feed begins a block."""
    cursor.movePosition(QTextCursor.MoveOperation.End)
    position = cursor.position()
    cursor.insertText(text, formats.body())
    passage.add(source, position, len(text))
    if cursor.block().length() > LONGEST_LINE:
        _continue_in_new_block(cursor, formats)


def write_question(cursor: QTextCursor, question: str, formats: Formats) -> None:
    """The question on its own ground."""
    begin_block(cursor, formats.grounded(Ground.USER, is_new=True), formats.body())
    first = QTextCursor(cursor.block())
    cursor.insertText(question, formats.body())
    last = QTextCursor(cursor.block())
    for edge, set_margin in ((first, "setTopMargin"), (last, "setBottomMargin")):
        look = edge.blockFormat()
        getattr(look, set_margin)(QUESTION_MARGINS[set_margin])
        edge.setBlockFormat(look)
    if not question.rpartition("\n")[2]:
        _keep_empty(cursor)


def write_lines(
    cursor: QTextCursor, lines: Iterable[str], looks: Iterable[QTextBlockFormat], text: QTextCharFormat
) -> None:
    """One block a line."""
    for line, look in zip(lines, looks, strict=True):
        begin_block(cursor, look, text)
        cursor.insertText(line, text)
        if not line:
            _keep_empty(cursor)


def _write_runs(cursor: QTextCursor, runs: Iterable[Run], block: Block, formats: Formats, passage: Passage) -> None:
    for run in runs:
        position = cursor.position()
        cursor.insertText(run.text.replace("\n", LINE_SEPARATOR), formats.run(run, block))
        if run.source >= 0:
            passage.add(run.source, position, len(run.text))


def _write_table(cursor: QTextCursor, block: Block, formats: Formats, passage: Passage) -> None:
    begin_block(cursor, formats.sliver(), formats.small())
    table = cursor.insertTable(len(block.rows), len(block.rows[0]), formats.table(block))
    for row, cells in enumerate(block.rows):
        for column, runs in enumerate(cells):
            within = table.cellAt(row, column).firstCursorPosition()
            _write_runs(
                within, [replace(run, bold=True) for run in runs] if row == 0 else runs, block, formats, passage
            )
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.setBlockFormat(formats.sliver())
    _keep_empty(cursor)


def _keep_empty(cursor: QTextCursor) -> None:
    """A character of no width, so that `begin_block` does not take the block for an unused one."""
    cursor.insertText("\u200b")


def _continue_in_new_block(cursor: QTextCursor, formats: Formats) -> None:
    """Turn the space before the last laid out line of the block into a block border: it looks the same."""
    block = cursor.block()
    layout = block.layout()
    if layout.lineCount() < 2:
        return
    start = layout.lineAt(layout.lineCount() - 1).textStart()
    cut = QTextCursor(block)
    if start < 1 or cut.document().characterAt(block.position() + start - 1) != " ":
        return
    cut.setPosition(block.position() + start - 1)
    cut.setPosition(block.position() + start, QTextCursor.MoveMode.KeepAnchor)
    look = formats.paragraph()
    look.setProperty(CONTINUES, True)
    cut.insertBlock(look, formats.body())
