"""Kernels compiled for six cards that are not here: no spills, and few enough instructions a weight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

CARDS = ("75", "80", "86", "89", "90", "120")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Of each card every kernel's machine code. Two processes, in which kernels are not interpreted."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("triton"))
    script = Path(__file__).with_name("compiled.py")
    halves = [
        subprocess.Popen([sys.executable, script, *cards], env=environment, stdout=subprocess.PIPE, text=True)
        for cards in (CARDS[::2], CARDS[1::2])
    ]
    found: dict[str, Any] = {}
    for half in halves:
        printed = half.communicate()[0]
        assert half.returncode == 0
        found |= json.loads(printed)
    return found


@pytest.mark.parametrize("card", CARDS)
def test_no_kernel_spills(made: Mapping[str, Any], card: str) -> None:
    for name, code in made[card].items():
        print(f"sm_{card}, {name}: {code['registers']} registers, {code['spilled_bytes']} bytes spilled")  # noqa: T201
        assert code["spilled_bytes"] == 0, f"sm_{card}, {name}"
        assert code["registers"] <= 255


@pytest.mark.parametrize("card", CARDS)
def test_a_weight_takes_at_most_three_instructions(made: Mapping[str, Any], card: str) -> None:
    """The whole inner loop: look-up, products of all rows, scales, loads of activations and addresses."""
    products = {name: code for name, code in made[card].items() if "per_weight" in code}
    assert len(products) == len(compiled_rows(card)) * 6
    for name, code in products.items():
        print(f"sm_{card}, {name}: {code['per_weight']:.2f} instructions a weight")  # noqa: T201
        assert code["per_weight"] <= 3, f"sm_{card}, {name}: {code['kinds']}"
        is_looked_up = "even" not in name
        # The look-up is a permute and the product four-way or of tiles: neither was turned into something longer.
        assert not is_looked_up or code["kinds"]["PRMT"] > 0
        assert code["kinds"]["HMMA" if code["is_wide"] else "IDP"] > 0
        rows = int(name.rpartition(" ")[2])
        assert code["is_wide"] == (card != "75" and rows > (3 if name.startswith("4 bits, rows") else 4))


@pytest.mark.parametrize("card", CARDS)
def test_a_draft_of_one_row_takes_at_most_two(made: Mapping[str, Any], card: str) -> None:
    """What a card with much memory bandwidth needs (design D6 counts 2.8 for an H200)."""
    drafts = [code["per_weight"] for name, code in made[card].items() if name.endswith("rows 1")]
    assert len(drafts) == 6
    assert max(drafts) <= 2


def compiled_rows(card: str) -> tuple[int, ...]:
    """As compiled.py has it, which is not imported here: there kernels are not interpreted."""
    return {"75": (1, 2, 4), "80": (1, 2, 3, 4, 8, 16), "89": (1,), "90": (1, 2, 4, 8, 16)}.get(card, (1, 4, 16))
