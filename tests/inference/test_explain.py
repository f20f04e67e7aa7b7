"""Past rounds laid open over a tiny model: what is told is what was decided, and the chat goes on unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from inference import verify as verification
from inference.bench.report import first_difference
from inference.drafters.base import Draft
from inference.events import Finished, Loaded, Round
from inference.explained import ROOT, Explained, ExplainFailed
from inference.messages import ENGLISH, Problem, fields
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.session_for_tests import load, save_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.verify import Verdict

GREEDY = Sampling(temperature=0)
WARM = Sampling(temperature=0.9, top_p=0.95, seed=5, repetition_penalty=1.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    session = Session()
    loaded = load(session, ModelChoice(model=str(folder), dtype="float32", context=600, exact=None))
    assert isinstance(loaded, Loaded)
    yield session
    session.close()


def write(session: Session, turn: int, sampling: Sampling, plan: Speculation, text: str = "hi") -> list[Any]:
    request = Request(turn, (Message("user", text),), sampling, 40)
    events = list(session.reply(request, Control(plan)))
    assert isinstance(events[-1], Finished), events[-1]
    return events


def rounds(events: list[Any]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


def explained(session: Session, turn: int, index: int) -> Explained:
    (found,) = session.explain(turn, index)
    assert isinstance(found, Explained), found
    return found


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
@pytest.mark.parametrize("rule", ["coupled", "textbook"])
@pytest.mark.parametrize("drafter", ["twin", "ngram"])
def test_every_round_is_told_as_it_was_decided(session: Session, sampling: Sampling, rule: str, drafter: str) -> None:
    events = write(session, 1, sampling, Speculation(k=3, rule=rule, drafter=drafter), "abc abc abc abc")
    seen: set[str] = set()
    for event in rounds(events):
        found = explained(session, 1, event.index)
        walk = found.walks[rule]
        assert found.is_same, event.index
        assert (found.rule, found.drafter, found.k, found.rounds) == (
            rule, event.drafter, event.k, len(rounds(events)),
        )  # fmt: skip
        assert sum(step.kind == "accepted" for step in walk) == event.accepted
        assert len(found.places) == event.drafted + 1
        kinds = tuple(step.kind for step in walk)[: len(event.origins)]
        assert kinds == event.origins
        assert "".join(found.emitted) != "" or not event.origins
        for step in walk:
            assert fields(ENGLISH[step.why.id]) <= step.why.values.keys()
            seen.add(step.why.id)
    assert len(seen) > 1


class Branching:
    """Drafts a tree: what the twin drafts, and beside each of its tokens another one."""

    def __init__(self, drafter: Any) -> None:
        self.name = drafter.name
        self._drafter = drafter

    def propose(self, ids: Any, k: int, sampler: Any) -> Draft:
        chain = self._drafter.propose(ids, k, sampler).tokens
        tokens = [token for one in chain for token in ((one + 1) % 200, one)]
        parents = [2 * depth - 1 for depth in range(len(chain)) for _ in range(2)]
        return Draft(tuple(tokens), tuple(parents))


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
@pytest.mark.parametrize("rule", ["coupled", "textbook"])
def test_a_tree_is_told_as_it_was_decided(folder: Path, sampling: Sampling, rule: str) -> None:
    session = Session()
    load(session, ModelChoice(model=str(folder), dtype="float32", context=600, exact=False))
    assert session.ready is not None
    offer = session.ready.offered.find("twin")
    assert offer is not None
    session.ready.offered.add(replace(offer, drafter=Branching(offer.drafter)))
    refused = 0
    for event in rounds(write(session, 1, sampling, Speculation(k=3, rule=rule, drafter="twin"), "abc abc")):
        found = explained(session, 1, event.index)
        walk = found.walks[rule]
        assert found.is_same, event.index
        assert tuple(step.kind for step in walk)[: len(event.origins)] == event.origins
        assert sum(step.kind == "accepted" for step in walk) == event.accepted
        assert [place.parent for place in found.places[1:3]] == [ROOT, ROOT][: event.drafted]
        refused += sum(step.hit is not None and len(step.offered) == 2 for step in walk)
    assert refused > 0, "one of two siblings was accepted, the other was not"
    session.close()


def test_a_place_shows_the_best_of_both_sides_and_what_was_drafted_and_chosen(session: Session) -> None:
    events = write(session, 1, WARM, Speculation(k=3, drafter="twin"))
    for event in rounds(events)[:6]:
        found = explained(session, 1, event.index)
        for place in found.places:
            chances = [one.probability for one in place.target]
            assert chances[:5] == sorted(chances[:5], reverse=True)
            assert sum(chances) <= 1.0001
            drafted = {one.token for one in found.places if one.parent == place.node and one.node != place.node}
            assert drafted <= {one.token for one in place.target}
            assert bool(place.drafter) == bool(drafted)
        for step in found.walks["coupled"]:
            target = found.places[step.node + 1].target
            best = max((one for one in target if one.score is not None), key=lambda one: one.score or 0.0)
            assert best.token == step.token, "the coupled rule takes the highest score"
            assert best.noise is not None
    assert found.places[0].node == ROOT


def test_a_looked_up_draft_has_no_probabilities_of_its_own(session: Session) -> None:
    events = write(session, 1, GREEDY, Speculation(k=3, drafter="ngram"), "abc abc abc")
    drafted = next(event for event in rounds(events) if event.drafted)
    found = explained(session, 1, drafted.index)
    assert all(place.drafter == () for place in found.places)
    assert any(step.why.id.startswith("explain.looked") for step in found.walks["textbook"]) or found.temperature == 0


def test_the_chat_goes_on_as_if_nothing_had_been(session: Session) -> None:
    def second(asked: bool) -> Finished:
        session.forget()
        first = write(session, 1, WARM, Speculation(k=3, drafter="twin"))[-1]
        if asked:
            for index in (0, 2, 5):
                explained(session, 1, index)
        chat = (Message("user", "hi"), Message("assistant", first.text, first.token_ids), Message("user", "more"))
        events = list(session.reply(Request(2, chat, WARM, 30), Control(Speculation(k=3, drafter="twin"))))
        assert isinstance(events[-1], Finished)
        return events[-1]

    plain, after = second(asked=False), second(asked=True)
    assert plain.token_ids == after.token_ids
    assert plain.statistics.reused == after.statistics.reused > 0


def test_a_reply_whose_cache_is_gone_is_read_anew(session: Session) -> None:
    events = write(session, 1, WARM, Speculation(k=3, drafter="twin"))
    before = [explained(session, 1, event.index) for event in rounds(events)]
    write(session, 2, WARM, Speculation(k=2, drafter="twin"), "something else")
    for index in (len(before) - 1, 0):
        again = explained(session, 1, index)
        assert again.is_same
        ours, theirs = (one.walks["coupled"] for one in (again, before[index]))
        assert [step.token for step in ours] == [step.token for step in theirs]


def test_a_reply_of_the_other_mode_is_laid_open_in_its_own(session: Session, folder: Path) -> None:
    half = Session()
    loaded = load(half, ModelChoice(model=str(folder), drafter="none", dtype="bfloat16", context=512, exact=True))
    assert isinstance(loaded, Loaded)
    half.switch("fast")
    events = write(half, 1, WARM, Speculation(k=6, drafter="ngram"), "abc abc abc")
    half.switch("exact")
    found = explained(half, 1, rounds(events)[2].index)
    assert (found.mode, half.mode) == ("fast", "exact")
    assert found.is_same


def test_what_is_not_kept_is_refused_with_a_sentence(session: Session) -> None:
    write(session, 1, GREEDY, Speculation(k=2))
    for turn, index in ((77, 0), (1, 4000), (1, -1)):
        (found,) = session.explain(turn, index)
        assert isinstance(found, ExplainFailed)
        assert found.notice.id == "explain.gone"
    with pytest.raises(Problem, match="no longer be laid open"):
        session.sides(1, 77, 0)


def test_the_sides_of_a_planted_difference(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = write(session, 1, GREEDY, Speculation(k=0))[-1]
    real = verification.verify

    def poisoned(*given: Any) -> Verdict:
        verdict = real(*given)
        draft, position = given[0], given[3]
        if draft.tokens and position > 25:
            return type(verdict)(verdict.path, (verdict.last + 1) % 200, verdict.tested, verdict.full)
        return verdict

    monkeypatch.setattr("inference.engine.verify", poisoned)
    other = write(session, 2, GREEDY, Speculation(k=3, drafter="twin"))[-1]
    monkeypatch.undo()
    position = first_difference(plain.token_ids, other.token_ids)
    assert position is not None
    mine, theirs, tie = session.sides(2, 1, position)
    assert (mine.token, theirs.token) == (other.token_ids[position], plain.token_ids[position])
    for side in (mine, theirs):
        assert side.logits is not None
        assert side.scores is not None
        assert side.logits[1] > side.logits[0], "the target preferred the plain text's token in both passes"
        assert side.scores[1] - side.scores[0] == pytest.approx(side.logits[1] - side.logits[0], abs=1e-3)
    assert 0 < tie < 0.1
