"""Thinking and answer of a reply, told apart while it streams; the two together are the reply without its tags.

A tag that is only mentioned, in code or between backticks, is text. Knows nothing of tokens or templates.
"""

from __future__ import annotations

import re
from typing import Literal

OPENING = "<think>"
CLOSING = "</think>"

Part = Literal["thinking", "answer"]

_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)


def opens_thinking(rendered: str) -> bool:
    """Whether the prompt ends in an opening tag, so that the reply begins as thinking."""
    return rendered.rstrip().endswith(OPENING)


class ThinkingSplitter:
    """Splits streamed text at the tags. ``opened`` says that the prompt itself opened the thinking.

    Otherwise thinking begins only with an opening tag at the very start of the reply. It ends at the first closing tag
    outside code; everything behind that is answer, whatever it contains.
    """

    def __init__(self, opened: bool = False) -> None:
        self._state: Literal["start", "thinking", "answer"] = "thinking" if opened else "start"
        self._held = ""
        self._line = ""
        self._fence = ""

    def push(self, text: str) -> list[tuple[Part, str]]:
        """The pieces that are certain now, in order; none is empty."""
        self._held += text
        return self._parts(ended=False)

    def finish(self) -> list[tuple[Part, str]]:
        """The held rest, at the end of the reply."""
        return self._parts(ended=True)

    def _parts(self, ended: bool) -> list[tuple[Part, str]]:
        parts: list[tuple[Part, str]] = []
        if self._state == "start":
            self._start(ended)
        if self._state == "thinking" and (thinking := self._thinking(ended)):
            parts.append(("thinking", thinking))
        if self._state == "answer" and self._held:
            parts.append(("answer", self._held))
            self._held = ""
        return parts

    def _start(self, ended: bool) -> None:
        text = self._held.lstrip()
        if text.startswith(OPENING):
            self._held = self._held.replace(OPENING, "", 1)
            self._state = "thinking"
        elif ended or not OPENING.startswith(text):
            self._state = "answer"

    def _thinking(self, ended: bool) -> str:
        """The thinking up to the closing tag, or up to what may still become one."""
        taken = ""
        while self._state == "thinking" and self._held:
            tag = self._held.find(CLOSING)
            if tag < 0:
                end = len(self._held) if ended else len(self._held) - _overlap(self._held)
                return taken + self._take(end)
            taken += self._take(tag)
            mention = self._mention()
            if mention is None and not ended:
                return taken
            if mention:
                taken += self._take(len(CLOSING))
            else:
                self._held = self._held[len(CLOSING) :]
                self._state = "answer"
        return taken

    def _take(self, end: int) -> str:
        """Cut the first ``end`` characters off, keeping track of the line and of the fence they leave open."""
        text, self._held = self._held[:end], self._held[end:]
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self._pass_line(line)
        return text

    def _pass_line(self, line: str) -> None:
        if (match := _FENCE.match(line)) is None:
            return
        mark = match.group(1)
        if not self._fence:
            self._fence = mark
        elif mark == self._fence:
            self._fence = ""

    def _mention(self) -> bool | None:
        """Whether the tag at the start of the held text is code; None while the rest of its line decides."""
        if self._fence:
            return True
        if self._line.count("`") % 2 == 0:
            return False
        line, end, _ = self._held[len(CLOSING) :].partition("\n")
        if "`" in line:
            return True
        return False if end else None


def _overlap(text: str) -> int:
    """How many characters at the end of the text may begin a closing tag."""
    return next((n for n in range(min(len(text), len(CLOSING) - 1), 0, -1) if CLOSING.startswith(text[-n:])), 0)
