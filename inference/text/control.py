"""Control tokens: which strings they are, and rendered text to ids such that only the template writes them.

Text of messages travels through the template with every control string replaced by one placeholder character; here it
becomes ordinary tokens again. Knows nothing of roles. What a model knows no token for (``[INST]`` of Llama 2) is text.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from inference.text.thinking import CLOSING, OPENING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tokenizers import AddedToken
    from transformers import PreTrainedTokenizerBase

After = Literal["start", "control", "text"]
"""What a stretch of text stands behind: nothing, a control token, or more text."""

_PLACEHOLDERS = range(0xF0000, 0xFFFFE)
_GUARDS = ("\n", ".", "\n.")
_SHORTEST = 3
_THINKING = (OPENING, CLOSING)


def unused(text: str) -> Iterator[str]:
    """Private-use characters that do not occur in the text."""
    return (chr(code) for code in _PLACEHOLDERS if chr(code) not in text)


class ControlTokens:
    """The control strings of a tokenizer: its special tokens, thinking tags, and what else templates write.

    ``written`` is text that holds what the template writes. Whitespace tokens and short ones are never control.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, written: str) -> None:
        self._tokenizer = tokenizer

        def is_control(token: AddedToken) -> bool:
            by_template = len(token.content) >= _SHORTEST and token.content in written
            return bool(token.content.strip()) and (token.special or by_template or token.content in _THINKING)

        added = {token_id: token for token_id, token in tokenizer.added_tokens_decoder.items() if is_control(token)}
        self._added = {token.content: token for token in added.values()}
        self.strings = {token_id: token.content for token_id, token in added.items()}
        self.ids = {text: token_id for token_id, text in self.strings.items()}
        longest_first = sorted(self.ids, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self._adds_prefix = self._native("\nx") != self._native("\n") + self._native("x")
        special = next((text for text, token in self._added.items() if token.special), None)
        self._prefix_behind_control = special is None or self._native(special + "x") == [
            self.ids[special],
            *self._native("x"),
        ]

    def at(self, text: str, position: int) -> str | None:
        """The control string that stands in the text at this position."""
        match = self._pattern.match(text, position)
        return match.group() if match else None

    def past(self, string: str, text: str, position: int) -> int:
        """Where the text goes on behind this control string, which some tokenizers let swallow the space behind it."""
        position += len(string)
        if self._added[string].rstrip:
            position += len(text[position:]) - len(text[position:].lstrip())
        return position

    def within(self, text: str) -> set[str]:
        """The control strings that occur in the text."""
        return set(self._pattern.findall(text))

    def placeholders(self, texts: Iterable[str]) -> dict[str, str]:
        """For each control string that occurs in the texts, a character that occurs in none of them."""
        texts = list(texts)
        found = sorted({string for text in texts for string in self.within(text)})
        if not found:
            return {}
        return dict(zip(found, unused("".join(texts)), strict=False))

    def mark(self, text: str, placeholders: Mapping[str, str], keep_thinking: bool) -> str:
        """The text with its control strings replaced, but for thinking tags where these are meant."""
        if not placeholders:
            return text
        kept = _THINKING if keep_thinking else ()

        def replace(match: re.Match[str]) -> str:
            return match.group() if match.group() in kept else placeholders[match.group()]

        return self._pattern.sub(replace, text)

    def encode(self, marked: str, placeholders: Mapping[str, str], after: After = "start") -> list[int]:
        """The ids of rendered text: those of direct tokenization, but placeholders become ordinary tokens.

        A run that begins at the start or with a control token and holds no placeholder is encoded in one call; any
        other stretch, up to the next control token, on its own.
        """
        originals = {character: string for string, character in placeholders.items()}
        pieces = self._pieces(marked)
        ids: list[int] = []
        run = ""
        for index, (control, stretch) in enumerate(pieces):
            run += control
            if originals.keys().isdisjoint(stretch) and (control or after == "start"):
                run += stretch
                continue
            ids += self._native(run)
            run = ""
            text = "".join(originals.get(character, character) for character in stretch)
            if control and self._added[control].rstrip:
                text = text.lstrip()
            if index + 1 < len(pieces) and self._added[pieces[index + 1][0]].lstrip:
                text = text.rstrip()
            ids += self._plain(text, "control" if control else after)
        return ids + self._native(run)

    def _pieces(self, text: str) -> list[tuple[str, str]]:
        """Each control string with the text behind it, in order; the first has none in front."""
        starts = [(match.start(), match.end()) for match in self._pattern.finditer(text)]
        ends = [start for start, _ in starts] + [len(text)]
        behind = [("", text[: ends[0]])]
        return behind + [(text[start:end], text[end:stop]) for (start, end), stop in zip(starts, ends[1:], strict=True)]

    def _plain(self, text: str, after: After) -> list[int]:
        """Ids without a control token, whatever the text says."""
        ids = self._ordinary(text, after)
        if self.strings.keys().isdisjoint(ids):
            return ids
        cuts = [0, *(match.start() + 1 for match in self._pattern.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(cuts)]
        return [
            token_id
            for index, part in enumerate(parts)
            for token_id in self._ordinary(part, "text" if index else after)
        ]

    def _ordinary(self, text: str, after: After) -> list[int]:
        """Ids of a stretch, special tokens not looked for, without the space some tokenizers put at a start."""
        starts = after == "start" or (after == "control" and self._prefix_behind_control)
        if self._adds_prefix and not starts:
            for guard in _GUARDS:
                front, both = self._call(guard, split=True), self._call(guard + text, split=True)
                if both[: len(front)] == front:
                    return both[len(front) :]
        return self._call(text, split=True)

    def _native(self, text: str) -> list[int]:
        return self._call(text, split=False)

    def _call(self, text: str, split: bool) -> list[int]:
        if not text:
            return []
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, split_special_tokens=split)["input_ids"]
        return ids
