"""Text that every later step can hold: no half of a surrogate pair, no NUL. Knows nothing of tokenizers or models."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with surrogate pairs joined, lone halves replaced by U+FFFD and NUL removed; all else untouched."""
    text = text.replace("\0", "")
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
