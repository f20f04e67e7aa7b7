"""One model in a list: its name, what is known of it, a bar if there is one, and buttons. And the list of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QScrollArea, QVBoxLayout, QWidget

from desktop.models.fit_bar import FitBar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.models.fit_bar import Fit
    from desktop.palette import Palette

STEPS = 1000
COLUMN = 820
SCROLL_BAR = 10


class Row(QFrame):
    """Its buttons are made with `offer`; those not offered again by the next `begin` and `end` are hidden."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("row")
        self._buttons: dict[str, QPushButton] = {}
        self._offered: list[str] = []
        self._placed: list[QPushButton] = []
        self._actions: dict[str, Callable[[], object]] = {}
        self.name = QLabel(self)
        self.name.setObjectName("figure")
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.name.setWordWrap(True)
        self.mark = QLabel(self)
        self.mark.setObjectName("quiet")
        self.facts = QLabel(self)
        self.facts.setObjectName("quiet")
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        self.facts.setWordWrap(True)
        self.trouble = QLabel(self)
        self.trouble.setTextFormat(Qt.TextFormat.PlainText)
        self.trouble.setWordWrap(True)
        self.trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.fit = FitBar(palette, self)
        self.details = QLabel(self)
        self.details.setObjectName("quiet")
        self.details.setTextFormat(Qt.TextFormat.PlainText)
        self.details.setWordWrap(True)
        self.details.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.name, 1)
        head.addWidget(self.mark)
        self._button_row = QHBoxLayout()
        self._button_row.setSpacing(8)
        self._button_row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addLayout(head)
        for part in (self.facts, self.trouble, self.bar, self.fit, self.details):
            column.addWidget(part)
        column.addLayout(self._button_row)
        for part in (self.mark, self.trouble, self.bar, self.fit, self.details):
            part.hide()

    def show_words(self, name: str, facts: str, mark: str = "", trouble: str = "", *, is_bad: bool = False) -> None:
        """What is known; ``trouble`` in the colour of danger when it ``is_bad``."""
        self.name.setText(name)
        self.facts.setText(facts)
        self.facts.setVisible(bool(facts))
        self.mark.setText(mark)
        self.mark.setVisible(bool(mark))
        self.trouble.setText(trouble)
        self.trouble.setVisible(bool(trouble))
        wanted = "complaint" if is_bad else "quiet"
        if self.trouble.objectName() != wanted:
            self.trouble.setObjectName(wanted)
            self.trouble.style().unpolish(self.trouble)
            self.trouble.style().polish(self.trouble)
        self.setAccessibleName(name)
        self.setAccessibleDescription(", ".join(filter(None, (mark, facts, trouble))))
        self.bar.setAccessibleName(name)

    def show_progress(self, fraction: float | None, *, is_shown: bool) -> None:
        """A bar, moving to and fro while nothing is known."""
        self.bar.setVisible(is_shown)
        self.bar.setRange(0, 0 if fraction is None else STEPS)
        if fraction is not None:
            self.bar.setValue(round(STEPS * max(0.0, min(1.0, fraction))))

    def show_fit(self, fit: Fit | None) -> None:
        """What of the memory it would take."""
        self.fit.setVisible(fit is not None)
        if fit is not None:
            self.fit.show_fit(fit)

    def show_details(self, text: str) -> None:
        """What else is known; nothing where there is no text."""
        self.details.setVisible(bool(text))
        self.details.setText(text)
        self.details.setAccessibleName(text)

    def begin(self) -> None:
        """The buttons are offered anew."""
        self._offered = []

    def offer(self, words: str, action: Callable[[], object], *, is_possible: bool = True) -> QPushButton:
        """A button for what can be done with it."""
        button = self._buttons.get(words)
        if button is None:
            button = self._buttons[words] = QPushButton(words, self)
            button.clicked.connect(lambda _=False, words=words: self._actions[words]())
        self._actions[words] = action
        self._offered.append(words)
        button.setEnabled(is_possible)
        button.setAccessibleName(f"{words}: {self.name.text()}")
        button.show()
        return button

    def end(self) -> None:
        """What was not offered is hidden; a focus it had goes to what was."""
        lost = next(
            (one for words, one in self._buttons.items() if words not in self._offered and one.hasFocus()), None
        )
        for words, button in self._buttons.items():
            button.setVisible(words in self._offered)
        wanted = self.buttons()
        if self._placed != wanted:
            self._placed = wanted
            for button in self._buttons.values():
                self._button_row.removeWidget(button)
            for before, button in zip([None, *wanted], wanted, strict=False):
                self._button_row.addWidget(button)
                if before is not None:
                    QWidget.setTabOrder(before, button)
        if lost is not None:
            rest = next((one for one in wanted if one.isEnabled()), None)
            if rest is not None:
                rest.setFocus()

    def buttons(self) -> list[QPushButton]:
        """Those that are offered."""
        return [self._buttons[words] for words in self._offered]

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self.fit.apply_palette(palette)


def centred(part: QWidget, parent: QWidget) -> QWidget:
    """``part`` in a column as wide as the rows."""
    part.setMaximumWidth(COLUMN)
    outside = QWidget(parent)
    row = QHBoxLayout(outside)
    row.setContentsMargins(16, 0, 16 + SCROLL_BAR, 0)
    row.addStretch(1)
    row.addWidget(part, 1000)
    row.addStretch(1)
    return outside


class Rows(QScrollArea):
    """Rows one below the other, in a column that does not grow too wide; a sentence where there are none."""

    def __init__(self, name: str, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._rows: dict[str, Row] = {}
        self.setObjectName("rows")
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget(self)
        inside.setObjectName("rowsPage")
        self.words = QLabel(inside)
        self.words.setObjectName("quiet")
        self.words.setWordWrap(True)
        middle = QWidget(inside)
        middle.setMaximumWidth(COLUMN)
        self._column = QVBoxLayout(middle)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.words)
        self._column.addStretch(1)
        row = QHBoxLayout(inside)
        row.setContentsMargins(16, 8, 16, 16)
        row.addStretch(1)
        row.addWidget(middle, 1000)
        row.addStretch(1)
        self.setWidget(inside)

    def show_keys(self, keys: Sequence[str]) -> list[Row]:
        """The rows of these keys, in this order; others go. A row that stays keeps its focus."""
        for key in [key for key in self._rows if key not in keys]:
            row = self._rows.pop(key)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for at, key in enumerate(keys):
            row = self._rows.get(key) or self._rows.setdefault(key, Row(self._palette, self.widget()))
            if self._column.indexOf(row) != at + 1:
                self._column.insertWidget(at + 1, row)
        return [self._rows[key] for key in keys]

    def row(self, key: str) -> Row | None:
        """The row of a key, if it is shown."""
        return self._rows.get(key)

    def say(self, words: str) -> None:
        """A sentence over the rows."""
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def focus_first(self) -> bool:
        """Go to the first button; False where there is none."""
        button = next((one for row in self._rows.values() for one in row.buttons() if one.isEnabled()), None)
        if button is not None:
            button.setFocus()
        return button is not None

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._palette = palette
        for row in self._rows.values():
            row.apply_palette(palette)
