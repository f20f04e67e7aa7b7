"""A smaller model drafts: the text stays that of plain decoding, and a model of another tokenizer is refused."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from inference.drafters.none import NoDrafter
from inference.drafters.small_model import PART, SmallModelDrafter
from inference.events import Finished, Loaded, LoadFailed, Notice
from inference.kv_cache import KVCache
from inference.model import ReferenceForward
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from inference.text.same_tokens import shared_ids
from tests.inference.models_for_tests import CPU, GREEDY, VOCABULARY, WARM, FixedK, engine_for, tiny_model, write
from tests.inference.session_for_tests import save_model
from tests.inference.text.tiny_tokenizers import tiny_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from inference.engine import Engine

TARGET = ReferenceForward(tiny_model("llama"))


def small(seed: int = 0, context: int = 2048, rows: int = VOCABULARY) -> SmallModelDrafter:
    """The target itself with seed 0, another model with others."""
    return SmallModelDrafter(
        ReferenceForward(tiny_model("llama", seed=seed)), KVCache(context, 2), CPU, VOCABULARY, rows
    )


PROMPT = [(7 * i + 3) % VOCABULARY for i in range(50)]


@pytest.mark.parametrize("k", [1, 4, 7])
@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
def test_text_is_that_of_plain_decoding_also_in_the_second_turn(k: int, seed: int, sampling: Sampling) -> None:
    plain, drafted = engine_for(TARGET), engine_for(TARGET)
    drafter, planner = small(seed), FixedK(k)
    prompt = PROMPT
    for _ in range(2):
        wanted = write(plain, prompt, NoDrafter(), FixedK(0), sampling=sampling, count=60)
        assert write(drafted, prompt, drafter, planner, sampling=sampling, count=60) == wanted
        prompt = [*prompt, *wanted, 5, 6, 7]
    accepted = sum(outcome.accepted for outcome in planner.outcomes)
    tested = sum(outcome.tested for outcome in planner.outcomes)
    # The same weights agree with themselves in every token: its cache is the target's, token for token.
    assert accepted == tested if seed == 0 else accepted < tested


def rounds(engine: Engine, prompt: list[int], drafter: SmallModelDrafter) -> list[int]:
    planner = FixedK(3)
    write(engine, prompt, drafter, planner, count=24)
    return [outcome.drafted for outcome in planner.outcomes]


def test_a_long_prompt_is_read_a_part_a_round_while_plain_steps_go_on() -> None:
    prompt = [(7 * i + 3) % VOCABULARY for i in range(3 * PART + 10)]
    drafter = small()
    drafted = rounds(engine_for(TARGET), prompt, drafter)
    assert drafted[:3] == [0, 0, 0]
    assert 3 in drafted[3:5]
    # Asked again from the same prompt, it has read it already.
    assert rounds(engine_for(TARGET), prompt, drafter)[0] == 3


def test_beyond_its_own_context_it_drafts_nothing() -> None:
    drafter = small(context=64)
    drafted = rounds(engine_for(TARGET), PROMPT, drafter)
    assert drafted[0] == 3
    assert drafted[-1] == 0


def test_a08_ids_that_it_cannot_read_are_read_as_another() -> None:
    """The target's rows may be padded further than the small model's."""
    wanted = write(engine_for(TARGET), PROMPT, NoDrafter(), FixedK(0), count=40)
    assert write(engine_for(TARGET), PROMPT, small(rows=100), FixedK(4), count=40) == wanted


def load(choice: ModelChoice) -> tuple[Session, Loaded | LoadFailed]:
    session = Session()
    *_, last = session.load(choice, threading.Event())
    assert isinstance(last, Loaded | LoadFailed)
    return session, last


def test_a_session_drafts_with_it(tmp_path: Path) -> None:
    target, other = save_model(tmp_path / "target"), save_model(tmp_path / "small", seed=3, num_hidden_layers=1)
    choice = ModelChoice(model=str(target), drafter="small-model", draft_model=str(other), dtype="float32", context=600)
    session, loaded = load(choice)
    assert isinstance(loaded, Loaded), loaded
    assert "small-model" in loaded.drafters
    texts = []
    for k in (0, 4):
        request = Request(k, (Message("user", "hi 🙂  there"),), Sampling(temperature=0.9, seed=4), max_new_tokens=50)
        *_, done = session.reply(request, Control(Speculation(k=k)))
        assert isinstance(done, Finished), done
        texts.append((done.text, done.token_ids))
        assert (done.statistics.drafted > 0) == (k > 0)
    assert texts[0] == texts[1]


def test_a07_a_draft_model_whose_strings_are_shuffled_is_refused_with_both_names(tmp_path: Path) -> None:
    target, other = save_model(tmp_path / "target"), save_model(tmp_path / "shuffled", seed=3)
    file = other / "tokenizer.json"
    tokenizer = json.loads(file.read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    one, two = "a", "b"
    vocabulary[one], vocabulary[two] = vocabulary[two], vocabulary[one]
    file.write_text(json.dumps(tokenizer), encoding="utf-8")
    _, failed = load(ModelChoice(model=str(target), drafter="small-model", draft_model=str(other), dtype="float32"))
    assert isinstance(failed, LoadFailed)
    assert failed.notice == Notice("error.other_tokenizer", {"draft": "shuffled", "target": "target"})


def test_a09_a_draft_model_with_another_tokenizer_is_refused(tmp_path: Path) -> None:
    target, other = save_model(tmp_path / "target"), save_model(tmp_path / "other", seed=3)
    tiny_tokenizer("legacy", adds_bos=True).save_pretrained(other)
    _, failed = load(ModelChoice(model=str(target), drafter="small-model", draft_model=str(other), dtype="float32"))
    assert isinstance(failed, LoadFailed)
    assert failed.notice.id == "error.other_tokenizer"


def test_tokens_added_at_the_end_do_not_part_two_tokenizers() -> None:
    one = tiny_tokenizer("byte", special=("<|im_start|>",))
    more = tiny_tokenizer("byte", special=("<|im_start|>", "<|pad_0|>", "<|pad_1|>"))
    assert shared_ids(one, more) == shared_ids(more, one) == len(one)
    assert shared_ids(one, tiny_tokenizer("byte", special=("<|im_end|>",))) == 0
    assert shared_ids(one, tiny_tokenizer("byte", special=("<|im_start|>",), eos="<|im_start|>")) == 0


def test_without_a_model_to_draft_it_says_what_to_name(tmp_path: Path) -> None:
    _, failed = load(ModelChoice(model=str(save_model(tmp_path / "target")), drafter="small-model", dtype="float32"))
    assert isinstance(failed, LoadFailed)
    assert failed.notice == Notice("error.no_draft_model")
