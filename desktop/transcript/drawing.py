"""Draws formulas with ziamath; run as a program it does so for each line it reads. Knows nothing of Qt.

A line is JSON: the formula in TeX, and whether it stands by itself; so is the answer: the drawing, or null.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass

LONGEST = 2_000
"""A longer formula is shown as its source."""
UNIT = 100
"""The size in which formulas are drawn, before they are scaled."""
AIR = 8
"""So much of it is left free around a formula."""
INK = "#010203"
"""The colour in which they are drawn; it is replaced by that of the text."""
_FIRST_TAG = re.compile(r"<svg[^>]*>")
_VIEW_BOX = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')
_UNKNOWN = re.compile(r"\\[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG, one unit high letters; ``ascent`` lies above the line of the text, ``descent`` below."""

    svg: str
    width: float
    ascent: float
    descent: float


def draw(tex: str, *, is_display: bool) -> Drawing | None:
    """The drawing of a formula; None for what cannot be drawn."""
    if len(tex) > LONGEST:
        return None
    try:
        from ziamath.config import config
        from ziamath.zmath import Latex

        config.svg2 = False  # Qt paints no symbols
        style = None if is_display else "textstyle"
        math = Latex(tex, size=UNIT, mathstyle=style, color=INK, inline=not is_display)
        svg = str(math.svg())
        known = str(math.mathmlstr())
    except Exception:  # whatever the libraries make of a text that a model wrote
        return None
    tag = _FIRST_TAG.search(svg)
    box = _VIEW_BOX.search(tag[0]) if tag else None
    if box is None or "<image" in svg or _UNKNOWN.search(known):
        return None
    left, top, width, height = (float(value) for value in box.groups())
    if not (0 < width < 100 * UNIT and 0 < height < 100 * UNIT):
        return None
    # The box is that of the letters' lines; some strokes reach beyond it, and what lies outside is not painted.
    left, top, width, height = left - AIR, top - AIR, width + 2 * AIR, height + 2 * AIR
    svg = svg.replace(box[0], f'viewBox="{left} {top} {width} {height}"', 1)
    return Drawing(svg, width / UNIT, -top / UNIT, (height + top) / UNIT)


def main() -> int:
    """Answer every line until there are no more."""
    for line in sys.stdin:
        tex, is_display = json.loads(line)
        drawing = draw(tex, is_display=is_display)
        sys.stdout.write(json.dumps(None if drawing is None else asdict(drawing)) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
