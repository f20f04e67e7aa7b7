"""One column of a comparison: the text of a setting as it comes, how fast it comes, and where it parts from another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from desktop.flush import Flush
from desktop.reply import in_halves
from desktop.sentences import filled
from desktop.speculation.compare_words import setting_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.palette import Palette
    from inference.bench.comparison import RoundRecord, Run, Setting

LINES = 9
TURNS = "\n\n"
"""Between the replies to the turns of one prompt."""


class Column(QFrame):
    """Shows one run at a time."""

    def __init__(self, setting: Setting, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._roles = palette
        self._tokens = 0
        self._coming = ""
        self._seconds = 0.0
        self._flush = Flush(self._show_growth, self)
        self._parts_at = -1
        self.title = QLabel(setting_label(setting), self)
        self.title.setObjectName("figure")
        self.title.setWordWrap(True)
        self.speed = QLabel(self)
        self.speed.setObjectName("quiet")
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("column")
        self.text.setReadOnly(True)
        self.text.setAccessibleName(setting_label(setting))
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(LINES * self.fontMetrics().lineSpacing())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(12, 8, 12, 12)
        whole.setSpacing(4)
        whole.addWidget(self.title)
        whole.addWidget(self.speed)
        whole.addWidget(self.text, 1)

    def begin(self) -> None:
        """A run begins."""
        self._flush.stop()
        self._tokens, self._coming = 0, ""
        self._parts_at = -1
        self.text.setExtraSelections([])
        self.text.clear()
        self.speed.setText(self.tr("reading the prompt"))

    def grow(self, text: str, record: RoundRecord) -> None:
        """A round came; it is shown soon."""
        self._tokens += record.tokens
        self._coming += text
        self._seconds = record.at
        self._flush.want()

    def show_runs(self, runs: Sequence[Run], other: str | None = None) -> None:
        """The whole text of a run and its later turns, marked from where it parts from ``other`` on."""
        self._flush.stop()
        self._coming = ""
        text = TURNS.join(run.text for run in runs)
        self.text.setPlainText(text)
        if not runs:
            self.speed.setText(self.tr("not run"))
        else:
            words = self.tr("{rate:.0f} tok/s · first {seconds:.1f} s · {tokens} tokens")
            tokens = sum(len(run.token_ids) for run in runs)
            self.speed.setText(filled(words, rate=runs[0].rate, seconds=runs[0].ttft, tokens=tokens))
        self._parts_at = -1
        if runs and other is not None and other != text:
            mine, theirs = in_halves(text), in_halves(other)
            parting = (at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1])
            self._parts_at = next(parting, min(len(mine), len(theirs)))
        self._mark()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self._mark()

    def _show_growth(self) -> None:
        bar = self.text.verticalScrollBar()
        is_at_end = bar.value() == bar.maximum()
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._coming)
        self._coming = ""
        if is_at_end:  # who reads further up is left there
            bar.setValue(bar.maximum())
        words = self.tr("{tokens} tokens, {seconds:.1f} s")
        self.speed.setText(filled(words, tokens=self._tokens, seconds=self._seconds))

    def _mark(self) -> None:
        marks = []
        if self._parts_at >= 0:
            mark = QTextEdit.ExtraSelection()
            look = QTextCharFormat()
            look.setBackground(QColor(self._roles.lit))
            cursor = QTextCursor(self.text.document())
            cursor.setPosition(min(self._parts_at, self.text.document().characterCount() - 1))
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            mark.cursor, mark.format = cursor, look
            marks.append(mark)
        self.text.setExtraSelections(marks)
