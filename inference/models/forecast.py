"""For which cards speculation can pay for a model, and how much: design D7's formula on forecast acceptance.

Nothing here is measured on the user's machine, and the sentences say so. Free of torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.bench.theory import best_draft_length, speed_up
from inference.messages import Notice, sentence
from inference.models import fit

if TYPE_CHECKING:
    from inference.models.fit import Shape

CARDS = (8, 12, 16, 24)
"""Sizes of graphics memory that are told about, GB."""

PAYS = 1.1
"""From which speed-up on it is worth saying so."""

VERIFY = 1.05
"""v(K+1): a pass over the root and a draft against a plain step, while memory is the limit (field notes 2.3)."""

TARGET_SHARE, DRAFT_SHARE = 0.73, 0.55
"""Of the bandwidth, what a step of 16-bit weights and one of packed weights reaches (field notes 5.2)."""

BANDWIDTH = {8: 270e9, 12: 360e9, 16: 450e9, 24: 936e9}
"""Bytes a second that common cards of each size move."""

LAYER_S = 12e-6
"""Seconds of a layer in a captured pass that do not shrink with the weights: what small models cannot gain."""

SYSTEM = 0.6e9
"""Bytes of a card that the desktop has."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a card of ``card`` GB gives. ``dtype`` None: not even 4 bits fit. ``speed`` against plain decoding, at K."""

    card: int
    dtype: str | None
    acceptance: float
    cost: float
    k: int
    speed: float
    is_ngram_left: bool = False
    """A low-bit copy cannot pay, but looking repeats up can."""

    @property
    def pays(self) -> bool:
        """Whether speculation is worth it."""
        return self.dtype is not None and self.speed >= PAYS

    @property
    def notice(self) -> Notice:
        """The forecast as a sentence."""
        if self.dtype is None:
            return Notice("fit.card_too_small", {"card": self.card})
        if self.is_ngram_left:
            return Notice("fit.card_four_bits", {"card": self.card})
        values: dict[str, str | int | float] = {
            "card": self.card, "dtype": self.dtype, "speed": self.speed, "k": self.k,
            "percent": 100 * self.acceptance,
        }
        return Notice("fit.card_pays" if self.pays else "fit.card_plain", values)


def acceptance(parameters: int) -> float:
    """Forecast for a calibrated 3-bit twin: 0.71 as measured at 0.135 billion weights, 0.91 from 7 billion on.

    Between them straight in the logarithm (design section 9, field notes 2.1).
    """
    share = math.log(max(parameters, 1) / 0.135e9) / math.log(7 / 0.135)
    return 0.71 + 0.20 * min(1.0, max(0.0, share))


def forecast(model: Shape, card: int, context: int = 8192) -> Forecast:
    """The most exact precision that fits the card with its twin, and what a twin gives there."""
    memory = fit.Memory("gpu", "", card * 2**30, card * 2**30 - round(SYSTEM))
    for dtype in ("bfloat16", "int8", "nf4"):
        # A target of 4 bits leaves a draft of 3 nothing to win.
        twin = None if dtype == "nf4" or model.recurrent else "nf3"
        if not fit.fit(model, fit.Plan(dtype, twin, context), memory).fits:
            continue
        accepted = acceptance(model.parameters)
        if twin is None:
            return Forecast(card, dtype, accepted, 1.0, 0, 1.0, is_ngram_left=not model.recurrent)
        cost = _step(model, fit.TWIN_BITS[twin], DRAFT_SHARE, card) / _step(model, fit.BITS[dtype], TARGET_SHARE, card)
        verify = [1.0, *[VERIFY] * 12]
        k = best_draft_length(accepted, cost, verify)
        return Forecast(card, dtype, accepted, cost, k, speed_up(accepted, k, cost, verify[k]))
    return Forecast(card, None, 0.0, 1.0, 0, 1.0)


def _step(model: Shape, bits: float, share: float, card: int) -> float:
    """Seconds of a step that reads all matrices once."""
    return model.read * bits / 8 / (BANDWIDTH[card] * share) + model.layers * LAYER_S


def as_json(found: Forecast) -> dict[str, Any]:
    """For the window and ``--json``; ``forecast`` marks what no one measured."""
    notice = found.notice
    return {
        "card": found.card, "dtype": found.dtype, "pays": found.pays, "speed": found.speed, "k": found.k,
        "acceptance": found.acceptance, "cost": found.cost, "forecast": True,
        "notice": {"id": notice.id, "values": dict(notice.values), "text": sentence(notice)},
    }
