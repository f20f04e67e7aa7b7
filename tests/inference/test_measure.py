"""What a step costs: figures that a busy moment spoils are taken again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inference import measure
from inference.exact import Width
from inference.model import ReferenceForward
from tests.inference.models_for_tests import CPU, tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("costs", "cost", "asked"),
    [([0.01], 0.01, 1), ([0.1, 0.0], 0.0, 2), ([0.1, 0.08, 0.02], 0.02, 3), ([0.1, 0.08, 0.12], 0.08, 3)],
)
def test_a_cost_of_exact_mode_is_believed_when_it_is_found_again(
    costs: list[float], cost: float, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[set[str]] = []

    def typical(steps: dict[str, Callable[[], object]], *_: float) -> dict[str, float]:
        calls.append(set(steps))
        return {name: 10 * (1 + (costs[len(calls) - 1] if name.startswith("exact") else 0)) for name in steps}

    monkeypatch.setattr(measure, "typical_ms", typical)
    fast, exact = measure.step_times(ReferenceForward(tiny_model("llama")), Width(True, 1, 9), 8, CPU)
    assert fast.exact_cost == exact.exact_cost == pytest.approx(cost)
    assert len(calls) == asked
    assert all(names == {"fast 0", "exact 0"} for names in calls[1:])
