"""Every pair of colours that occurs can be told apart."""

from __future__ import annotations

import re

import pytest

from desktop.palette import DARK, LIGHT, SHAPE_PAIRS, TEXT_PAIRS, Palette, qt_palette, style_sheet
from desktop.resources import FOLDER, STYLES


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("pair", TEXT_PAIRS, ids="-".join)
def test_text_stands_out(palette: Palette, pair: tuple[str, str]) -> None:
    assert contrast(getattr(palette, pair[0]), getattr(palette, pair[1])) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("pair", SHAPE_PAIRS, ids="-".join)
def test_shapes_stand_out(palette: Palette, pair: tuple[str, str]) -> None:
    assert contrast(getattr(palette, pair[0]), getattr(palette, pair[1])) >= 3


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_sheet_names_roles_only_and_is_filled_in(palette: Palette) -> None:
    source = (STYLES / "window.qss").read_text(encoding="utf-8")
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\s*[;}]", source)
    sheet = style_sheet(palette, 1.5)
    assert "$" not in sheet
    assert "font-size: 20px" in sheet
    assert palette.accent in sheet


def test_every_pair_of_the_style_sheet_is_checked() -> None:
    source = (STYLES / "window.qss").read_text(encoding="utf-8")
    for rule in re.findall(r"\{([^}]*)\}", source):
        text = re.search(r"(?<!-)\bcolor: \$(\w+)", rule)
        ground = re.search(r"(?<!-)background: \$(\w+)", rule)
        if text and ground:
            assert (text[1], ground[1]) in TEXT_PAIRS, rule


def test_qt_knows_the_same_colours() -> None:
    assert qt_palette(DARK).window().color().name().upper() == DARK.background
    assert qt_palette(LIGHT).highlight().color().name().upper() == LIGHT.accent


def test_icons_come_with_their_licence() -> None:
    icons = sorted(path.name for path in (FOLDER / "icons").glob("*.svg"))
    assert "borrador.svg" in icons
    assert "ISC License" in (FOLDER / "icons" / "LICENSE-lucide.txt").read_text(encoding="utf-8")
