"""What speculation can give, in closed form: tokens a round and the speed-up of design D7, for one acceptance.

Standard library only, so the window may use it. Times are in plain steps of fast mode; knows nothing of measurements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def expected_tokens(acceptance: float, k: int) -> float:
    """E(K) = (1 - a^(K+1)) / (1 - a): tokens a round of K drafted tokens emits (Leviathan 2023, equation 1).

    Every drafted token survives with the same probability ``acceptance``, whatever its depth.
    """
    if not 0 <= acceptance <= 1:
        raise ValueError(f"acceptance {acceptance} is not between 0 and 1")
    if acceptance == 1:
        return float(k + 1)
    return float((1 - acceptance ** (k + 1)) / (1 - acceptance))


def speed_up(acceptance: float, k: int, draft: float, verify: float) -> float:
    """S(K) = E(K) / (K c + v(K+1)): speed against plain decoding in fast mode.

    ``draft`` is c, one draft step; ``verify`` is v(K+1), a pass over the root and K drafted tokens.
    """
    return expected_tokens(acceptance, k) / (k * draft + verify)


def best_draft_length(acceptance: float, draft: float, verify: Sequence[float]) -> int:
    """The K of the largest S(K), the smallest among equals; ``verify[k]`` is v(k+1), and its length bounds K."""
    return max(range(len(verify)), key=lambda k: (speed_up(acceptance, k, draft, verify[k]), -k))
