"""Files as part of a message's text: each quoted under its name, and found again when the message is edited.

The text of the message is all that is kept: nothing is known of a file that does not stand there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.plain_text import storable

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = re.compile(r"\[File: ([^\n\[\]]+)\]\n(`{3,})([^\n`]*)\n")
_TICKS = re.compile("`{3,}")
_UNFIT = re.compile(r"[\[\]\x00-\x1f\x7f]+")
_LANGUAGE = re.compile(r"\.([A-Za-z][A-Za-z0-9+#-]{0,9})$")
GAP = "\n\n"
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Attachment:
    """The text of a file; without a name it is a text that is sent as it stands."""

    name: str
    text: str


def clean_name(name: str) -> str:
    """A name that can be quoted: on one line, without brackets."""
    words = " ".join(storable(_UNFIT.sub(" ", name)).split())
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def joined(attachments: Iterable[Attachment], words: str) -> str:
    """The whole message: what is attached, then the words."""
    parts = [_quoted(one) if one.name else one.text for one in attachments]
    if words or not parts:
        parts.append(words)
    return GAP.join(parts)


def parted(message: str) -> tuple[list[Attachment], str]:
    """The files that are quoted at the beginning of a message, and the words behind them."""
    found: list[Attachment] = []
    at = 0
    while head := _HEAD.match(message, at):
        fence = "\n" + head[2]
        start = head.end() - 1
        end = message.find(fence, start + 1)
        behind = end + len(fence)
        if end < 0 or (behind < len(message) and not message.startswith(GAP, behind)):
            break
        found.append(Attachment(head[1], message[start + 1 : end]))
        at = behind + len(GAP)
    return found, message[at:]


def _quoted(one: Attachment) -> str:
    longest = max(map(len, _TICKS.findall(one.text)), default=2)
    fence = "`" * (longest + 1)
    language = _LANGUAGE.search(one.name)
    return f"[File: {one.name}]\n{fence}{language[1].lower() if language else ''}\n{one.text}\n{fence}"
