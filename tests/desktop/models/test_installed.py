"""The list of what is installed: bars that come later than the rows, details, and what is asked of jobs for both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible

from desktop.models.fits import Fits
from desktop.models.installed import Installed
from desktop.palette import LIGHT
from inference.settings import ModelChoice
from tests.desktop.models.entries import entry
from tests.fake_session import LOADED

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.stage import MakeStage

SEGMENTS = [
    {"name": "target", "bytes": 3 * 10**9}, {"name": "twin", "bytes": 10**9}, {"name": "others", "bytes": 2 * 10**9},
    {"name": "free", "bytes": 2 * 10**9},
]  # fmt: skip


def told(*, fits: bool = True, remedies: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "segments": SEGMENTS, "whole": 8 * 10**9, "fits": fits,
        "notice": {"id": "fit.ram" if fits else "fit.ram_lacks", "values": {"needed_gb": 4.0, "free_gb": 6.0}},
        "remedies": [{"id": id, "values": {"context": 2048}} for id in remedies],
    }  # fmt: skip


class ScriptedJobs(QObject):
    """Notes what is asked; the test answers."""

    class Job(QObject):
        done = Signal(object)
        failed = Signal(object)

        def __init__(self, arguments: tuple[str, ...]) -> None:
            super().__init__()
            self.arguments, self.is_started, self.is_cancelled = arguments, False, False

        def start(self) -> None:
            self.is_started = True

        def cancel(self) -> None:
            self.is_cancelled = True

    def __init__(self) -> None:
        super().__init__()
        self.made: list[ScriptedJobs.Job] = []

    def job(self, *arguments: str) -> ScriptedJobs.Job:
        self.made.append(self.Job(arguments))
        return self.made[-1]


@pytest.fixture
def installed(qtbot: QtBot) -> Installed:
    page = Installed(LIGHT)
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    return page


def test_rows_are_there_before_their_bars_and_stay_where_they_are(installed: Installed, qtbot: QtBot) -> None:
    installed.show_entries([entry(f"m{number}") for number in range(4)])
    row = installed.rows.row("owner/m3")
    assert row is not None
    places = [row.geometry()]

    def is_laid_out() -> bool:
        places.append(row.geometry())
        return row.y() > 0 and len(set(map(str, places[-3:]))) == 1

    qtbot.waitUntil(is_laid_out, timeout=60_000)
    assert not row.fit.isHidden() and row.trouble.text() == "Reckoning what it takes of the memory…"
    before = row.geometry()
    installed.show_fits({f"owner/m{number}": told() for number in range(4)}, lambda _: ())
    qtbot.wait(0)
    assert row.geometry() == before
    assert row.fit.accessibleDescription() == "model 3.0 GB, low-bit copy 1.0 GB, other programs 2.0 GB, free 2.0 GB"
    assert row.trouble.text() == "Takes about 4.0 of the 6.0 GB of memory that are free"
    assert installed.legend.accessibleName() == "model, low-bit copy, other programs, free"


def test_what_does_not_fit_says_what_would(installed: Installed) -> None:
    installed.show_entries([entry("big")])
    installed.show_fits({"owner/big": told(fits=False, remedies=("fit.try_no_twin", "fit.try_context"))}, lambda _: ())
    row = installed.rows.row("owner/big")
    assert row is not None and row.trouble.text() == (
        "Needs about 4.0 GB of memory; 6.0 GB are free. Without the low-bit copy it would fit."
    )
    assert row.buttons()[0].text() == "Load"  # the engine refuses with figures, and what others have changes


def test_what_is_broken_has_no_bar_and_a_gguf_file_has_one(installed: Installed) -> None:
    broken = {"id": "error.model_incomplete", "values": {"model": "cut", "files": "a"}}
    installed.show_entries([
        entry("cut", problem=broken, ready=False, complete=False), entry("raw", kind="gguf", ready=False),
    ])  # fmt: skip
    cut, raw = installed.rows.row("owner/cut"), installed.rows.row("owner/raw")
    assert cut is not None and raw is not None
    assert cut.fit.isHidden() and not raw.fit.isHidden()
    installed.show_fits({"owner/raw": told()}, lambda _: ())
    assert cut.fit.isHidden() and not raw.fit.isHidden() and raw.trouble.objectName() == "quiet"


def test_details_open_and_close_by_a_button_that_keeps_the_focus(installed: Installed) -> None:
    installed.activateWindow()
    installed.show_entries([entry("sea", revision="abc123")])
    card = {"id": "fit.card_too_small", "values": {"card": 8}}
    installed.show_fits({"owner/sea": told()}, lambda _: [{"notice": card}])
    row = installed.rows.row("owner/sea")
    assert row is not None
    button = row.buttons()[-1]
    button.setFocus()
    button.click()
    assert row.details.text().split("\n") == [
        "Architecture: LlamaForCausalLM", "Has a chat template", "Can draft for it: repeats",
        "Cannot draft for it: self-draft (this model has no matrices a low-bit copy could be made of)",
        "Memory: model 3.0 GB, low-bit copy 1.0 GB, other programs 2.0 GB, free 2.0 GB",
        "8 GB card: too small for this model", "Folder: /hub/sea", "Revision: abc123",
    ]  # fmt: skip
    assert button.hasFocus() and button.isChecked()
    state = QAccessible.queryAccessibleInterface(button).state()
    assert state.checkable and state.checked
    button.click()
    assert row.details.isHidden() and button.hasFocus() and not button.isChecked()


def test_a_focus_whose_button_goes_is_on_what_can_be_pressed(installed: Installed) -> None:
    installed.activateWindow()
    installed.show_entries([entry("sea")])
    row = installed.rows.row("owner/sea")
    assert row is not None
    for loaded, loading, words in (("", "owner/sea", "Stop loading"), ("owner/sea", "", "Unload"), ("", "", "Load")):
        row.buttons()[0].setFocus()
        installed.show_state(loaded, loading)
        assert row.buttons()[0].text() == words and row.buttons()[0].hasFocus()


def test_figures_are_asked_for_only_while_somebody_looks(stage: MakeStage) -> None:
    one = stage().ready()
    jobs, chat = ScriptedJobs(), one.window.chat
    entries = [entry("starter", model="starter", source="starter"), entry("sea")]
    fits = Fits(jobs, chat, one.window.menu, lambda: entries, one.window)  # type: ignore[arg-type]
    fits.look()
    assert jobs.made == []
    fits.watch(True)
    assert jobs.made[-1].arguments == (
        "fits", "--device", "auto", "--context", "8192", "--dtype", "auto", "--twin", "auto",
        "--held", "starter", "--held-device", "cpu", "--held-twin",
    )  # fmt: skip
    jobs.made[-1].done.emit({"fits": {"owner/sea": told()}})
    assert fits.found == {"owner/sea": told()}
    one.window.shelf.unloading.unload()
    one.wait(lambda: len(jobs.made) == 2)
    assert "--held" not in jobs.made[-1].arguments
    one.window.menu.choose("starter")  # what is asked while a model is loaded is asked again when it is there
    one.wait(lambda: len(jobs.made) == 3)
    assert jobs.made[1].is_cancelled and "--held" in jobs.made[-1].arguments
    fits.watch(False)
    assert jobs.made[-1].is_cancelled and len(jobs.made) == 3


def test_what_is_chosen_beside_the_model_counts(stage: MakeStage) -> None:
    one = stage().ready()
    one.window.menu._choice = ModelChoice(device="cuda:1", weights="llm-int8", recipe="nf2", context=512)
    jobs = ScriptedJobs()
    fits = Fits(jobs, one.window.chat, one.window.menu, lambda: [entry("starter", model="starter")], one.window)  # type: ignore[arg-type]
    one.window.chat.model = replace(LOADED, device="cuda", drafters=("none",))
    fits.watch(True)
    assert jobs.made[-1].arguments == (
        "fits", "--device", "cuda:1", "--context", "512", "--dtype", "int8", "--twin", "nf2",
        "--held", "starter", "--held-device", "cuda:1",
    )  # fmt: skip
    fits.cards("starter")
    fits.cards("starter")
    assert [job.arguments[0] for job in jobs.made] == ["fits", "fit"]
    jobs.made[-1].done.emit({"cards": [{"card": 8}]})
    assert fits.cards("starter") == [{"card": 8}]


def test_a_job_that_fails_leaves_rows_without_bars(stage: MakeStage) -> None:
    one = stage().ready()
    jobs = ScriptedJobs()
    fits = Fits(jobs, one.window.chat, one.window.menu, lambda: [entry("sea")], one.window)  # type: ignore[arg-type]
    fits.watch(True)
    jobs.made[-1].failed.emit(None)
    assert fits.found == {}
