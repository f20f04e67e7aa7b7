"""The device that is meant by a name, tried before it is used. Knows nothing of models."""

from __future__ import annotations

import torch

from inference.messages import Problem


def chosen(wanted: str) -> torch.device:
    """The device, tried with a real operation: a card can be there and too old for this build.

    ``wanted`` is auto, cpu, cuda, cuda:N in the order of the bus, or a part of a card's name.
    """
    if wanted == "cpu" or (wanted == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise Problem("error.device", device=wanted, detail="this build of PyTorch sees no NVIDIA card")
    card = _card(wanted)
    device = torch.device("cuda", card) if card else torch.device("cuda")
    try:
        torch.ones(8, device=device).sum().item()
    except RuntimeError as error:
        if wanted != "auto":
            raise Problem("error.device", device=wanted, detail=str(error).split("\n")[0]) from None
        return torch.device("cpu")
    torch.cuda.set_device(card)
    return device


def _card(wanted: str) -> int:
    """The number of the card that is meant. Problem with the names of all there are when it is none of them."""
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    if wanted in ("auto", "cuda"):
        return 0
    number = wanted.removeprefix("cuda:")
    if wanted.startswith("cuda:") and number.isdecimal() and int(number) < len(names):
        return int(number)
    alike = [index for index, name in enumerate(names) if wanted.lower() in name.lower()]
    if not alike:
        there = ", ".join(f"cuda:{index} is {name}" for index, name in enumerate(names))
        raise Problem("error.device", device=wanted, detail=f"there is no such card; {there}")
    return alike[0]
