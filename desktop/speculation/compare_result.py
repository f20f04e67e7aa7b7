"""What came of a comparison: whether the texts are identical, the figures, the drawings; to be copied and saved."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.sentences import filled
from desktop.speculation.compare_table import Table, markdown, rows_of
from desktop.speculation.compare_words import setting_label, verdicts
from inference.bench.figures import exact_identities, figures_of
from inference.bench.record import as_csv, written
from inference.events import Notice

if TYPE_CHECKING:
    from desktop.palette import Palette
    from desktop.speculation.compare_plots import Plots
    from desktop.speculation.compare_words import Tone
    from inference.bench.comparison import Comparison
    from inference.bench.figures import Figures

MARGIN = 12
"""Around a saved picture, in pixels."""
SIGNS: dict[Tone, str] = {"good": "✓ ", "plain": "≠ ", "bad": "⚠ "}


class Result(QWidget):
    """``told`` carries a notice when a file could not be written, ``said`` words when something was done."""

    told = Signal(object)
    said = Signal(str)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._roles = palette
        self.comparison: Comparison | None = None
        self._figures: tuple[Figures, ...] = ()
        self._prompt = 0
        self._plots: Plots | None = None
        self._words: list[QLabel] = []
        self.setObjectName("page")
        self._verdicts = QVBoxLayout()
        self._verdicts.setSpacing(4)
        self.table = Table(self)
        self.about = QLabel(self)
        self.about.setObjectName("quiet")
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setWordWrap(True)
        self.copy = QPushButton(self.tr("Copy as Markdown"), self)
        self.copy.clicked.connect(self.copy_table)
        self.save = QPushButton(self.tr("Save…"), self)
        self.save.setToolTip(self.tr("The whole record (JSON), a line a run (CSV), or a picture (PNG)"))
        self.save.clicked.connect(self.ask_for_file)
        buttons = QHBoxLayout()
        buttons.addWidget(self.copy)
        buttons.addWidget(self.save)
        buttons.addStretch(1)
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(12)
        self._whole.addLayout(self._verdicts)
        self._whole.addWidget(self.table)
        self._whole.addWidget(self.about)
        self._whole.addLayout(buttons)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What can be used here, in order."""
        return self.table, self.copy, self.save

    @property
    def plots(self) -> Plots:
        """The drawings; they are made when first wanted."""
        if self._plots is None:
            from desktop.speculation.compare_plots import Plots as Drawings

            self._plots = Drawings(self._roles, self)
            self._whole.insertWidget(2, self._plots)
        return self._plots

    def show_comparison(
        self, comparison: Comparison, prompt: int = 0, figures: tuple[Figures, ...] | None = None
    ) -> None:
        """Show a comparison that is over, whole or not; ``figures`` are its own where they are known already."""
        self.comparison = comparison
        self._prompt = prompt
        self._figures = figures_of(comparison) if figures is None else figures
        self._show_verdicts()
        self.table.show_rows(self._heads(), rows_of(comparison, self._figures))
        self.plots.show_comparison(comparison, self._figures, prompt)
        self.about.setText(self._about(comparison))

    def show_prompt(self, prompt: int) -> None:
        """Draw the arrivals of another prompt."""
        self._prompt = prompt
        if self.comparison is not None:
            self.plots.show_comparison(self.comparison, self._figures, prompt)

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        self._show_verdicts()
        if self._plots is not None:
            self._plots.apply_palette(palette)

    def markdown(self) -> str:
        """The table and the verdicts, as Markdown."""
        if self.comparison is None:
            return ""
        lines = [f"- {words}" for _, words in verdicts(self.comparison, self._figures)]
        table = markdown(self._heads(), rows_of(self.comparison, self._figures))
        return table + "\n" + "\n".join([*lines, f"- {self._about(self.comparison)}"]) + "\n"

    def copy_table(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.markdown())
        self.said.emit(self.tr("The table is on the clipboard."))

    def ask_for_file(self) -> None:
        """Let the user name a file."""
        kinds = ";;".join((self.tr("Record (*.json)"), self.tr("Runs (*.csv)"), self.tr("Picture (*.png)")))
        dialog = QFileDialog(self, self.tr("Save the comparison"), self.tr("comparison") + ".json", kinds)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(kind[-4:-1].lstrip(".")))
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def save_to(self, name: str) -> None:
        """Write the record, the runs or a picture, by the file's ending; what had the name before stays until then."""
        if self.comparison is None:
            return
        file = Path(name)
        ending = file.suffix.lower()
        try:
            if ending == ".png":
                data = self._picture()
            else:
                text = as_csv(self.comparison) if ending == ".csv" else written(self.comparison, self._figures)
                data = text.encode(errors="replace")
            _write(file, data)
        except OSError as error:
            self.told.emit(Notice("error.write", {"file": file.name, "detail": error.strerror or str(error)}))
        else:
            self.said.emit(filled(self.tr("Saved as {file}."), file=file.name))

    def _picture(self) -> bytes:
        """All that came of it without the buttons, wide enough for the whole table, as PNG."""
        picture = Result(self._roles, self.parentWidget())
        picture._whole.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        if self.comparison is not None:
            picture.show_comparison(self.comparison, self._prompt, self._figures)
        for button in (picture.copy, picture.save):
            button.hide()
        picture.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        picture.show()
        for _ in range(3):  # columns are measured where they show, and parts side by side are lower
            width = max(self.width(), picture.table.needed_width) + 2 * MARGIN
            picture.resize(width, max(1, picture._whole.totalHeightForWidth(width)))
            picture._whole.activate()
        buffer = QBuffer()
        try:
            if not picture.grab().save(buffer, "PNG"):
                raise OSError(self.tr("the picture could not be made"))
        finally:
            picture.hide()
            picture.deleteLater()
        return bytes(buffer.data().data())

    def _heads(self) -> list[str]:
        return [setting_label(setting) for setting in self.comparison.plan.settings] if self.comparison else []

    def _show_verdicts(self) -> None:
        for label in self._words:
            self._verdicts.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._words = []
        if self.comparison is None:
            return
        found = verdicts(self.comparison, self._figures)
        if len(exact_identities(self.comparison)) > 1:
            found.append(("bad", self.tr("The exact runs did not share one identity, so equal bits are not promised.")))
        colours = {"good": self._roles.accepted, "plain": self._roles.text, "bad": self._roles.danger}
        for tone, words in found:
            label = QLabel(SIGNS[tone] + words, self)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setStyleSheet(f"color: {colours[tone]};")
            self._verdicts.addWidget(label)
            self._words.append(label)

    def _about(self, comparison: Comparison) -> str:
        machine, plan = comparison.machine, comparison.plan
        told = machine.get("model")
        model = told if isinstance(told, dict) else {}
        parts = [
            str(model.get("name", "")),
            str(model.get("dtype", "")),
            str(machine.get("device_name", "")),
            filled(self.tr("{count} threads"), count=machine.get("threads", 0)),
            filled(self.tr("temperature {value:.1f}"), value=plan.sampling.temperature),
            filled(self.tr("prompts {count}, repeats {repeats}"), count=len(plan.prompts), repeats=plan.repeats),
        ]
        words = " · ".join(part for part in parts if part)
        return words if comparison.is_whole else words + " · " + self.tr("ended before its time")


def _write(file: Path, data: bytes) -> None:
    """Raises OSError; then the file is as it was."""
    whole = file.resolve()
    part = whole.with_name(whole.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(whole)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
