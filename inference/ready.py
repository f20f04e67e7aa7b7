"""A loaded model with everything that a reply needs, in one of the modes that work here. Knows nothing of loading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from inference.engine import Engine
from inference.events import Bits, DraftersChanged, Loaded, Notice
from inference.memory import taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.drafters.offered import Offered
    from inference.exact import Width
    from inference.measure import StepTimes
    from inference.model import TextModel
    from inference.shortage import Relief
    from inference.text.template import ChatTemplate
    from inference.twins import TwinMaker


@dataclass(frozen=True, slots=True)
class Mode:
    """A width of passes, what steps cost at it, and the identity of the bits it gives."""

    width: Width
    times: StepTimes
    identity: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything a reply needs. ``times`` are of the mode in force.

    ``offered`` holds every drafter the model has; one that is made later is added to it. ``modes`` holds all that work
    here, by name: fast always, exact where it was wanted or left open and found. ``relief`` gives parts up where memory
    runs out.
    """

    model: TextModel
    template: ChatTemplate
    ends: frozenset[int]
    engine: Engine
    offered: Offered
    times: StepTimes
    modes: Mapping[Literal["exact", "fast"], Mode]
    loaded: Loaded
    relief: Relief

    @property
    def maker(self) -> TwinMaker | None:
        """What makes the twin, None where none is wanted or possible, or it was given up."""
        return self.relief.maker

    def taken(self) -> dict[str, int]:
        """Bytes of each part as it is now."""
        card = self.relief.card
        return taken(self.model.model, self.engine.forward, self.engine.cache, self.offered, card)

    def relieved(self) -> Ready:
        """The same as it is behind a step of the relief, which may have cut the context."""
        loaded = replace(
            self.loaded,
            context=self.engine.cache.context,
            drafters=self.offered.names,
            refused=self.offered.refused,
            no_drafter=None if self.offered.can(self.loaded.drafter) else self.offered.reason(self.loaded.drafter),
            taken=self.taken(),
            given_up=tuple(self.relief.given_up),
            recipes=recipes_of(self.relief),
        )
        return replace(self, loaded=loaded)

    @property
    def bits(self) -> Bits | None:
        """Those of the twin, None without one."""
        offer = self.offered.find("twin")
        return offer.bits if offer else None

    def drafters_changed(self) -> DraftersChanged:
        """To be told when a drafter came or went."""
        return DraftersChanged(self.offered.names, self.offered.refused, self.taken(), recipes_of(self.relief))

    def in_mode(self, name: Literal["exact", "fast"]) -> Ready:
        """The same model in another mode, on the same cache, with an empty chat: its bits belong to the old mode."""
        mode = self.modes[name]
        engine = self.engine
        loaded = replace(
            self.loaded,
            mode=name,
            mode_notice=Notice("exact.on" if name == "exact" else "exact.off_chosen"),
            width=mode.width.plain,
            largest_k=mode.width.largest - 1,
            identity=mode.identity,
        )
        rounds = engine.rounds
        engine = Engine(engine.forward, engine.cache, mode.width, engine.device)
        engine.rounds = rounds
        return replace(self, engine=engine, times=mode.times, loaded=loaded)


def recipes_of(relief: Relief) -> tuple[Notice, ...]:
    """What the twin's recipe was measured to give, then the others', the fastest first; empty where none was chosen."""
    maker = relief.maker
    if maker is None or maker.choice is None:
        return ()
    recipe = maker.recipe if maker.record is None else maker.record.recipe
    mine = [one for one in maker.choice.candidates if one.recipe == recipe]
    others = [one for one in maker.choice.candidates if one.recipe != recipe and one.fits]
    return tuple(
        Notice(
            "twin.chosen" if one in mine else "twin.candidate",
            {"recipe": one.recipe, "cost": one.cost, "accepted": 100 * one.acceptance, "speed": one.speed},
        )
        for one in [*mine[:1], *others]
    )
