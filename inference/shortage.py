"""What is given up when memory runs out, and in which order: the one place that says so and does it.

The model itself is never changed: other weights write other words. What was taken is let go before anything else is
tried. Knows nothing of how parts are loaded or of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from inference import freeing
from inference.messages import Notice, Problem
from inference.models import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from inference.card import Card
    from inference.drafters.offered import Offered
    from inference.kv_cache import KVCache
    from inference.twins import TwinMaker

Yielded = TypeVar("Yielded")
Result = TypeVar("Result")

ORDER = ("graphs", "recipe", "twin", "context")
"""From what costs least to miss: a card's graphs, bits of the twin, the twin, half of the context, again and again."""


def is_lack(error: BaseException) -> bool:
    """Whether memory ran out, or something was not begun for want of it."""
    if isinstance(error, Problem):
        return error.notice.id == "error.twin_memory"
    return freeing.is_out_of_memory(error)


def notice_of(error: BaseException) -> Notice:
    """What a person hears of a lack of memory."""
    return error.notice if isinstance(error, Problem) else freeing.told(error)


class Relief:
    """Of one loaded model: what can still be given up. ``maker`` is None where no twin is wanted or possible.

    ``width`` is the bytes of an activation; ``given_up`` holds what was, in order. The context is not cut where
    ``cuts_context`` is false: a running state has none.
    """

    def __init__(self, cache: KVCache, offered: Offered, width: int, *, cuts_context: bool) -> None:
        self.given_up: list[Notice] = []
        self.card: Card | None = None
        self.maker: TwinMaker | None = None
        self._cache = cache
        self._offered = offered
        self._width = width
        self._cuts_context = cuts_context

    def until_it_fits(
        self, work: Callable[[], Generator[Yielded, None, Result]], said: Callable[[Notice], Yielded]
    ) -> Generator[Yielded, None, Result]:
        """Do the work, again with one thing less whenever memory runs out; yields what it yields and what was said.

        Raises Problem when there is nothing left to give up.
        """
        while True:
            try:
                return (yield from work())
            except Exception as error:
                if not is_lack(error):
                    raise
                lack = notice_of(error)
            # The error is gone here, and with it the frames that hold what had been taken.
            freeing.release()
            notice = self.step()
            if notice is None:
                raise Problem(lack.id, **freeing.anew(lack).values)
            yield said(notice)

    def step(self, needed: int = 0, *, at_once: bool = False) -> Notice | None:
        """Give up the next thing in order and say it; None when there is nothing left.

        The context keeps room for more than ``needed`` tokens. ``at_once`` leaves out what would be made anew.
        """
        for name in ORDER:
            if name == "graphs":
                notice = self._graphs()
            elif name == "recipe":
                notice = None if at_once else self._recipe()
            elif name == "twin":
                notice = self._twin()
            else:
                notice = self._context(needed)
            if notice is not None:
                self.given_up.append(notice)
                freeing.release()
                return notice
        return None

    def _graphs(self) -> Notice | None:
        if self.card is None or not self.card.give_up_graphs():
            return None
        return Notice("memory.no_graphs")

    def _recipe(self) -> Notice | None:
        if self.maker is None:
            return None
        kind = "gpu" if self.maker.model.device.type == "cuda" else "ram"
        fewer = fit.fewer_bits(self.maker.recipe, kind, self._width)
        if fewer is None:
            return None
        self._let_go()
        self.maker.recipe = fewer
        return Notice("memory.fewer_bits", {"recipe": fewer})

    def _twin(self) -> Notice | None:
        if self.maker is None:
            return None
        self._let_go()
        self.maker = None
        self._offered.refuse("twin", Notice("drafter.no_memory"))
        return Notice("memory.no_twin")

    def _let_go(self) -> None:
        assert self.maker is not None
        self._offered.refuse("twin", Notice("drafter.not_made"))
        self.maker.forget()
        if self.card is not None:
            self.card.forget_twin()

    def _context(self, needed: int) -> Notice | None:
        context = self._cache.context // 2
        if not self._cuts_context or context < fit.SHORTEST_CONTEXT or context <= needed:
            return None
        if self.card is not None:
            self.card.begin_anew()
        self._cache.resize(context)
        return Notice("memory.less_context", {"context": context})
