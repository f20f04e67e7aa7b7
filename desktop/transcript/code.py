"""Code in a reply, found by where its fence stands, and what in it cannot be seen. Knows nothing of Qt or colours."""

from __future__ import annotations

import re

from desktop.transcript.cutter import FENCE

HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of what follows without being seen themselves."""


def code_at(text: str, start: int) -> str:
    """The code whose fence, or first line, stands at ``start`` of ``text``, without its marks."""
    line_start = text.rfind("\n", 0, start) + 1
    first, _, rest = text[line_start:].partition("\n")
    fence = re.match(r"(?P<before>[^`~]*?)(?P<mark>`{3,}|~{3,})", first)
    taken = []
    if fence is None:
        for line in f"{first}\n{rest}".split("\n"):
            if line.strip() and not line.startswith(("    ", "\t")):
                break
            taken.append(line.removeprefix("\t") if line.startswith("\t") else line[4:])
        return "\n".join(taken).strip("\n")
    width = len(fence["before"])
    for line in rest.split("\n"):
        inner = _without(line, fence["before"], width)
        mark = FENCE.match(inner)
        if mark and mark[1].startswith(fence["mark"]) and not inner[mark.end() :].strip():
            break
        taken.append(inner)
    return "\n".join(taken)


def _without(line: str, before: str, width: int) -> str:
    """``line`` without what stood before its fence: as many quote marks and at most as many spaces."""
    if ">" in before:
        return re.sub(r"^\s{0,3}(>\s?)" + f"{{1,{before.count('>')}}}", "", line)
    return line[min(width, len(line) - len(line.lstrip())) :]
