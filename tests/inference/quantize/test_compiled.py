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
    """For 1 to 4 rows. A row takes a quarter of one for its products, so 16 rows of four-way products take 4 alone."""
    products = {name: code for name, code in made[card].items() if "per_weight" in code and not is_wide(name)}
    assert sum("1 row" in name for name in products) == (3 if card == "80" else 2)
    assert [name for name in products if "1 row" not in name] == {
        "80": ["3 bits, 2 rows", "3 bits, 4 rows"], "86": [], "89": []}.get(card, ["3 bits, 4 rows"])  # fmt: skip
    for name, code in products.items():
        print(f"sm_{card}, {name}: {code['per_weight']:.2f} instructions a weight")  # noqa: T201
        assert code["per_weight"] <= 3, f"sm_{card}, {name}: {code['kinds']}"
        # The look-up is a permute and the product four-way: neither was turned into something longer.
        assert code["kinds"]["PRMT"] > 0
        assert code["kinds"]["IDP"] > 0


@pytest.mark.parametrize(("card", "rows"), [("80", (8, 16)), ("90", (16,))])
def test_more_rows_cost_hardly_more_on_matrix_units(made: Mapping[str, Any], card: str, rows: tuple[int, ...]) -> None:
    products = {name: code for name, code in made[card].items() if "per_weight" in code and is_wide(name)}
    assert list(products) == [f"3 bits, {count} rows" for count in rows]
    for name, code in products.items():
        print(f"sm_{card}, {name}: {code['per_weight']:.2f} instructions a weight")  # noqa: T201
        assert code["per_weight"] <= 3.3, f"sm_{card}, {name}: {code['kinds']}"
        assert code["kinds"].get("HMMA", 0) + code["kinds"].get("HGMMA", 0) > 0


def is_wide(name: str) -> bool:
    return name.endswith((" 8 rows", " 16 rows"))
