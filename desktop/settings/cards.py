"""The NVIDIA cards of this machine, counted as the driver counts them; one of them computes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inference.settings import ModelChoice


def cards() -> list[str]:
    """Their names in PCI order; none where there is no driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        places = sorted((str(pynvml.nvmlDeviceGetPciInfo(handle).busId), handle) for handle in handles)
        return [str(pynvml.nvmlDeviceGetName(handle)) for _, handle in places]
    except pynvml.NVMLError:
        return []
    finally:
        pynvml.nvmlShutdown()


def on_card(choice: ModelChoice, card: int, names: list[str]) -> ModelChoice:
    """The choice for the preferred card, where the command line left the device open and that card is there."""
    return replace(choice, device=f"cuda:{card}") if choice.device == "auto" and 0 < card < len(names) else choice
