"""The page on scaled screens and with larger text: sharp, and as wide as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage, QTextCursor

from desktop.palette import DARK, LIGHT
from desktop.transcript.view import Transcript
from tests.desktop.test_transcript import begun

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.palette import Palette

TEXT = (
    "$\\frac{a}{b}$ and words\n\n| one | two | three |\n| --- | --- | --- |\n"
    "| a long cell with words | *x* | $y_1$ |\n\n"
    "```python\nvalue = compute_something(first_argument, second_argument)  # a comment\n```\n\n"
    "$$\n\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} + a + b + c + d + e + f + g + h + i + j\n$$\n\n"
    "averyveryverylongwordwithoutanyplacewhereitcouldbebrokenbyaspaceoranythingelseatall\n\n" + "more\n\n" * 30
)


def shown(qtbot: QtBot, palette: Palette, scale: float, width: int) -> Transcript:
    view = Transcript(palette, scale)
    qtbot.addWidget(view)
    view.resize(width, 300)
    view.show()
    begun(view, TEXT)
    view.finish()
    qtbot.waitUntil(lambda: len(view._formulas._known) == 3 and not view._column.resizing.isActive(), timeout=60_000)
    view.verticalScrollBar().setValue(0)
    return view


def painted(view: Transcript, ratio: int) -> QImage:
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.render(image, QPoint())
    return image


def has_detail(image: QImage, box: QRect) -> bool:
    """Whether pixels differ within what is one pixel on a screen that is not scaled."""
    return any(
        len({image.pixel(2 * x, 2 * y), image.pixel(2 * x + 1, 2 * y), image.pixel(2 * x, 2 * y + 1)}) > 1
        for x in range(box.left() + 1, box.right())
        for y in range(box.top() + 1, box.bottom())
    )


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_h20_formulas_and_icons_are_sharp_on_a_scaled_screen(qtbot: QtBot, palette: Palette) -> None:
    view = shown(qtbot, palette, 1.0, 700)
    image = painted(view, 2)
    cursor = QTextCursor(view.document())
    box = view.cursorRect(cursor)
    cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
    formula = box.united(view.cursorRect(cursor)).adjusted(0, 0, -1, 0).translated(view.viewport().pos())
    assert formula.width() > 5
    assert has_detail(image, formula)
    assert view._latest.isVisible()
    inside = view._latest.geometry().adjusted(6, 6, -6, -6)
    assert has_detail(image, inside)


@pytest.mark.parametrize(("scale", "width"), [(1.0, 480), (1.5, 480), (1.5, 900)])
def test_h20_nothing_on_the_page_is_wider_than_the_page_with_larger_text(
    qtbot: QtBot, scale: float, width: int
) -> None:
    view = shown(qtbot, LIGHT, scale, width)
    assert view.document().size().width() <= view.viewport().width()
    layout = view.document().documentLayout()
    block = view.document().begin()
    while block.isValid():
        box = layout.blockBoundingRect(block)
        lines = block.layout()
        for number in range(lines.lineCount()):
            line = lines.lineAt(number)
            assert box.left() + line.x() + line.naturalTextWidth() <= view.viewport().width() + 1, block.text()
        block = block.next()
