"""What stands in the text as one character but is painted: formulas, and marks that would not be seen.

Knows how such a character is written and read; what it stands for is its SOURCE and is what is copied.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)

from desktop.reply import in_halves

if TYPE_CHECKING:
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QPainter, QTextDocument

    from desktop.transcript.formats import Formats
    from desktop.transcript.formulas import Formulas

OBJECT = chr(0xFFFC)
KIND = int(QTextFormat.ObjectTypes.UserObject) + 1
SOURCE = QTextFormat.Property.UserProperty + 11
"""What the character stands for."""
TEX = QTextFormat.Property.UserProperty + 12
"""The formula; nothing for a mark that would not be seen."""
IS_DISPLAY = QTextFormat.Property.UserProperty + 13
MEASURED = QTextFormat.Property.UserProperty + 14
"""Counts how often the character was measured: the layout does so again only when its format changes."""
SIDE = 0.5
"""Air on either side, in pixels."""


def object_format(look: QTextCharFormat, source: str, tex: str, *, is_display: bool) -> QTextCharFormat:
    """``look`` for a character that stands for ``source``."""
    made = QTextCharFormat(look)
    made.setObjectType(KIND)
    made.setProperty(SOURCE, source)
    made.setProperty(TEX, tex)
    made.setProperty(IS_DISPLAY, is_display)
    # The layout centres such a character on half the height of an x above the line; sizes below allow for that.
    made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    return made


def source_of(look: QTextFormat) -> str:
    """What a character of this format stands for; empty where it is none of ours."""
    return str(look.property(SOURCE) or "") if look.objectType() == KIND else ""


class Painter(QPyTextObject):
    """Sizes and paints these characters. ``width`` is what the column has room for."""

    def __init__(self, document: QTextDocument, formulas: Formulas, formats: Formats) -> None:
        super().__init__(document)
        self._document = document
        self._formulas = formulas
        self._measured = 0
        self._waiting: tuple[int, int] | None = None
        """The positions between which formulas wait for their drawing."""
        document.contentsChange.connect(self._on_change)
        self.formats = formats
        self.width = 700.0

    def measure_again(self, formulas: set[tuple[str, bool]] | None = None) -> None:
        """Give room anew to formulas that have been drawn, or that the column has another width for: None is all."""
        self._measured += 1
        measured = QTextCharFormat()
        measured.setProperty(MEASURED, self._measured)
        cursor = QTextCursor(self._document)
        start, end = 0, self._document.characterCount() - 1
        if formulas is not None and self._waiting is not None:
            start, end = self._waiting[0], min(end, self._waiting[1] + 1)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        text = in_halves(cursor.selectedText())
        if not self._formulas.is_drawing:
            self._waiting = None
        at = text.find(OBJECT)
        while at >= 0:
            cursor.setPosition(start + at)
            cursor.setPosition(start + at + 1, QTextCursor.MoveMode.KeepAnchor)
            look = cursor.charFormat()
            if look.objectType() == KIND and (formulas is None or _key(look) in formulas):
                cursor.mergeCharFormat(measured)
            at = text.find(OBJECT, at + 1)

    def intrinsicSize(self, document: QTextDocument, position: int, format: QTextFormat) -> QSizeF:
        look = format.toCharFormat()
        above, below, width = self._measures(look)
        if width < 0:
            self._wait_at(position)
        if width <= 0:
            return self._source_box(look).size()
        half_x = QFontMetrics(look.font()).xHeight() / 2
        return QSizeF(width, max(2 * above - half_x, 2 * below + half_x))

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, format: QTextFormat
    ) -> None:
        rect = QRectF(rect)
        look = format.toCharFormat()
        above, below, width = self._measures(look)
        colour = look.foreground().color()
        renderer = self._formulas.renderer(*_key(look), colour.name()) if width > 0 else None
        if renderer is not None:
            half_x = QFontMetrics(look.font()).xHeight() / 2
            baseline = rect.top() + (rect.height() + half_x) / 2
            box = QRectF(rect.left() + SIDE, baseline - above, width - 2 * SIDE, above + below)
            renderer.render(painter, box)
            if look.underlineStyle() != QTextCharFormat.UnderlineStyle.NoUnderline:
                _underline(painter, look, box)
            return
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.formats.palette.user))
        painter.drawRoundedRect(rect, 3, 3)
        painter.setFont(self._fixed(look))
        painter.setPen(colour if look.property(TEX) else QColor(self.formats.palette.accent))
        painter.drawText(rect.adjusted(3, 0, -3, 0), _FLAGS, self._words(look))
        painter.restore()

    def _wait_at(self, position: int) -> None:
        first, last = self._waiting or (position, position)
        self._waiting = min(first, position), max(last, position)

    def _on_change(self, at: int, removed: int, added: int) -> None:
        if self._waiting is not None:
            first, last = self._waiting
            by = added - removed
            first = first + by if first >= at + removed else min(first, at)
            last = last + by if last >= at + removed else max(last, at + added) if last >= at else last
            self._waiting = first, last

    def _measures(self, look: QTextCharFormat) -> tuple[float, float, float]:
        """Above the line, below it, and width: 0 where the source is shown, -1 until more is known."""
        tex, is_display = _key(look)
        if not tex:
            return 0.0, 0.0, 0.0
        is_known, drawing = self._formulas.find(tex, is_display)
        if drawing is None:
            return 0.0, 0.0, 0.0 if is_known else -1.0
        scale = look.intProperty(QTextFormat.Property.FontPixelSize) * (1.15 if is_display else 1.08)
        scale = min(scale, (self.width - 2 * SIDE) / drawing.width)
        return drawing.ascent * scale, drawing.descent * scale, drawing.width * scale + 2 * SIDE

    def _source_box(self, look: QTextCharFormat) -> QRectF:
        metrics = QFontMetricsF(self._fixed(look))
        most = QRectF(0, 0, self.width - 8, 100_000)
        return metrics.boundingRect(most, _FLAGS, self._words(look)).adjusted(0, 0, 7, 2)

    def _words(self, look: QTextCharFormat) -> str:
        source = str(look.property(SOURCE))
        if look.property(TEX):
            return source
        return "".join(f"U+{ord(letter):04X} {unicodedata.name(letter, '')}".rstrip() for letter in source)

    def _fixed(self, look: QTextCharFormat) -> QFont:
        font = QFont(look.font())
        font.setFamilies(self.formats.fixed)
        pixels = look.intProperty(QTextFormat.Property.FontPixelSize)
        font.setPixelSize(max(8, round(pixels * (0.9 if look.property(TEX) else 0.75))))
        return font


_FLAGS = int(Qt.TextFlag.TextWrapAnywhere) | int(Qt.AlignmentFlag.AlignLeft) | int(Qt.AlignmentFlag.AlignVCenter)


def _key(look: QTextCharFormat) -> tuple[str, bool]:
    return str(look.property(TEX) or ""), bool(look.property(IS_DISPLAY))


def _underline(painter: QPainter, look: QTextCharFormat, box: QRectF) -> None:
    """What the text layout does under text but not under such a character."""
    styles = {
        QTextCharFormat.UnderlineStyle.DashUnderline: Qt.PenStyle.DashLine,
        QTextCharFormat.UnderlineStyle.DotLine: Qt.PenStyle.DotLine,
    }
    painter.save()
    pen = painter.pen()
    pen.setColor(look.underlineColor())
    pen.setStyle(styles.get(look.underlineStyle(), Qt.PenStyle.SolidLine))
    painter.setPen(pen)
    painter.drawLine(box.bottomLeft(), box.bottomRight())
    painter.restore()
