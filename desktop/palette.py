"""Every colour of the window, by role, in one place. Text is only put on the grounds named in PAIRS."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette

from desktop.resources import ICONS, STYLES


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one scheme. ``line`` is for decoration only; ``control_border`` marks what can be used.

    ``lit`` is the ground of what is pointed at; ``correction_on_user`` the correction colour on ``user`` and ``lit``.
    ``keyword``, ``name``, ``string`` and ``number`` are for code, which stands on ``user``.
    """

    dark: bool
    background: str
    surface: str
    user: str
    lit: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    control_border: str
    accepted: str
    correction: str
    correction_on_user: str
    bonus: str
    danger: str
    keyword: str
    name: str
    string: str
    number: str


LIGHT = Palette(
    dark=False,
    background="#FBFAF7",
    surface="#FFFFFF",
    user="#EFECE4",
    lit="#FAF0CF",
    line="#D9D6CE",
    text="#1F2328",
    muted="#5B6470",
    accent="#2F5FD0",
    on_accent="#FFFFFF",
    control_border="#8A8578",
    accepted="#0F766E",
    correction="#B45309",
    correction_on_user="#9A4606",
    bonus="#6D28D9",
    danger="#B42318",
    keyword="#7A3494",
    name="#1D5A9E",
    string="#3A6A1F",
    number="#8C4410",
)
DARK = Palette(
    dark=True,
    background="#16181C",
    surface="#1E2126",
    user="#262A31",
    lit="#343B4A",
    line="#34383F",
    text="#E8E6E1",
    muted="#A0A7B1",
    accent="#8AB4FF",
    on_accent="#16181C",
    control_border="#6B7280",
    accepted="#5EEAD4",
    correction="#FBBF24",
    correction_on_user="#FBBF24",
    bonus="#C4B5FD",
    danger="#FF9B8E",
    keyword="#D7A8F0",
    name="#8FC1F2",
    string="#A9D18E",
    number="#F0B489",
)

TEXT_PAIRS: tuple[tuple[str, str], ...] = (
    ("text", "background"), ("text", "surface"), ("text", "user"),
    ("muted", "background"), ("muted", "surface"), ("muted", "user"),
    ("accent", "background"), ("accent", "surface"), ("accent", "user"),
    ("on_accent", "accent"),
    ("accepted", "background"), ("accepted", "user"), ("accepted", "surface"),
    ("correction", "background"), ("correction", "surface"), ("correction_on_user", "user"),
    ("bonus", "background"), ("bonus", "user"), ("bonus", "surface"),
    ("danger", "background"), ("danger", "surface"),
    ("text", "lit"), ("accepted", "lit"), ("correction_on_user", "lit"), ("bonus", "lit"), ("muted", "lit"),
    ("keyword", "user"), ("name", "user"), ("string", "user"), ("number", "user"),
    ("keyword", "lit"), ("name", "lit"), ("string", "lit"), ("number", "lit"),
)  # fmt: skip
"""(writing, ground) pairs that occur: 4.5 to 1 at least."""

SHAPE_PAIRS: tuple[tuple[str, str], ...] = (
    ("control_border", "background"), ("control_border", "surface"),
    ("accepted", "surface"), ("correction", "surface"), ("bonus", "surface"), ("muted", "surface"),
    ("accepted", "lit"), ("correction_on_user", "lit"), ("bonus", "lit"), ("muted", "lit"),
    ("accent", "background"), ("accent", "surface"), ("on_accent", "accent"), ("surface", "control_border"),
)  # fmt: skip
"""(shape, ground) pairs that carry meaning: 3 to 1 at least."""


def palette_for(scheme: Qt.ColorScheme) -> Palette:
    """The palette of the system's colour scheme; light where the system does not say."""
    return DARK if scheme == Qt.ColorScheme.Dark else LIGHT


def qt_palette(roles: Palette) -> QPalette:
    """The same colours under Qt's own role names, for everything the style sheet does not reach."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    palette = QPalette()
    for name, colour in (
        (role.Window, roles.background), (role.WindowText, roles.text), (role.Base, roles.surface),
        (role.AlternateBase, roles.user), (role.Text, roles.text), (role.Button, roles.surface),
        (role.ButtonText, roles.text), (role.BrightText, roles.danger), (role.Highlight, roles.accent),
        (role.HighlightedText, roles.on_accent), (role.Link, roles.accent), (role.LinkVisited, roles.accent),
        (role.PlaceholderText, roles.muted), (role.ToolTipBase, roles.surface), (role.ToolTipText, roles.text),
        (role.Light, roles.surface), (role.Midlight, roles.line), (role.Mid, roles.line),
        (role.Dark, roles.control_border), (role.Shadow, roles.line), (role.Accent, roles.accent),
    ):  # fmt: skip
        palette.setColor(name, QColor(colour))
    for name in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(group.Disabled, name, QColor(roles.muted))
    return palette


def style_sheet(roles: Palette, scale: float = 1.0) -> str:
    """The window's style sheet with roles and scaled text sizes filled in."""
    sizes = {f"px{size}": str(round(size * scale)) for size in (12, 13, 15, 22)}
    colours = {name: getattr(roles, name) for name in Palette.__slots__ if name != "dark"}
    files = {"icons": ICONS.as_posix(), "scheme": "dark" if roles.dark else "light"}
    return Template((STYLES / "window.qss").read_text(encoding="utf-8")).substitute(colours | sizes | files)
