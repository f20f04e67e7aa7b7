"""Exact mode: the self-test finds rows whose bits agree, and refuses kernels whose bits depend on the row count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from inference.drafters.none import NoDrafter
from inference.drafters.twin import TwinDrafter
from inference.exact import Width, find_width, identity
from inference.model import ReferenceForward
from tests.inference.models_for_tests import (
    CPU,
    VOCABULARY,
    FixedK,
    Poisoned,
    ToyForward,
    engine_for,
    tiny_model,
    write,
)

if TYPE_CHECKING:
    from inference.kv_cache import KVCache
    from inference.rows import Rows


class RowCountMatters(ToyForward):
    """Logits change in the last bit with the number of rows, below ``blind`` rows."""

    def __init__(self, steps: dict[int, int], by_place: bool = False) -> None:
        super().__init__(VOCABULARY)
        self._steps = steps
        self._by_place = by_place

    def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
        logits = super().__call__(rows, cache, last_only=last_only)
        kernel = self._steps.get(rows.tokens.numel(), 0)
        place = torch.arange(len(logits))[:, None] if self._by_place else 0
        return logits + (kernel + place) * 1e-3


def test_one_row_is_taken_where_its_bits_agree() -> None:
    assert find_width(ToyForward(VOCABULARY), VOCABULARY, 8, CPU) == Width(True, 1, 9)


def test_the_plain_step_is_padded_to_the_narrowest_width_that_agrees() -> None:
    assert find_width(RowCountMatters({1: 1}), VOCABULARY, 8, CPU) == Width(True, 2, 9)


def test_where_drafts_differ_among_themselves_every_pass_takes_one_width() -> None:
    assert find_width(RowCountMatters({1: 1, 2: 1, 3: 1}), VOCABULARY, 8, CPU) == Width(True, 9, 9)


def test_a24_kernels_that_differ_by_place_have_no_exact_mode() -> None:
    """Such are quantized targets whose batch kernels round otherwise: exact mode is then not offered at all."""
    assert find_width(RowCountMatters({}, by_place=True), VOCABULARY, 8, CPU) is None


def test_exact_passes_of_a_bfloat16_model_write_the_plain_text() -> None:
    model = tiny_model("llama").to(torch.bfloat16)
    forward = ReferenceForward(model)
    width = find_width(forward, VOCABULARY, 8, CPU)
    if width is None:  # this machine's kernels tell row counts apart even at one width: exact mode is off here
        return
    plain = write(engine_for(forward, width), [3, 5, 7], NoDrafter(), FixedK(0), count=150)
    for k in (1, 4, 8):
        engine = engine_for(forward, width)
        assert write(engine, [3, 5, 7], TwinDrafter(forward, engine.cache, CPU), FixedK(k), count=150) == plain


def test_identity_names_everything_the_bits_depend_on() -> None:
    names = {
        identity("m", "cpu", "bfloat16", "reference", Width(True, 2, 9)),
        identity("m", "cpu", "bfloat16", "reference", Width(True, 1, 9)),
        identity("m", "cpu", "bfloat16", "packed", Width(True, 2, 9)),
        identity("m", "cpu", "float32", "reference", Width(True, 2, 9)),
        identity("m", "cpu", "bfloat16", "reference", Width(False, 1, 9)),
    }
    assert len(names) == 5


def test_an_exact_round_ends_at_the_border_of_the_attention_length() -> None:
    exact = Width(True, 2, 9)
    assert [exact.largest_k(length) for length in (0, 119, 120, 126, 127, 128)] == [8, 8, 7, 1, 0, 8]
    assert Width(False, 1, 9).largest_k(127) == 8


def test_exact_rounds_of_a_draft_attend_to_what_plain_steps_attend_to() -> None:
    seen: dict[int, set[int]] = {}

    class Watched(ToyForward):
        def __call__(self, rows: Rows, cache: KVCache, *, last_only: bool = False) -> torch.Tensor:
            if not last_only:
                for position in rows.positions[: rows.used].tolist():
                    seen.setdefault(position, set()).add(rows.span)
            return super().__call__(rows, cache, last_only=last_only)

    for k in (0, 3, 8):
        engine = engine_for(Watched(VOCABULARY), Width(True, 2, 9))
        write(engine, list(range(1, 100)), Poisoned(lambda ids, _: 0), FixedK(k), count=200)
    assert all(len(spans) == 1 for spans in seen.values())
