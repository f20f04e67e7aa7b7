"""Stop strings in a stream: text is passed on as soon as no stop string can begin in it, and never taken back.

The stop that starts earliest in the text wins, as in a search over the whole text, however the text is cut into
pieces. Knows nothing of tokens; a tag of the caller's travels with each piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class StopScanner(Generic[T]):
    """Cuts a streamed text at the first of several stop strings.

    ``stopped`` becomes true when the winning stop is complete and certain. While a stop that starts earlier may still
    become complete, a later one that is complete already only holds the text back.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._longest = max(map(len, self._stops), default=0)
        self._text = ""
        self._held: list[tuple[str, T]] = []
        self.stopped = False

    @property
    def looks(self) -> bool:
        """Whether there is any stop string to look for."""
        return bool(self._stops)

    def copy(self) -> StopScanner[T]:
        """Another one that has heard the same."""
        other = StopScanner[T](self._stops)
        other._text, other._held, other.stopped = self._text, list(self._held), self.stopped
        return other

    def push(self, text: str, tag: T) -> list[tuple[str, T]]:
        """The pieces that became safe to show, with their tags; nothing at or behind a stop."""
        if self.stopped or not text:
            return []
        self._text += text
        self._held.append((text, tag))
        complete = self._complete()
        pending = self._pending()
        if complete is not None and (pending is None or complete <= pending):
            self.stopped = True
            return self._release(complete)
        return self._release(len(self._text) if pending is None else pending)

    def finish(self) -> list[tuple[str, T]]:
        """The held rest, for a reply that ended by itself."""
        if self.stopped:
            return []
        complete = self._complete()
        self.stopped = complete is not None
        return self._release(len(self._text) if complete is None else complete)

    def _complete(self) -> int | None:
        """Where the earliest complete stop starts."""
        starts = [start for stop in self._stops if (start := self._text.find(stop)) >= 0]
        return min(starts, default=None)

    def _pending(self) -> int | None:
        """Where the earliest start of a stop lies that the end of the text cuts off."""
        for start in range(max(0, len(self._text) - self._longest + 1), len(self._text)):
            tail = self._text[start:]
            if any(len(tail) < len(stop) and stop.startswith(tail) for stop in self._stops):
                return start
        return None

    def _release(self, end: int) -> list[tuple[str, T]]:
        """Take the first ``end`` characters out of the held pieces."""
        self._text = self._text[end:]
        released: list[tuple[str, T]] = []
        while end > 0:
            text, tag = self._held.pop(0)
            released.append((text[:end], tag))
            if len(text) > end:
                self._held.insert(0, (text[end:], tag))
            end -= len(text)
        return released
