"""Where a reply's thinking ends and its answer begins, kept up as the text grows. Knows nothing of Qt."""

from __future__ import annotations

from inference.text.thinking import CLOSING, OPENING, ThinkingSplitter


class Thought:
    """``start`` and ``end`` bound the thinking in the text, ``answer`` is where the answer begins.

    ``start`` is -1 without any thinking, ``answer`` -1 while there is no answer yet. ``opened`` says that the prompt
    itself opened the thinking; None, that nobody knows, and the text must tell.
    """

    def __init__(self, opened: bool | None) -> None:
        self._opened = opened
        self._splitter = ThinkingSplitter(False)
        self._is_opened = False
        self._read = 0
        self._is_over = False
        self.start = self.answer = -1
        self.end = 0
        self._begin("")

    def read(self, text: str, *, is_over: bool) -> None:
        """Look at what was added to ``text`` since the last time; ``is_over`` says that no more will come."""
        if is_over != self._is_over or len(text) < self._read:
            self._begin(text)
        if len(text) == self._read and is_over == self._is_over:
            return
        parts = self._splitter.push(text[self._read :])
        self._read = len(text)
        if is_over:
            parts += self._splitter.finish()
            self._is_over = True
        for part, words in parts:
            if part == "thinking":
                if self.start < 0:
                    self._find_start(text)
                self.end += len(words)
            elif self.answer < 0:
                if self.start < 0 and (self._is_opened or text.lstrip().startswith(OPENING)):
                    self._find_start(text)
                self.answer = self.end + len(CLOSING) if self.start >= 0 else 0
        if is_over and self.start >= 0 and self.answer < 0 and text.startswith(CLOSING, self.end):
            self.answer = self.end + len(CLOSING)

    @property
    def is_open(self) -> bool:
        """Whether there is thinking that no answer followed yet."""
        return self.start >= 0 and self.answer < 0

    def _begin(self, text: str) -> None:
        opened = _seems_opened(text) if self._opened is None else self._opened
        self._splitter = ThinkingSplitter(opened)
        self._is_opened = opened
        self._read = 0
        self._is_over = False
        self.start = self.answer = -1
        self.end = 0

    def _find_start(self, text: str) -> None:
        if self._is_opened:
            self.start = self.end = 0
            return
        tag = text.find(OPENING)
        self.start = tag + len(OPENING)
        self.end = self.start - tag  # white space before the tag counts as thinking


def _seems_opened(text: str) -> bool:
    """Whether a text of which nothing else is known ends a thinking that it did not begin."""
    if text.lstrip().startswith(OPENING) or CLOSING not in text:
        return False
    splitter = ThinkingSplitter(True)
    return any(part == "answer" for part, _ in splitter.push(text) + splitter.finish())
