"""Finds, in a text that only grows, where it can be cut so that what lies before is laid out for good. Knows no Qt."""

from __future__ import annotations

import re

from desktop.transcript.blocks import Cut

LONG_TEXT, LONG_LIST, LONG_CODE = 4_000, 800, 200
"""From this length on, text is also cut between its lines, lists before an item, and code behind a line.

Code is cut in the end of a line: the line feed belongs to what follows.
"""
LONG_LINE = 3_000
"""A longer line is cut, behind a space if there is one."""
CELLS = 40
"""A table is cut between its rows every so many cells."""
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_BEGINS_TEXT = re.compile(r"\w")
_BEGINS_ITEM = re.compile(r"[-*+] |\d{1,9}[.)] ")
_RULE_OF_TABLE = re.compile(r" {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_DECIDED = 2
"""So many characters of a line tell that it begins a new paragraph."""


class Cutter:
    """Each line is looked at once. Everything before the last cut is whole paragraphs, list items, code and rows.

    ``start`` is where the text to be cut begins.
    """

    def __init__(self, start: int = 0) -> None:
        self.cut = Cut(start)
        self._at = start
        self._open = ""
        self._fence = ""
        self._is_outer = False
        self._code_line = self._code_end = self._code_cut = -1
        self._after_blank = False
        self._line_before = ""
        self._head = ""
        self._rows = 0
        self._most_rows = 0

    @property
    def is_in_code(self) -> bool:
        """Whether what comes next is code."""
        return bool(self._open)

    def advance(self, text: str, end: int | None = None) -> list[Cut]:
        """Look at what was added to ``text`` before ``end``; the new cuts."""
        end = len(text) if end is None else end
        cuts = []
        while self._at < end:
            stop = text.find("\n", self._at, end)
            line = text[self._at : end if stop < 0 else stop]
            if stop < 0 and len(line) < _DECIDED:
                break
            if self._may_cut_before(line):
                self.cut = Cut(self._at, self._fence if self._open else self._head if self._rows else "")
                self._rows = min(self._rows, 1)
                cuts.append(self.cut)
            if self._open and line.strip() and not line.lstrip().startswith(self._open[0]):
                if self._code_line != self._at:
                    self._code_line, self._code_cut = self._at, self._code_end
                self._code_end = self._at + len(line)
            while (end if stop < 0 else stop) - max(self._at, self.cut.at) > LONG_LINE:
                self.cut = self._cut_in_line(text, max(self._at, self.cut.at))
                cuts.append(self.cut)
            if stop < 0:
                break
            self._at = stop + 1
            self._look_at(line)
        if self._open and self._is_outer and self._code_cut - self.cut.at > LONG_CODE:
            self.cut = Cut(self._code_cut, self._fence)
            cuts.append(self.cut)
        return cuts

    def _cut_in_line(self, text: str, start: int) -> Cut:
        end = start + LONG_LINE
        space = text.rfind(" ", start + LONG_LINE // 2, end)
        if space >= 0:
            end = space + 1
        elif "\ud800" <= text[end - 1] <= "\udbff":
            end -= 1  # not between the halves of a character
        self._head, self._rows = "", 0
        return Cut(end, self._fence if self._open else "", in_line=True)

    def _may_cut_before(self, line: str) -> bool:
        length = self._at - self.cut.at
        if self._open or not line or line[0].isspace() or length <= 0:
            return False
        if self._head:
            return self._rows > self._most_rows
        if self._after_blank:
            return True
        if _BEGINS_ITEM.match(line):
            return length > LONG_LIST
        return length > LONG_TEXT and _BEGINS_TEXT.match(line) is not None

    def _look_at(self, line: str) -> None:
        fence = FENCE.match(line)
        if self._open:
            if fence and fence[1].startswith(self._open) and not line[fence.end() :].strip():
                if self._is_outer:
                    self._after_blank = True  # what follows is laid out apart from the code
                self._open = ""
                return
        elif fence:
            self._open, self._fence = fence[1], line + "\n"
            self._code_line = self._code_end = self._code_cut = -1
            self._is_outer = not line[0].isspace()
            self._head = ""
        elif not line.strip() or line[0] in "#>":
            self._head = ""
        elif self._head:
            self._rows += 1
        elif "|" in line and "|" in self._line_before and _RULE_OF_TABLE.match(line):
            self._head = f"{self._line_before}\n{line}\n"
            self._rows = 1
            self._most_rows = max(4, CELLS // max(1, line.count("|") - 1))
        if not self._head:
            self._rows = 0
        self._after_blank = not self._open and not line.strip()
        self._line_before = line if not self._open else ""
