"""Every part of a memory that the engine tells has a name, a colour of its own and words for those who see no bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor

from desktop.models.fit_bar import FitBar, Legend
from desktop.models.parts import fit_of, parts
from desktop.palette import DARK, LIGHT
from inference.models import fit as engine

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from desktop.palette import Palette

CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
}  # fmt: skip


def told() -> dict[str, object]:
    """All parts at once, as the engine tells them."""
    memory = engine.Memory("gpu", "card", 48 * 10**9, 40 * 10**9)
    plan = engine.Plan("bfloat16", "nf3", 8192, heads=10**9)
    return engine.as_json(engine.fit(engine.shape(CONFIG), plan, memory))


def test_every_part_has_a_name_and_is_told_in_words(qapp: QApplication) -> None:
    fit = fit_of(told())
    assert fit is not None
    assert [segment.name for segment in fit.segments] == [name for _, name, _ in parts()]
    bar = FitBar(LIGHT)
    bar.show_fit(fit)
    for words in ("drafting heads 1.0 GB", "CUDA graphs ", "low-bit copy ", "other programs 8.0 GB", "free "):
        assert words in bar.accessibleDescription()
    assert bar.accessibleName() == fit.said


def test_the_parts_in_spanish(spanish: None) -> None:
    fit = fit_of(told())
    assert fit is not None and "cabezas de borrador 1,0 GB" in fit.in_words and "grafos CUDA" in fit.in_words


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_no_two_parts_have_one_colour(qapp: QApplication, palette: Palette) -> None:
    colours = [getattr(palette, role) for _, _, role in parts() if role != "free"]
    assert len(set(colours)) == len(colours)


def test_the_legend_leaves_out_what_no_bar_has(qapp: QApplication) -> None:
    legend = Legend(parts(), LIGHT)
    legend.show_only({"target", "free"})
    assert legend.accessibleName() == "model, free"


@pytest.mark.parametrize("width", [200, 400, 820])
def test_the_legend_takes_as_many_lines_as_it_needs(qapp: QApplication, width: int) -> None:
    legend = Legend(parts(), LIGHT)
    legend.resize(width, legend.heightForWidth(width))
    places = legend._places(width)
    assert len(places) == len(parts()) and all(left < width - 20 for _, left in places)
    assert legend.height() == (places[-1][0] + 1) * legend.heightForWidth(5000)
    (line, left), one = places[5], legend.heightForWidth(5000)
    assert legend.grab().toImage().pixelColor(round(left) + 5, round((line + 0.5) * one)) == QColor(LIGHT.text)
