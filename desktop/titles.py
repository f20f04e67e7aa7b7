"""The title of a chat, made of its first words: no markup, one line, cut at a word. Knows nothing of models or Qt."""

from __future__ import annotations

import re

from desktop.plain_text import storable

LONGEST = 60
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*(```|~~~).*$", re.MULTILINE)
_PICTURE_OR_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\|[^|<>]{1,40}\|>")
_LINE_MARK = re.compile(r"^\s*(#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+|[-=*_]{3,}\s*$)+")
_EMPHASIS = re.compile(r"\*\*|__|~~|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_INVISIBLE = re.compile("[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def title_of(*texts: str) -> str:
    """The first line of words in the first of ``texts`` that has any; empty where none has."""
    for text in texts:
        plain = _TAG.sub("", _FENCE.sub("", _THINKING.sub("", storable(text[:20_000]))))
        for line in plain.splitlines():
            words = _EMPHASIS.sub("", _PICTURE_OR_LINK.sub(r"\1", _LINE_MARK.sub("", line)))
            words = " ".join(_INVISIBLE.sub(" ", words).split())
            if any(letter.isalnum() for letter in words):
                return _cut(words)
    return ""


def _cut(words: str) -> str:
    if len(words) <= LONGEST:
        return words
    short = words[:LONGEST]
    at = short.rfind(" ")
    return (short[:at] if at > LONGEST // 2 else short).rstrip(" ,.;:") + "…"
