"""Text from keyboard, clipboard and files made safe to send and to store. Knows nothing of Qt."""

from __future__ import annotations

import re

_SEPARATORS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n", "\0": "\ufffd"})
_UNSAFE = re.compile("[\ud800-\udfff\0]")


def cleaned(raw: str) -> str:
    """``raw`` text of a Qt document as plain text.

    Qt's block separators become line feeds, surrogate pairs are joined, lone surrogates and NUL become U+FFFD;
    no-break spaces stay as they are.
    """
    return storable(raw).translate(_SEPARATORS)


def storable(text: str) -> str:
    """``text`` with surrogate pairs joined, and U+FFFD for each lone surrogate and NUL; else unchanged."""
    if not _UNSAFE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")
