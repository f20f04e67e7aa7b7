"""Memory and energy of a run, where the machine tells them: the process's memory or the card's, and NVML's joules.

Nothing here fails: what cannot be read is None. torch is only asked when it is loaded already.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter:
    """Between ``begin`` and ``end`` of a run. ``device`` is cpu or cuda."""

    def __init__(self, device: str) -> None:
        self._cuda = _cuda() if device == "cuda" else None
        self._joules = energy_counter(self._cuda) if self._cuda is not None else None
        self._begun: float | None = None

    def begin(self) -> None:
        """A run begins."""
        if self._cuda is not None:
            self._cuda.reset_peak_memory_stats()
        self._begun = self._joules() if self._joules else None

    def end(self) -> tuple[int, float | None]:
        """Bytes in use, on a card at the most since ``begin``; joules since then, or None."""
        now = self._joules() if self._joules else None
        joules = now - self._begun if now is not None and self._begun is not None else None
        if self._cuda is not None:
            return int(self._cuda.max_memory_allocated()), joules
        return int(psutil.Process().memory_info().rss), joules


def _cuda() -> Any:
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


def energy_counter(cuda: Any) -> Callable[[], float | None] | None:
    """What reads the card's energy in joules since its driver was loaded; None where NVML does not count it."""
    try:
        import pynvml

        pynvml.nvmlInit()
        card = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{cuda.get_device_properties(0).uuid}")
        pynvml.nvmlDeviceGetTotalEnergyConsumption(card)
    except Exception:  # no library, no driver, a card without a counter: all the same here
        return None

    def read() -> float | None:
        try:
            return float(pynvml.nvmlDeviceGetTotalEnergyConsumption(card)) / 1e3
        except pynvml.NVMLError:
            return None

    return read
