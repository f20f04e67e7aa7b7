"""How what is installed fits this machine: asked of jobs when it is looked at, and again when memory is otherwise.

It knows no widgets and reckons nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.models.same import is_same

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.chat import Chat
    from desktop.jobs import Job, Jobs
    from desktop.model_menu import ModelMenu

LOW_BITS = {"int8": "int8", "llm-int8": "int8", "nf4": "nf4"}
"""Weights of few bits as a model is chosen, and the precision they are reckoned in."""


class Fits(QObject):
    """``came`` comes with new figures. ``entries`` gives what is installed.

    ``found`` is what the job told of each model, by what it is chosen by; None until it has.
    """

    came = Signal()

    def __init__(
        self, jobs: Jobs, chat: Chat, menu: ModelMenu, entries: Callable[[], list[dict[str, Any]]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._chat = chat
        self._menu = menu
        self._entries = entries
        self._job: Job | None = None
        self._is_watched = False
        self._cards: dict[str, list[dict[str, Any]] | None] = {}
        self.found: dict[str, dict[str, Any]] | None = None
        for changed in (chat.loaded, chat.unloaded, chat.load_failed, chat.drafters_changed):
            changed.connect(self.look)

    def watch(self, is_watched: bool) -> None:
        """Somebody looks at the figures, or no longer."""
        self._is_watched = is_watched
        self.look()

    def look(self) -> None:
        """Reckon anew, if somebody looks and nothing is being loaded just now."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        if not self._is_watched or self._chat.is_loading or not self._entries():
            return
        job = self._job = self._jobs.job("fits", "--device", self._menu.choice.device, *self._plan(), *self._held())
        job.done.connect(self._on_found)
        job.failed.connect(lambda _: self._on_found({"fits": self.found or {}}))
        job.start()

    def cards(self, model: str) -> list[dict[str, Any]]:
        """What cards of usual sizes would give for a model; empty until a job told, which ``came`` says."""
        if model not in self._cards:
            self._cards[model] = None
            job = self._jobs.job("fit", model, *self._plan())
            job.done.connect(lambda event: self._on_cards(model, event["cards"]))
            job.start()
        return self._cards[model] or []

    # Within

    def _plan(self) -> list[str]:
        choice = self._menu.choice
        dtype = LOW_BITS.get(choice.weights, choice.dtype)
        return ["--context", str(choice.context), "--dtype", dtype, "--twin", choice.recipe]

    def _held(self) -> list[str]:
        """What would be let go before another model is loaded."""
        held = self._chat.model
        if held is None:
            return []
        entry = next((one for one in self._entries() if is_same(str(one["model"]), held.model, one)), None)
        if entry is None:
            return []
        device = "cpu" if held.device == "cpu" else self._menu.choice.device
        return ["--held", str(entry["model"]), "--held-device", device] + (
            ["--held-twin"] if "twin" in held.drafters else []
        )

    def _on_found(self, event: dict[str, Any]) -> None:
        self._job = None
        self.found = event["fits"]
        self.came.emit()

    def _on_cards(self, model: str, cards: list[dict[str, Any]]) -> None:
        self._cards[model] = cards
        self.came.emit()
