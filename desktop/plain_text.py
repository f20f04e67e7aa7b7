"""Text from keyboard and clipboard made safe to send: pairs joined, lone halves replaced. Knows nothing of Qt."""

from __future__ import annotations

_SEPARATORS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n", "\0": "\ufffd"})


def cleaned(raw: str) -> str:
    """``raw`` text of a Qt document as plain text.

    Qt's block separators become line feeds, surrogate pairs are joined, lone surrogates and NUL become U+FFFD;
    no-break spaces stay as they are.
    """
    joined = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.translate(_SEPARATORS)
