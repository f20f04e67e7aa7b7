"""Token ids to text, as they come: only text that no later token can change, at a cost that does not grow.

All pieces together are what decoding all ids at once gives, special tokens hidden. Knows nothing of chats or stops.
"""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerBase

_BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")
_REPLACEMENT = "\ufffd"
_CONTEXT = 4
"""Visible tokens kept in front: the longest character has four bytes, so one of them ends in a whole one."""
_RESTLESS = 16
"""Pending tokens after which a place to cut is sought in a text that keeps ending in a replacement mark."""


class Detokenizer:
    """Decodes a stream of ids; ``before`` are the ids in front of it when the text goes on where another ended.

    Two things are held back: a replacement mark at the end, which the next token may turn into a character, and a run
    of byte-fallback tokens, since one wrong byte makes the decoder replace the whole run.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, before: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._hidden = hidden_ids(tokenizer)
        self._window = _tail(tokenizer, self._hidden, before)
        self._context = len(self._window)
        self._shown = len(decode(tokenizer, self._window))

    def copy(self) -> Detokenizer:
        """Another one that has heard the same."""
        other = copy(self)
        other._window = list(self._window)  # noqa: SLF001 - its own kind
        return other

    def push(self, token_id: int) -> str:
        """The text that this token made certain; may be empty, never ends in half a character."""
        token = None if token_id in self._hidden else self._tokenizer.convert_ids_to_tokens(token_id)
        if not isinstance(token, str):
            return ""
        self._window.append(token_id)
        if _BYTE.fullmatch(token):
            return ""
        text = decode(self._tokenizer, self._window)
        if not text.endswith(_REPLACEMENT):
            return self._settle(text)
        piece = self._show(text, len(text) - 1)
        if len(self._window) - self._context > _RESTLESS:
            self._cut(text)
        return piece

    def finish(self) -> str:
        """The rest, at the end of the reply."""
        return self._settle(decode(self._tokenizer, self._window))

    def _show(self, text: str, end: int) -> str:
        piece = text[self._shown : end]
        self._shown = max(self._shown, end)
        return piece

    def _settle(self, text: str) -> str:
        """Show all of a text that ends in a whole character; its newest tokens become the context."""
        context = text[: self._shown]
        piece = self._show(text, len(text))
        if piece and self._context:
            del self._window[: self._context]
            self._shown = len(decode(self._tokenizer, self._window))
        elif not piece and context:
            del self._window[self._context :]  # a token without text; at the very start it counts as the first one
        self._context = len(self._window)
        return piece

    def _cut(self, text: str) -> None:
        """Drop old tokens of the window where no character crosses from one token into the next."""
        for end in range(len(self._window) - _CONTEXT, 1, -1):
            kept = self._window[end - 1 :]
            head = decode(self._tokenizer, self._window[:end])
            first, rest = decode(self._tokenizer, kept[:1]), decode(self._tokenizer, kept)
            if rest.startswith(first) and head + rest[len(first) :] == text:
                self._window = kept
                self._context = 1
                self._shown += len(first) - len(head)
                return


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """The text of ids at once, special tokens hidden, no space touched."""
    text = tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert isinstance(text, str)
    return text


def continuation(
    tokenizer: PreTrainedTokenizerBase, hidden: frozenset[int], before: Sequence[int], ids: Sequence[int]
) -> str:
    """The text that ``ids`` add behind ``before``; unlike ``decode`` alone it keeps their leading space."""
    tail = _tail(tokenizer, hidden, before)
    return decode(tokenizer, [*tail, *ids])[len(decode(tokenizer, tail)) :]


def hidden_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The special tokens, which decoding leaves out."""
    return frozenset(token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)


def _tail(tokenizer: PreTrainedTokenizerBase, hidden: frozenset[int], ids: Sequence[int]) -> list[int]:
    """The last few ids that show, reaching back to one that is no byte of a longer run."""
    tail: list[int] = []
    for token_id in reversed(ids):
        token = None if token_id in hidden else tokenizer.convert_ids_to_tokens(token_id)
        if not isinstance(token, str):
            continue
        tail.insert(0, token_id)
        if len(tail) >= _CONTEXT and not _BYTE.fullmatch(token):
            break
    return tail
