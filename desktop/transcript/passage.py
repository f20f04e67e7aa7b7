"""Where the text of one reply stands in the document, in both directions. Knows nothing of Qt."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.transcript.markdown import Cutter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.conversation import Turn
    from desktop.reply import Reply, Span


@dataclass(slots=True)
class Segment:
    """``length`` characters from ``source`` on in the reply stand at ``position`` in the document."""

    source: int
    position: int
    length: int


class Passage:
    """One reply in the document: laid out for good up to ``settled``, plain from there to ``shown``.

    ``fence`` is the mark of code that is open at ``settled``; ``tail`` is the position where the plain part begins.
    """

    def __init__(self, reply: Reply, start: int, turn: Turn | None = None) -> None:
        self.reply = reply
        self.turn = turn
        self.start = start
        self.cutter = Cutter()
        self.settled = 0
        self.fence = ""
        self.shown = 0
        self.tail = start
        self._segments: list[Segment] = []

    def add(self, source: int, position: int, length: int) -> None:
        """Note where text stands; sources and positions must rise."""
        last = self._segments[-1] if self._segments else None
        if last and last.source + last.length == source and last.position + last.length == position:
            last.length += length
        elif length:
            self._segments.append(Segment(source, position, length))

    def forget_tail(self) -> None:
        """Forget where everything from ``settled`` on stands."""
        while self._segments and self._segments[-1].source >= self.settled:
            self._segments.pop()

    def ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Document positions of ``text[start:end]`` of the reply, as far as it is shown."""
        first = max(0, bisect_right(self._segments, start, key=lambda s: s.source) - 1)
        for segment in self._segments[first:]:
            if segment.source >= end:
                break
            low, high = max(start, segment.source), min(end, segment.source + segment.length)
            if low < high:
                yield segment.position + low - segment.source, segment.position + high - segment.source

    def source_at(self, position: int) -> int:
        """The offset in the reply of the character at or before a document position."""
        at = bisect_right(self._segments, position, key=lambda s: s.position) - 1
        if at < 0:
            return 0
        segment = self._segments[at]
        return segment.source + min(position - segment.position, segment.length)

    def position_of(self, source: int) -> int:
        """The document position of an offset in the reply, or of the next character that is shown."""
        at = max(0, bisect_right(self._segments, source, key=lambda s: s.source) - 1)
        for segment in self._segments[at : at + 2]:
            if source <= segment.source + segment.length:
                return segment.position + max(0, source - segment.source)
        return self._segments[-1].position + self._segments[-1].length if self._segments else self.start

    def spans_between(self, position: int, end: int) -> Iterator[tuple[int, int, Span]]:
        """Spans of the reply that touch these document positions, with their own positions."""
        spans = self.reply.spans
        at = max(0, bisect_right(self._segments, position, key=lambda s: s.position) - 1)
        for segment in self._segments[at:]:
            if segment.position >= end:
                break
            low = segment.source + max(0, position - segment.position)
            high = segment.source + min(segment.length, end - segment.position)
            shift = segment.position - segment.source
            first = max(0, bisect_right(spans, low, key=lambda s: s.start) - 1)
            for index in range(first, len(spans)):
                span = spans[index]
                if span.start >= high:
                    break
                start, stop = max(low, span.start), min(high, span.end)
                if start < stop:
                    yield start + shift, stop + shift, span
