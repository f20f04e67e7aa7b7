"""Writes parsed blocks into the document and notes where each run stands. Knows nothing of scrolling or painting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QTextCursor

from desktop.transcript.blocks import Run
from desktop.transcript.formats import CONTINUES, SILENT, Ground
from desktop.transcript.objects import OBJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QTextBlockFormat, QTextCharFormat

    from desktop.transcript.blocks import Block
    from desktop.transcript.formats import Formats
    from desktop.transcript.passage import Stretch

LINE_SEPARATOR = "\u2028"
NOTHING = "\u200b"
"""A character of no width, so that `begin_block` does not take a block for an unused one."""
QUESTION_MARGINS = {"setTopMargin": 10, "setBottomMargin": 22}
LONGEST_LINE = 3_000
"""A line longer than this goes on in a block of its own, so that laying it out stays cheap."""
translate = QCoreApplication.translate


def begin_block(cursor: QTextCursor, look: QTextBlockFormat, text: QTextCharFormat) -> None:
    """Go on in a new block behind the cursor's; an empty one is used up first."""
    if cursor.block().length() > 1:
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        cursor.insertBlock(look, text)
    else:
        cursor.setBlockFormat(look)
        cursor.setBlockCharFormat(text)
    cursor.setCharFormat(text)


def next_start(cursor: QTextCursor) -> int:
    """The position at which `begin_block` will begin."""
    block = cursor.block()
    return block.position() + (block.length() if block.length() > 1 else 0)


def write_blocks(
    cursor: QTextCursor, blocks: Sequence[Block], formats: Formats, stretch: Stretch, number: int
) -> list[tuple[Block, int]]:
    """Lay out ``blocks`` behind the cursor's block; where each begins, counted from the start of ``stretch``.

    The cursor ends up in the last of them; their runs are added to ``stretch``. ``number`` is that of the reply.
    """
    placed = []
    for block in blocks:
        placed.append((block, _start_of(block, cursor) - stretch.start))
        if block.kind == "table":
            _write_table(cursor, block, formats, stretch)
        elif block.kind == "code":
            _write_code(cursor, block, formats, stretch, number)
        else:
            begin_block(cursor, formats.block(block), formats.body())
            if block.marker:
                cursor.insertText(block.marker + " ", formats.body())
            _write_runs(cursor, block.runs, block, formats, stretch)
            if cursor.block().length() == 1:
                cursor.insertText(NOTHING)
    return placed


def _start_of(block: Block, cursor: QTextCursor) -> int:
    """Where a block will begin; code that goes on does so in the line it goes on with."""
    if block.kind == "code" and not block.is_first:
        return cursor.block().position() + cursor.block().length() - 1
    return next_start(cursor)


def write_question(cursor: QTextCursor, question: str, formats: Formats) -> None:
    """The question on its own ground."""
    group = formats.new_group()
    begin_block(cursor, formats.grounded(Ground.USER, group), formats.body())
    first = QTextCursor(cursor.block())
    for index, line in enumerate(question.split("\n")):
        if index:
            cursor.insertBlock(formats.grounded(Ground.USER, group), formats.body())
        _write_long(cursor, line, formats.body())
    last = QTextCursor(cursor.block())
    for edge, set_margin in ((first, "setTopMargin"), (last, "setBottomMargin")):
        look = edge.blockFormat()
        getattr(look, set_margin)(QUESTION_MARGINS[set_margin])
        edge.setBlockFormat(look)
    if cursor.block().length() == 1:
        cursor.insertText(NOTHING)


def write_lines(
    cursor: QTextCursor, lines: Iterable[str], looks: Iterable[QTextBlockFormat], text: QTextCharFormat
) -> None:
    """One block a line."""
    for line, look in zip(lines, looks, strict=True):
        begin_block(cursor, look, text)
        cursor.insertText(line or NOTHING, text)


def write_more_code(cursor: QTextCursor, old: Block, added: Block, formats: Formats, stretch: Stretch) -> None:
    """Put lines behind those of ``old``, in the end of which the cursor must be."""
    if old.is_last:
        look = cursor.blockFormat()
        look.setBottomMargin(0)
        cursor.setBlockFormat(look)
    _write_lines_of_code(cursor, added, formats, stretch)


def _write_code(cursor: QTextCursor, block: Block, formats: Formats, stretch: Stretch, number: int) -> None:
    text = formats.run(Run("", code=True), block)
    if block.is_first:
        group = formats.new_group()
        look = formats.grounded(Ground.CODE, group, block.indent)
        look.setTopMargin(10)
        look.setProperty(SILENT, True)
        begin_block(cursor, look, formats.small())
        if block.language:
            cursor.insertText(f"{block.language}    ", formats.small())
        copy = formats.action(f"borrador:code/{number}/{block.start}")
        copy.setToolTip(translate("actions", "Copy this code"))
        cursor.insertText(translate("actions", "Copy"), copy)
        begin_block(cursor, formats.grounded(Ground.CODE, group, block.indent), text)
        stretch.begin_code(cursor.position(), block.language, formats)
    elif block.joins:
        look = cursor.blockFormat()
        look.setProperty(CONTINUES, True)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        cursor.insertBlock(look, text)
    _write_lines_of_code(cursor, block, formats, stretch)


def _write_lines_of_code(cursor: QTextCursor, block: Block, formats: Formats, stretch: Stretch) -> None:
    """Code behind the cursor's block: a line feed in it begins the next one. The cutter lets no line be too long."""
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    for run in block.runs:
        position = cursor.position()
        _insert_code(cursor, OBJECT if run.mark else run.text, formats.run(run, block))
        stretch.add_code(position, run.text)
        if run.source >= 0:
            stretch.add(run.source, position, len(run.text), 1 if run.mark else None)
    is_empty = cursor.block().length() == 1
    if block.is_last or is_empty:
        look = cursor.blockFormat()
        look.setBottomMargin(16 if block.is_last else 0)
        cursor.setBlockFormat(formats.empty_line(look) if is_empty else look)
    if is_empty:
        cursor.insertText(NOTHING)


def _insert_code(cursor: QTextCursor, text: str, look: QTextCharFormat) -> None:
    if "\n" in text and cursor.blockFormat().boolProperty(CONTINUES):
        first, _, text = text.partition("\n")
        cursor.insertText(first, look)
        own = cursor.blockFormat()
        own.clearProperty(CONTINUES)
        cursor.insertBlock(own, look)
    cursor.insertText(text, look)


def _write_runs(cursor: QTextCursor, runs: Iterable[Run], block: Block, formats: Formats, stretch: Stretch) -> None:
    for run in runs:
        position = cursor.position()
        look = formats.run(run, block)
        if run.formula or run.mark:
            cursor.insertText(OBJECT, look)
            if run.source >= 0:
                stretch.add(run.source, position, len(run.text), 1)
        elif len(run.text) <= LONGEST_LINE:
            cursor.insertText(run.text.replace("\n", LINE_SEPARATOR), look)
            if run.source >= 0:
                stretch.add(run.source, position, len(run.text))
        else:
            whole = run.text.replace("\n", LINE_SEPARATOR)
            source = run.source
            for part, start in _write_long(cursor, whole, look):
                if run.source >= 0:
                    stretch.add(source, start, len(part))
                source += len(part)
                source += whole.startswith(LINE_SEPARATOR, source - run.source)


def _write_long(cursor: QTextCursor, text: str, look: QTextCharFormat) -> list[tuple[str, int]]:
    """Write a long line as several blocks; its parts and where each begins.

    A block ends at a line end or behind a space where there is one, else anywhere but within a character.
    """
    placed = []
    at = 0
    while at < len(text):
        end = len(text) if len(text) - at <= LONGEST_LINE else _good_end(text, at, at + LONGEST_LINE)
        placed.append((text[at:end], cursor.position()))
        cursor.insertText(text[at:end], look)
        if end < len(text):
            is_line_end = text[end] == LINE_SEPARATOR
            end += is_line_end
            goes_on = cursor.blockFormat()
            goes_on.setProperty(CONTINUES, not is_line_end)
            goes_on.setTopMargin(0)
            goes_on.setTextIndent(0)
            ended = cursor.blockFormat()
            ended.setBottomMargin(0)
            cursor.setBlockFormat(ended)
            cursor.insertBlock(goes_on, look)
        at = end
    return placed


def _good_end(text: str, start: int, end: int) -> int:
    line_end = text.rfind(LINE_SEPARATOR, start + LONGEST_LINE // 2, end)
    if line_end >= 0:
        return line_end
    space = text.rfind(" ", start + LONGEST_LINE // 2, end)
    if space >= 0:
        return space + 1
    return end - 1 if "\ud800" <= text[end - 1] <= "\udbff" else end


def _write_table(cursor: QTextCursor, block: Block, formats: Formats, stretch: Stretch) -> None:
    begin_block(cursor, formats.sliver(6 if block.is_first else 1), formats.small())
    table = cursor.insertTable(len(block.rows), len(block.rows[0]), formats.table(block))
    ground = formats.cell()
    for row, cells in enumerate(block.rows):
        for column, runs in enumerate(cells):
            cell = table.cellAt(row, column)
            cell.setFormat(ground)
            if runs:
                within = cell.firstCursorPosition()
                if block.sides[column]:
                    within.setBlockFormat(formats.side(block.sides[column]))
                is_head = row == 0 and block.is_first
                _write_runs(
                    within, [replace(run, bold=True) for run in runs] if is_head else runs, block, formats, stretch
                )
    cursor.setPosition(table.lastPosition() + 1)
    cursor.setBlockFormat(formats.sliver(9 if block.is_last else 1))
    if cursor.block().length() == 1:
        cursor.insertText(NOTHING, formats.small())
