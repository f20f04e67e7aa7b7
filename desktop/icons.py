"""Icons from resources/icons, coloured by role. Knows nothing of where they are shown."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop.resources import ICONS


def icon(name: str, colour: str, size: int = 20) -> QIcon:
    """The line icon ``name`` in ``colour``, sharp at 1, 1.5 and 2 pixels per point."""
    source = (ICONS / f"{name}.svg").read_text(encoding="utf-8").replace("currentColor", colour)
    return _drawn(source, size)


def mark(size: int = 64) -> QIcon:
    """The program's own mark: a pencil whose other end is an eraser."""
    return _drawn((ICONS / "borrador.svg").read_text(encoding="utf-8"), size)


def _drawn(source: str, size: int) -> QIcon:
    renderer = QSvgRenderer(QByteArray(source.encode()))
    drawn = QIcon()
    for ratio in (1.0, 1.5, 2.0):
        picture = QPixmap(round(size * ratio), round(size * ratio))
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter, QRectF(picture.rect()))
        painter.end()
        picture.setDevicePixelRatio(ratio)
        drawn.addPixmap(picture)
    return drawn
