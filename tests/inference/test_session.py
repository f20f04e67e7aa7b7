"""Replies of a session over a tiny model: events, turns, stops, switches and errors."""

from __future__ import annotations

import gc
import json
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference.events import Failed, Finished, Loaded, LoadProgress, Prefill, Round, Started
from inference.messages import ENGLISH, sentence
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.session_for_tests import WARM, ask, fixed, load, play, save_model  # noqa: F401

if TYPE_CHECKING:
    from pathlib import Path


def test_events_come_in_order_and_add_up(session: Session) -> None:
    events, finished = play(session, ask())
    kinds = [type(event) for event in events]
    rounds = [event for event in events if isinstance(event, Round)]
    assert kinds[0] is Started
    assert kinds == [Started, *[Prefill] * kinds.count(Prefill), *[Round] * len(rounds), Finished]
    assert {event.turn for event in events if not isinstance(event, LoadProgress)} == {1}
    assert [event.index for event in rounds] == list(range(len(rounds)))
    pieces = [piece for event in [*rounds, finished] for piece in event.pieces]
    assert "".join(piece.text for piece in pieces) == finished.text
    numbers = finished.statistics
    assert numbers.tokens == len(finished.token_ids) == sum(len(event.origins) for event in rounds) == 40
    assert numbers.rounds == len(rounds)
    assert numbers.accepted == sum(event.accepted for event in rounds)
    assert numbers.tested == sum(event.tested for event in rounds) == sum(numbers.tested_by_depth)
    assert numbers.accepted == sum(numbers.accepted_by_depth)
    assert sum(numbers.k_histogram) == numbers.rounds
    assert numbers.acceptance == numbers.accepted / numbers.tested
    assert finished.reason.id == "finish.length"
    # A build's label (+cpu, +cu130) stands in one of the two only, by where the wheel came from.
    assert numbers.versions["torch"].partition("+")[0] == torch.__version__.partition("+")[0]


def test_speculation_on_and_off_write_the_same(session: Session) -> None:
    texts = {
        play(session, ask(), control)[1].token_ids
        for control in (fixed(0), fixed(1), fixed(8), Control(), Control(Speculation(on=False)))
    }
    assert len(texts) == 1


def test_the_switch_works_in_the_middle_of_a_reply(session: Session) -> None:
    expected = play(session, ask(), fixed(0))[1].token_ids
    control = fixed(4)
    planned = []
    for event in session.reply(ask(), control):
        if isinstance(event, Round):
            planned.append(event.k)
            control.speculation = Speculation(on=len(planned) % 2 == 0, k=4)
    assert isinstance(event, Finished)
    assert event.token_ids == expected
    assert set(planned[:6:2]) == {4}
    assert set(planned[1:6:2]) == {0}
    assert all(ENGLISH[e] for e in ("speculation.off", "speculation.on"))


def test_drafters_switch_in_the_middle_of_a_reply(session: Session) -> None:
    expected = play(session, ask(), fixed(0))[1].token_ids
    control = fixed(4)
    names = ("twin", "ngram", "none")
    drafted = []
    for event in session.reply(ask(), control):
        if isinstance(event, Round):
            drafted.append(event.drafter)
            control.speculation = Speculation(k=4, drafter=names[len(drafted) % 3])
    assert isinstance(event, Finished)
    assert event.token_ids == expected
    # In exact mode a round that begins right before the attention's next length has no room for a draft.
    assert drafted[3::3].count("twin") >= len(drafted[3::3]) - 1 > 1
    assert set(drafted[3::3]) <= {"twin", "none"}
    assert set(drafted[1::3]) <= {"ngram", "none"}
    assert set(drafted[2::3]) == {"none"}
    assert event.statistics.drafter == names[len(drafted) % 3]
    assert event.statistics.rounds_by_drafter == {name: drafted.count(name) for name in set(drafted)}


def test_a_drawn_seed_is_reported_and_repeats_the_text(session: Session) -> None:
    drawn = Sampling(temperature=0.9)
    events, finished = play(session, ask(sampling=drawn))
    started = events[0]
    assert isinstance(started, Started)
    again = play(session, ask(sampling=Sampling(temperature=0.9, seed=started.seed)))[1]
    assert again.token_ids == finished.token_ids
    assert finished.statistics.seed == started.seed


def test_b11_again_draws_a_new_seed(session: Session) -> None:
    drawn = Sampling(temperature=1.2)
    assert len({play(session, ask(sampling=drawn))[1].text for _ in range(5)}) > 1


def test_the_next_turn_reuses_all_that_was_said(session: Session) -> None:
    _, first = play(session, ask())
    history = (
        Message("user", "hi"),
        Message("assistant", first.text, first.token_ids),
        Message("user", "go on"),
    )
    events, second = play(session, Request(2, history, WARM, 30))
    started = events[0]
    assert isinstance(started, Started)
    assert started.reused == first.statistics.prompt_tokens + len(first.token_ids) - 1
    session.reply(ask(), fixed(0))
    plain = play(session, Request(2, history, WARM, 30), fixed(0))[1]
    assert plain.token_ids == second.token_ids


@pytest.mark.parametrize(("k", "rounds"), [(0, 3), (4, 3), (4, 1)])
def test_b14_stop_ends_within_a_round_and_the_next_reply_works(session: Session, k: int, rounds: int) -> None:
    control = fixed(k)
    seen = 0
    shown = ""
    for event in session.reply(ask(max_new_tokens=400), control):
        if isinstance(event, Round):
            seen += 1
            shown += "".join(piece.text for piece in event.pieces)
            if seen == rounds:
                control.cancel.set()
    assert isinstance(event, Finished)
    assert seen == rounds
    assert event.text.startswith(shown)
    assert len(event.token_ids) >= rounds
    assert event.reason.id == "finish.cancelled"
    full = play(session, ask(max_new_tokens=400), fixed(k))[1]
    assert full.token_ids[: len(event.token_ids)] == event.token_ids


def test_b14_stop_in_prefill(session: Session) -> None:
    control = fixed(4)
    events = []
    for event in session.reply(ask("wall " * 300), control):
        events.append(event)
        if isinstance(event, Prefill) and event.done >= 256:
            control.cancel.set()
    assert isinstance(event, Finished)
    assert (event.reason.id, event.text, event.token_ids) == ("finish.cancelled", "", ())
    assert max(e.done for e in events if isinstance(e, Prefill)) == 256
    assert play(session, ask())[1].statistics.tokens == 40


@pytest.mark.parametrize("k", [0, 4])
def test_a_stop_string_is_never_shown(session: Session, k: int) -> None:
    text = play(session, ask(), fixed(0))[1].text
    stop = text[len(text) // 2 : len(text) // 2 + 3]
    events, finished = play(session, ask(stop=(stop,)), fixed(k))
    assert finished.text == text[: text.index(stop)]
    assert finished.reason.id == "finish.stop"
    shown = "".join(piece.text for event in events if isinstance(event, Round | Finished) for piece in event.pieces)
    assert shown == finished.text
    assert finished.statistics.tokens == len(finished.token_ids) < 40


@pytest.mark.parametrize("k", [0, 4])
def test_b05_every_source_of_end_tokens_counts(folder: Path, tmp_path: Path, k: int) -> None:
    """Tokenizer: </s>; config: a; generation config: a list; template: <|im_end|>. Each ends a reply, none is shown."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    generation = {"eos_token_id": [301, 302]}
    (tmp_path / "config.json").write_text(json.dumps(config | {"eos_token_id": 300}))
    (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    session = Session()
    loaded = load(session, ModelChoice(model=str(tmp_path), dtype="float32"))
    assert isinstance(loaded, Loaded)
    ready = session._ready
    assert ready is not None
    tokenizer = ready.model.tokenizer
    assert ready.ends == {300, 301, 302, tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|im_end|>")}
    ends = set()
    for seed in range(60):
        _, finished = play(session, ask(sampling=Sampling(temperature=3.0, top_p=1, seed=seed)), fixed(k))
        inside = [token for token in finished.token_ids if token in ready.ends]
        if inside:
            assert finished.token_ids.index(inside[0]) == len(finished.token_ids) - 1
            assert finished.reason.id == "finish.end"
            assert finished.text == tokenizer.decode(finished.token_ids[:-1], skip_special_tokens=True)
            ends.update(inside)
    assert len(ends) >= 3, "too few ends were met for the test to mean anything"


def test_an_outgrown_context_leaves_the_oldest_turns_out_and_says_so(session: Session) -> None:
    turns = [Message("user", "wall " * 60), Message("assistant", "jump " * 20)] * 6
    events, _ = play(session, Request(1, (*turns, Message("user", "short")), WARM, 10))
    started = events[0]
    assert isinstance(started, Started)
    assert [note.id for note in started.notes] == ["context.begins_at"]
    assert started.prompt_tokens < 600


@pytest.mark.parametrize(
    ("request_", "id"),
    [
        (Request(3, (Message("user", "wall " * 2000),)), "error.prompt_too_long"),
        (Request(3, (Message("user", "  "),)), "error.empty_prompt"),
        (Request(3, ()), "error.empty_prompt"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_the_chat_goes_on(session: Session, request_: Request, id: str) -> None:
    events = list(session.reply(request_, fixed(2)))
    assert [type(event) for event in events] == [Failed]
    assert isinstance(events[0], Failed)
    assert (events[0].turn, events[0].notice.id) == (3, id)
    sentence(events[0].notice)
    assert play(session, ask())[1].statistics.tokens == 40


def test_g01_an_error_in_a_round_keeps_no_memory_and_the_next_reply_works(folder: Path) -> None:
    session = Session()
    load(session, ModelChoice(model=str(folder), dtype="float32", drafter="none", context=600, exact=False))
    ready = session._ready  # nothing can be given up: no twin, and the shortest context
    assert ready is not None

    class Tensor:
        pass

    held: list[weakref.ref[Tensor]] = []
    forward = ready.engine.forward
    calls = 0

    def failing(*arguments: Any, **options: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 4:
            big = Tensor()
            held.append(weakref.ref(big))
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(*arguments, **options)

    ready.engine.forward = failing
    try:
        events = list(session.reply(ask(), fixed(2)))
    finally:
        ready.engine.forward = forward
    assert isinstance(events[-1], Failed)
    assert events[-1].notice.id == "error.memory_used_up"
    assert events[-1].notice.values["free_gb"] > 0
    gc.collect()
    assert held[0]() is None
    assert play(session, ask())[1].statistics.tokens == 40


@pytest.mark.parametrize("keep_ids", [True, False], ids=["ids", "text"])
def test_a_stopped_reply_goes_on_where_it_ended(session: Session, keep_ids: bool) -> None:
    greedy = Sampling(temperature=0)
    whole = play(session, ask(sampling=greedy, max_new_tokens=40), fixed(3))[1]
    first = play(session, ask(sampling=greedy, max_new_tokens=15), fixed(3))[1]
    begun = Message("assistant", first.text, first.token_ids if keep_ids else None)
    rest = play(session, Request(1, (Message("user", "hi"), begun), greedy, 25), fixed(3))[1]
    if keep_ids:
        assert first.token_ids + rest.token_ids == whole.token_ids
        assert first.text + rest.text == whole.text
    assert rest.statistics.tokens == 25


def test_a_reply_that_had_ended_goes_on_without_its_end_token(session: Session) -> None:
    ready = session.ready
    assert ready is not None
    end = ready.model.tokenizer.convert_tokens_to_ids("<|im_end|>")
    ids = tuple(ready.model.tokenizer.encode("The wall and", add_special_tokens=False))
    request = Request(1, (Message("user", "hi"), Message("assistant", "The wall and", (*ids, end))), WARM, 5)
    events, _ = play(session, request)
    started = events[0]
    assert isinstance(started, Started)
    assert started.prompt_tokens == len(ready.template.encode([Message("user", "hi")]).ids) + len(ids)
