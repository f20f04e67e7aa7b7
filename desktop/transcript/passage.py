"""Where the text of one reply stands in the document, in both directions. Knows nothing of Qt."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.transcript.blocks import Cut
from desktop.transcript.cutter import Cutter
from desktop.transcript.uncoloured import Uncoloured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.conversation import Turn
    from desktop.reply import Reply, Span
    from desktop.transcript.blocks import Block
    from desktop.transcript.formats import Formats


@dataclass(slots=True)
class Segment:
    """``length`` characters from ``source`` on stand at ``position``, counted from the start of the stretch.

    They take ``width`` places: one for a formula, ``length`` for text.
    """

    source: int
    position: int
    length: int
    width: int


class Stretch:
    """A part of a reply, its thinking or its answer, in the document between ``start`` and ``end``.

    It is laid out for good up to ``settled``; what lies behind, up to ``shown``, are the ``open_blocks``, each with its
    position from ``start`` on. ``state`` goes with the last cut. ``codes`` wait for their colours.
    """

    def __init__(self, start: int, source: int) -> None:
        self.start = self.end = start
        self.cutter = Cutter(source)
        self.settled = Cut(source)
        self.state: tuple[int, ...] = ()
        self.shown = source
        self.open_blocks: list[tuple[Block, int]] = []
        self.codes: list[Uncoloured] = []
        self._segments: list[Segment] = []
        self._is_coloured = False

    def shift(self, by: int) -> None:
        """The document grew before this stretch."""
        self.start += by
        self.end += by

    def add(self, source: int, position: int, length: int, width: int | None = None) -> None:
        """Note where text stands in the document; sources and positions must rise."""
        last = self._segments[-1] if self._segments else None
        place = position - self.start
        is_text = width is None or width == length
        joins = last is not None and last.source + last.length == source and last.position + last.width == place
        if last is not None and joins and is_text and last.width == last.length:
            last.length += length
            last.width += length
        elif length:
            self._segments.append(Segment(source, place, length, length if width is None else width))

    def begin_code(self, position: int, language: str, formats: Formats) -> None:
        """Code will be written from a position on; the codes before are complete."""
        self.codes = [code for code in self.codes if not code.is_done]
        if language:
            self.codes.append(Uncoloured(position - self.start, language, formats))
        self._is_coloured = bool(language)

    def add_code(self, position: int, text: str) -> None:
        """Note code that was written behind the last one."""
        if self.codes and self._is_coloured:
            self.codes[-1].add(position - self.start, text)

    def drop_code(self, code: Uncoloured) -> None:
        """It will have no colours."""
        if code in self.codes:
            self._is_coloured &= code is not self.codes[-1]
            self.codes.remove(code)

    def forget(self, position: int) -> None:
        """Forget what stands at or behind a position counted from the start; segments begin where blocks do."""
        for code in self.codes:
            code.forget(position)
        self.codes = [code for code in self.codes if not code.is_gone]
        while self._segments and self._segments[-1].position >= position:
            self._segments.pop()
        if self._segments:
            last = self._segments[-1]
            if last.position + last.width > position:
                last.length = last.width = position - last.position

    def ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Document positions of ``text[start:end]`` of the reply, as far as it is shown."""
        first = max(0, bisect_right(self._segments, start, key=lambda s: s.source) - 1)
        for segment in self._segments[first:]:
            if segment.source >= end:
                break
            low, high = max(start, segment.source), min(end, segment.source + segment.length)
            if low < high:
                at = self.start + segment.position
                if segment.width == segment.length:
                    yield at + low - segment.source, at + high - segment.source
                else:
                    yield at, at + segment.width

    def source_at(self, position: int) -> int:
        """The offset in the reply of the character at or before a document position."""
        at = bisect_right(self._segments, position - self.start, key=lambda s: s.position) - 1
        if at < 0:
            return self.cutter.cut.at if not self._segments else self._segments[0].source
        segment = self._segments[at]
        inside = position - self.start - segment.position
        if segment.width != segment.length:
            return segment.source + (segment.length if inside >= segment.width else 0)
        return segment.source + min(inside, segment.length)

    def position_of(self, source: int) -> int:
        """The document position of an offset in the reply, or of the next character that is shown."""
        at = max(0, bisect_right(self._segments, source, key=lambda s: s.source) - 1)
        for segment in self._segments[at : at + 2]:
            if source <= segment.source + segment.length:
                inside = max(0, source - segment.source)
                if segment.width != segment.length:
                    inside = 0 if inside < segment.length else segment.width
                return self.start + segment.position + inside
        if not self._segments:
            return self.start
        return self.start + self._segments[-1].position + self._segments[-1].width

    def spans_between(self, spans: list[Span], position: int, end: int) -> Iterator[tuple[int, int, Span]]:
        """Those of ``spans`` that touch these document positions, with their own positions."""
        at = max(0, bisect_right(self._segments, position - self.start, key=lambda s: s.position) - 1)
        for segment in self._segments[at:]:
            place = self.start + segment.position
            if place >= end:
                break
            if segment.width != segment.length:
                low, high = segment.source, segment.source + segment.length
            else:
                low = segment.source + max(0, position - place)
                high = segment.source + min(segment.length, end - place)
            first = max(0, bisect_right(spans, low, key=lambda s: s.start) - 1)
            for index in range(first, len(spans)):
                span = spans[index]
                if span.start >= high:
                    break
                start, stop = max(low, span.start), min(high, span.end)
                if start < stop and segment.width != segment.length:
                    yield place, place + segment.width, span
                    break
                if start < stop:
                    yield start + place - segment.source, stop + place - segment.source, span


class Passage:
    """One reply in the document: the line that stands for its thinking, the thinking if it is unfolded, the answer.

    ``title`` is what that line says, and begins at ``start``.
    """

    def __init__(self, reply: Reply, start: int, turn: Turn | None = None) -> None:
        self.reply = reply
        self.turn = turn
        self.start = start
        self.title = ""
        self.thinking: Stretch | None = None
        self.answer: Stretch | None = None

    def shift(self, by: int) -> None:
        """The document grew before this reply."""
        self.start += by
        for stretch in self.stretches:
            stretch.shift(by)

    @property
    def stretches(self) -> list[Stretch]:
        """What is laid out of the reply, in order."""
        return [stretch for stretch in (self.thinking, self.answer) if stretch is not None]

    def ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Document positions of ``text[start:end]`` of the reply, as far as it is shown."""
        for stretch in self.stretches:
            yield from stretch.ranges(start, end)

    def spans_between(self, position: int, end: int) -> Iterator[tuple[int, int, Span]]:
        """Spans of the reply that touch these document positions, with their own positions."""
        for stretch in self.stretches:
            if stretch.start < end and position <= stretch.end:
                yield from stretch.spans_between(self.reply.spans, position, end)
