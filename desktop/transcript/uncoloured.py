"""Code of one fence as far as its words have no colours yet. Knows nothing of Qt, and no language."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.transcript.formats import Formats

MOST_ASKED = 4_000
"""So many characters are asked for at once, but always a whole line."""


class Uncoloured:
    """``pieces`` are text and where it stands, counted from the start of the stretch; between two there is a gap.

    ``start`` is where the code begins, counted likewise, and ``is_gone`` says that it does not stand there any more.
    ``states`` are the lexer's before the first of them. ``asked`` are the whole lines and the line begun that colours
    are awaited for; ``coloured`` counts the characters of a line begun that have some already.
    """

    def __init__(self, start: int, language: str, formats: Formats) -> None:
        self.start = start
        self.is_gone = False
        self.language = language
        self.formats = formats
        self.pieces: deque[tuple[int, str]] = deque()
        self.states: tuple[str, ...] = ()
        self.asked: tuple[str, str] | None = None
        self.coloured = 0
        self._begun = ""

    def add(self, position: int, text: str) -> None:
        """More code, at this position."""
        if self.pieces and self.pieces[-1][0] + len(self.pieces[-1][1]) == position:
            before, words = self.pieces[-1]
            self.pieces[-1] = before, words + text
        elif text:
            self.pieces.append((position, text))

    def forget(self, position: int) -> None:
        """Forget what stands at or behind a position."""
        self.is_gone = position <= self.start
        if self.pieces and (self.is_gone or position < self.pieces[0][0]):
            self.states = ()  # those in the middle of what is gone are not known any more
        while self.pieces and self.pieces[-1][0] >= position:
            self.pieces.pop()
        if self.pieces:
            at, text = self.pieces[-1]
            self.pieces[-1] = at, text[: position - at]
        self.asked, self._begun, self.coloured = None, "", 0

    @property
    def is_done(self) -> bool:
        """Whether all of it has its colours, or as much as was asked for."""
        return self.asked is None and not any(text for _, text in self.pieces)

    def ask(self) -> tuple[str, str] | None:
        """What colours are wanted for now: whole lines, and a line begun; None where nothing has changed."""
        if self.asked is not None or not self.pieces:
            return None
        text = self.pieces[0][1]
        if len(self.pieces) > 1 and not text.endswith("\n"):
            text += "\n"
        end = text.rfind("\n", 0, MOST_ASKED) + 1 or text.find("\n") + 1
        lines, begun = text[:end], "" if text.find("\n", end) >= 0 else text[end:]
        if not lines and (begun == self._begun or not begun.strip()):
            return None
        self.asked, self._begun = (lines, begun), begun
        return self.asked

    def take(self, states: tuple[str, ...]) -> None:
        """The colours that were asked for are there."""
        if self.asked is None:
            return
        lines, begun = self.asked
        self.asked = None
        self.coloured = len(begun)
        if lines:
            at, text = self.pieces[0]
            self.states = states
            self.pieces[0] = at + len(lines), text[len(lines) :]
            if not self.pieces[0][1] and len(self.pieces) > 1:
                self.pieces.popleft()
                self.states = ()
