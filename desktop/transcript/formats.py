"""How each kind of text looks: block and character formats made from the palette and the text size."""

from __future__ import annotations

from copy import copy
from enum import IntEnum
from itertools import count
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextLength,
    QTextTableFormat,
)

from desktop.transcript.objects import object_format

if TYPE_CHECKING:
    from desktop.palette import Palette
    from desktop.transcript.blocks import Block, Run
    from inference.events import Origin

GROUND = QTextFormat.Property.UserProperty + 1
"""Block property: the ground painted behind the block, a `Ground`."""
GROUND_GROUP = QTextFormat.Property.UserProperty + 2
"""Block property: blocks of one number share one ground."""
CONTINUES = QTextFormat.Property.UserProperty + 3
"""Block property: the block goes on with the paragraph before it; what stood between them, a space or nothing."""
SILENT = QTextFormat.Property.UserProperty + 4
"""Block property: the window's own words, which are not copied with the text around them."""
LINE_HEIGHT = 135.0
"""In percent of the font's own."""
INDENT = 22.0
PADDING = 14.0


class Ground(IntEnum):
    """What stands behind a block."""

    PAGE = 0
    USER = 1
    CODE = 2
    QUOTE = 3
    RULE = 4


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction runs from right to left."""
    for letter in text:
        direction = bidirectional(letter)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


class Formats:
    """All formats of the page for one palette and text size."""

    def __init__(self, palette: Palette, scale: float, font: QFont) -> None:
        self.palette = palette
        self.font = QFont(font)
        self.font.setPixelSize(round(15 * scale))
        self.fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()
        self._scale = scale
        self._groups = count(1)
        self._text_colour = palette.text
        self._is_thinking = False
        self._known: dict[tuple[object, ...], QTextCharFormat] = {}
        self.lit = QColor(palette.lit)

    def of_thinking(self) -> Formats:
        """The same for what a model thinks: quieter, with a bar beside it."""
        other = copy(self)
        other.set_thinking()
        return other

    def set_thinking(self) -> None:
        """Be quieter."""
        self._text_colour = self.palette.muted
        self._is_thinking = True
        self._known = {}

    def body(self) -> QTextCharFormat:
        """Text for reading."""
        return self._text(15, self._text_colour)

    def small(self, colour: str | None = None) -> QTextCharFormat:
        """The quiet line and labels."""
        return self._text(12, colour or self.palette.muted)

    def problem(self) -> QTextCharFormat:
        """A sentence about what went wrong."""
        return self._text(15, self.palette.danger)

    def action(self, href: str) -> QTextCharFormat:
        """A word that can be pressed."""
        look = self._text(13, self.palette.accent)
        look.setAnchor(True)
        look.setAnchorHref(href)
        return look

    def run(self, run: Run, block: Block) -> QTextCharFormat:
        """The style of one run of markdown."""
        key = (run.code, run.bold, run.italic, run.struck, block.kind, block.level)
        look = self._known.get(key)
        if look is None:
            look = self._known[key] = self._style(run, block)
        if run.link:
            look = QTextCharFormat(look)
            look.setForeground(QColor(self.palette.accent))
            look.setAnchor(True)
            look.setAnchorHref(run.link)
            look.setToolTip(run.link)
        if run.formula or run.mark:
            return object_format(look, run.text, run.formula, is_display=block.kind == "formula")
        return look

    def _style(self, run: Run, block: Block) -> QTextCharFormat:
        look = self.body()
        if run.code:
            look.setFontFamilies(self.fixed)
            look.setProperty(QTextFormat.Property.FontPixelSize, round(13.5 * self._scale))
            if block.kind != "code":
                look.setBackground(QColor(self.palette.user))
        if block.kind == "heading":
            size = {1: 21, 2: 19, 3: 17}.get(block.level, 15)
            look.setProperty(QTextFormat.Property.FontPixelSize, round(size * self._scale))
        if run.bold or block.kind == "heading":
            look.setFontWeight(QFont.Weight.DemiBold)
        look.setFontItalic(run.italic)
        look.setFontStrikeOut(run.struck)
        return look

    def word(self, role: str) -> QTextCharFormat:
        """The colour of a word of code in its role; of one without, that of the text."""
        colour = {"": self._text_colour, "comment": self.palette.muted}.get(role) or str(getattr(self.palette, role))
        look = QTextCharFormat()
        look.setForeground(QColor(colour))
        return look

    def paragraph(self, top: float = 0, bottom: float = 0) -> QTextBlockFormat:
        """A paragraph of the page."""
        block = QTextBlockFormat()
        block.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        block.setTopMargin(top)
        block.setBottomMargin(bottom)
        return block

    def new_group(self) -> int:
        """A number for blocks that will share one ground."""
        return next(self._groups)

    def grounded(self, ground: Ground, group: int, indent: int = 0) -> QTextBlockFormat:
        """A paragraph on the ground of a group."""
        block = self.paragraph()
        block.setProperty(GROUND, int(ground))
        block.setProperty(GROUND_GROUP, group)
        block.setLeftMargin(PADDING + indent * INDENT)
        block.setRightMargin(PADDING)
        if ground == Ground.CODE:
            block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        return block

    def empty_line(self, look: QTextBlockFormat) -> QTextBlockFormat:
        """``look`` for a line of code without a letter, as high as the others: another font may fill in for it."""
        font = QFont(self.font)
        font.setFamilies(self.fixed)
        font.setPixelSize(round(13.5 * self._scale))
        height = LINE_HEIGHT * QFontMetricsF(font).height() / 100
        look.setLineHeight(height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        return look

    def own_words(self, top: float = 0, bottom: float = 0) -> QTextBlockFormat:
        """A paragraph of the window's own words."""
        block = self.paragraph(top, bottom)
        block.setProperty(SILENT, True)
        return block

    def block(self, block: Block) -> QTextBlockFormat:
        """The layout of one block of markdown (code blocks are laid out line by line with `grounded`)."""
        look = self.paragraph(bottom=9)
        if block.kind == "formula":
            look = QTextBlockFormat()
            look.setTopMargin(2)
            look.setBottomMargin(11)
            look.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        if is_right_to_left("".join(run.text for run in block.runs)):
            look.setRightMargin(block.indent * INDENT)
        else:
            look.setLeftMargin(block.indent * INDENT)
        if block.kind == "heading":
            look.setTopMargin(8)
            look.setHeadingLevel(block.level)
        if block.marker:
            look.setTextIndent(-QFontMetricsF(self.font).horizontalAdvance(block.marker + " "))
        if block.indent:
            look.setBottomMargin(5)
        if block.joins:
            look.setProperty(CONTINUES, True)
            look.setTextIndent(0)
        if block.is_cut:
            look.setBottomMargin(0)
        if block.kind == "rule":
            look.setProperty(GROUND, int(Ground.RULE))
        elif block.quoted or self._is_thinking:
            look.setProperty(GROUND, int(Ground.QUOTE))
            if not block.indent:
                look.setLeftMargin(INDENT)
        return look

    def sliver(self, pixels: float = 6) -> QTextBlockFormat:
        """The empty lines that Qt needs around a table, made low."""
        block = QTextBlockFormat()
        block.setLineHeight(pixels, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        block.setProperty(SILENT, True)
        return block

    def table(self, block: Block) -> QTextTableFormat:
        """Thin lines, some air. The lines are what is left free between the `cell`s: Qt paints borders slowly."""
        look = QTextTableFormat()
        look.setBorderCollapse(False)
        look.setBorder(0)
        look.setBackground(QColor(self.palette.line))
        look.setCellPadding(6)
        look.setCellSpacing(1)
        look.setTopMargin(0 if block.is_first else -2)  # the line between two pieces is one
        look.setLeftMargin(block.indent * INDENT)
        look.setHeaderRowCount(1 if block.is_first else 0)
        if block.state:
            look.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
            percent = QTextLength.Type.PercentageLength
            look.setColumnWidthConstraints([QTextLength(percent, float(share)) for share in block.state])
        else:
            look.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
        return look

    def side(self, side: str) -> QTextBlockFormat:
        """Where the text of a column stands: left, center or right, on whichever side the script begins."""
        look = QTextBlockFormat()
        sides = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}
        look.setAlignment(sides.get(side, Qt.AlignmentFlag.AlignHCenter) | Qt.AlignmentFlag.AlignAbsolute)
        return look

    def cell(self) -> QTextCharFormat:
        """The ground of a table's cell."""
        look = QTextCharFormat()
        look.setBackground(QColor(self.palette.background))
        return look

    def origin(self, origin: Origin, *, on_user: bool) -> QTextCharFormat | None:
        """How a token of this origin is shown when the text is coloured: colour and underline; None for a plain one."""
        roles = self.palette
        style = QTextCharFormat.UnderlineStyle
        looks = {
            "accepted": (roles.accepted, style.SingleUnderline),
            "correction": (roles.correction_on_user if on_user else roles.correction, style.DashUnderline),
            "bonus": (roles.bonus, style.DotLine),
        }
        if origin not in looks:
            return None
        colour, underline = looks[origin]
        look = QTextCharFormat()
        look.setForeground(QColor(colour))
        look.setUnderlineStyle(underline)
        look.setUnderlineColor(QColor(colour))
        return look

    def _text(self, pixels: float, colour: str) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setProperty(QTextFormat.Property.FontPixelSize, round(pixels * self._scale))
        look.setForeground(QColor(colour))
        return look
