"""Earlier messages that can be had again with the arrow keys, and the way back to what was being written. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Recall:
    """``prompts`` gives what was asked, newest first; it is called when the way back begins."""

    def __init__(self, prompts: Callable[[], list[str]] = list) -> None:
        self.prompts = prompts
        self._found: list[str] = []
        self._place = -1
        self._begun = ""

    def is_at(self, text: str) -> bool:
        """Whether ``text`` is an earlier message as it was, so that the arrow keys go on from it."""
        return self._place >= 0 and self._found[self._place] == text

    def earlier(self, text: str) -> str | None:
        """The message before ``text``; None where there is none."""
        if not self.is_at(text):
            self._found = [one for one in self.prompts() if one != text]
            self._place = -1
            self._begun = text
        if self._place + 1 >= len(self._found):
            return None
        self._place += 1
        return self._found[self._place]

    def later(self, text: str) -> str | None:
        """The message after ``text``, at last what was being written; None where ``text`` is no earlier message."""
        if not self.is_at(text):
            return None
        self._place -= 1
        return self._found[self._place] if self._place >= 0 else self._begun

    def forget(self) -> None:
        """Begin anew the next time."""
        self._place = -1
