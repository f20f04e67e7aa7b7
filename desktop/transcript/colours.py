"""Colours the tokens of replies by origin without changing the text. Idle unless switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat

from desktop.transcript.formats import GROUND, Ground

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject

    from desktop.transcript.formats import Formats
    from desktop.transcript.passage import Passage


class OriginColours(QSyntaxHighlighter):
    """``passage_at`` gives the reply that stands at a document position, or None."""

    def __init__(self, parent: QObject, formats: Formats, passage_at: Callable[[int], Passage | None]) -> None:
        super().__init__(parent)
        self.setDocument(None)  # a text field as parent would switch it on
        self.formats = formats
        self._passage_at = passage_at

    def highlightBlock(self, text: str) -> None:
        block = self.currentBlock()
        position = block.position()
        passage = self._passage_at(position)
        if passage is None:
            return
        first = position + len(text) - len(text.lstrip())
        on_user = block.blockFormat().intProperty(GROUND) == Ground.CODE
        for start, end, span in passage.spans_between(position, position + block.length() - 1):
            colour = self.formats.origin(span.origin, on_user=on_user)
            start = max(start, first)
            if colour is not None and start < end:
                self.setFormat(start - position, end - start, _over(self.format(start - position), colour))


def _over(base: QTextCharFormat, colour: QTextCharFormat) -> QTextCharFormat:
    merged = QTextCharFormat(base)
    merged.merge(colour)
    return merged
