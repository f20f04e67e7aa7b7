"""Who drafts and how far: the user's settings at every round, several drafters beside each other, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inference.draft_length import Acceptance, DraftLength, RoundTimes
from inference.drafters.base import Draft
from inference.drafters.ngram import NgramDrafter
from inference.drafters.offered import Offer, Offered
from inference.drafters.option import Option
from inference.drafting import Drafting, Learned
from inference.measure import StepTimes
from inference.messages import Notice
from inference.sampling import Sampler
from inference.settings import Control, Sampling, Speculation
from inference.sources import LookUp, Model
from tests.inference.test_draft_length import outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

IDS = list(range(100))
SAMPLER = Sampler(Sampling(temperature=0), 0, [])


class Fake:
    """Drafts its own number."""

    def __init__(self, name: str, token: int) -> None:
        self.name = name
        self._token = token

    def propose(self, ids: Sequence[int], k: int, sampler: Sampler) -> Draft:
        return Draft.chain([self._token] * k)


def offered(**step_ms: float) -> Offered:
    found = Offered()
    for token, (name, ms) in enumerate(step_ms.items()):
        found.add(Offer(Fake(name, token), ms))
    return found


def learned() -> Learned:
    return Learned(RoundTimes(StepTimes((10.0, 10.0), tuple(10 + 0.2 * k for k in range(9)), 0.0)))


def drafting(control: Control | None = None, **step_ms: float) -> Drafting:
    return Drafting(offered(**(step_ms or {"twin": 2.0})), "twin", learned(), control or Control())


def test_fixed_k_drafts_exactly_that() -> None:
    one = drafting(Control(Speculation(k=3)))
    assert [one.plan(IDS, 8), one.plan(IDS, 2)] == [3, 2]


def test_the_switch_takes_effect_at_the_next_round() -> None:
    control = Control(Speculation(k=4))
    one = drafting(control)
    assert one.plan(IDS, 8) == 4
    control.speculation = Speculation(on=False)
    assert one.plan(IDS, 8) == 0
    control.speculation = Speculation(k=2)
    assert one.plan(IDS, 8) == 2


def test_another_drafter_drafts_from_the_next_round_on() -> None:
    control = Control(Speculation(k=2))
    one = drafting(control, twin=2.0, ngram=0.0)
    drafts = []
    for name in (None, "ngram", "twin", "none", "ngram"):
        control.speculation = Speculation(k=2, drafter=name)
        k = one.plan(IDS, 8)
        drafts.append((one.name, one.propose(IDS, k, SAMPLER).tokens if k else ()))
    assert drafts == [("twin", (0, 0)), ("ngram", (1, 1)), ("twin", (0, 0)), ("none", ()), ("ngram", (1, 1))]


def test_a_drafter_that_comes_later_is_used_from_then_on() -> None:
    found = Offered()
    found.refuse("twin", Notice("drafter.no_linear"))
    one = Drafting(found, "twin", learned(), Control(Speculation(k=2)))
    assert one.plan(IDS, 8) == 0
    assert one.status(outcome(0, 0)) == Notice("speculation.none", {"reason": "drafter.no_linear"})
    found.add(Offer(Fake("twin", 5), 1.0))
    assert one.plan(IDS, 8) == 2
    assert one.name == "twin"
    assert "twin" not in found.refused
    assert found.names == ("none", "twin", "auto")


def test_what_is_learned_of_one_drafter_says_nothing_of_another() -> None:
    control = Control()
    kept = learned()
    one = Drafting(offered(twin=2.0, ngram=0.1), "twin", kept, control)
    for name, survive in (("twin", 0), ("ngram", 8)) * 40:
        control.speculation = Speculation(drafter=name)
        k = one.plan(IDS, 8)
        done = outcome(k, min(k, survive), draft_ms={"twin": 2.0, "ngram": 0.1}[name])
        one.record(done if k == 0 or name == "twin" else _by(done, "ngram"))
    one.end()
    assert kept.acceptance["twin"].pooled() < 0.3
    assert kept.acceptance["ngram"].pooled() > 0.9
    assert kept.times.draft("ngram", 100, 9.0) == pytest.approx(0.1)
    assert kept.times.draft("twin", 100, 9.0) == pytest.approx(2.0)
    again = Drafting(offered(twin=2.0, ngram=0.1), "ngram", kept, Control())
    assert again.plan(IDS, 8) == 8


def _by(done: object, name: str) -> object:
    from dataclasses import replace

    return replace(done, drafter=name)  # type: ignore[type-var]


def test_status_says_what_happens_and_why() -> None:
    control = Control(Speculation(k=4))
    one = drafting(control)
    ids = []
    for _ in range(5):
        k = one.plan(IDS, 8)
        one.record(outcome(k, 4, draft_ms=1.0))
        ids.append(one.status(outcome(k, 4)).id)
    assert ids == ["speculation.measuring"] * 3 + ["speculation.on"] * 2
    speedup = one.status(outcome(4, 4)).values["speedup"]
    assert speedup == pytest.approx(5 / 14 * 10)
    control.speculation = Speculation(on=False)
    assert one.status(outcome(0, 0)).id == "speculation.off"
    control.speculation = Speculation(k=0)
    assert one.status(outcome(0, 0)).id == "speculation.zero"
    resting = drafting(twin=20.0)
    for _ in range(30):
        k = resting.plan(IDS, 8)
        resting.record(outcome(k, 0, draft_ms=20.0))
    assert resting.status(outcome(0, 0)).id == "speculation.resting"
    control.speculation = Speculation(drafter="ngram")
    assert one.status(outcome(0, 0)) == Notice("speculation.none", {"reason": "drafter.not_made"})


def test_a_hurried_source_drafts_less_the_dearer_time_is() -> None:
    times = learned().times
    model = Model("twin", DraftLength("twin", times, Acceptance(), 5.0))
    repeated = [*range(40), *range(20)]
    look_up = LookUp(NgramDrafter(frozenset()), times, trees=False, others=False)
    for source, ids in ((model, IDS), (look_up, repeated)):
        best = source.best(ids, 8)
        found = [source.hurried(ids, best, best.speed * dearer) for dearer in (1.0, 1.3, 1.6, 40.0)]
        lengths = [option.k for option in found]
        assert lengths[0] == best.k > 0 and lengths == sorted(lengths, reverse=True) and lengths[-1] == 0
        assert found[0].speed == pytest.approx(best.speed)
        for option in found:
            assert option.draft is None or len(option.draft.tokens) == option.k
    tried = Option("twin", 1, 1.2, 18.0, is_try=True)
    assert model.hurried(IDS, tried, 40.0) is tried


def test_a_look_up_of_fixed_k_drafts_so_many_tokens_in_a_tree_where_it_may_branch() -> None:
    ids = [7, 1, 4, 7, 2, 5, 7]
    chain, tree = (
        LookUp(NgramDrafter(frozenset()), learned().times, trees=trees, others=False).fixed(ids, 3).draft
        for trees in (False, True)
    )
    assert chain is not None and (chain.tokens, chain.parents) == ((2, 5, 7), (-1, 0, 1))
    assert tree is not None and (tree.tokens, tree.parents) == ((2, 1, 5), (-1, -1, 0))
