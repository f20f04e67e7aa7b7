"""Whether two tokenizers write the same text with the same ids: strings and special tokens, not only sizes.

A drafter with another tokenizer would propose ids that mean other texts. Knows nothing of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKS = ("bos_token_id", "eos_token_id")
SAMPLES = (
    "  Two leading spaces, a tab\tand a line\n\nbreak.",
    "Ärger, 東京, Ελλάδα, emoji 👩‍👩‍👧 and 1234567890.",
    "def f(x):\n    return {'a': x[0] ** 2}  # code",
)
"""Texts that tokenizers of one vocabulary but other rules cut otherwise."""


def shared_ids(first: Any, second: Any) -> int:
    """How many ids, from 0 on, mean the same in both; 0 when the tokenizers do not belong together.

    One may have more tokens at its end than the other (padding, tokens added later); all below must agree.
    """
    mine, theirs = (_by_id(tokenizer) for tokenizer in (first, second))
    shared = min(max(mine, default=-1), max(theirs, default=-1)) + 1
    if any(mine.get(token) != theirs.get(token) for token in range(shared)):
        return 0
    if any(getattr(first, mark, None) != getattr(second, mark, None) for mark in MARKS):
        return 0
    return shared if all(one == other for one, other in zip(_cut(first), _cut(second), strict=True)) else 0


def _by_id(tokenizer: Any) -> dict[int, str]:
    return {token: text for text, token in tokenizer.get_vocab().items()}


def _cut(tokenizer: Any) -> Iterator[list[int]]:
    return (tokenizer.encode(text, add_special_tokens=False) for text in SAMPLES)
