"""Cases (e) and (g) that need a loaded model: tied heads, rotary spellings, float16 on a CPU, reused prefixes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference import loading
from inference.events import Finished, Loaded, LoadFailed, LoadProgress, Started
from inference.messages import Problem, sentence
from inference.model import load_text_model
from inference.models import contents, headers
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.models.folders_for_tests import change_json, whole_model

if TYPE_CHECKING:
    from pathlib import Path

CPU = torch.device("cpu")


def read(folder: Path) -> Any:
    return load_text_model(folder, folder.name, torch.float32, CPU).model


@pytest.mark.parametrize("moment", ["libraries", "reading", "weights"])
@pytest.mark.parametrize("shards", [False, True])
def test_a_folder_that_is_moved_while_it_is_loaded_is_told(
    moment: str, shards: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "mine"
    whole_model(folder, shards=shards)

    def moved_first(*arguments: Any, **named: Any) -> Any:
        folder.rename(home / "elsewhere")
        return load_text_model(*arguments, **named)

    if moment == "weights":
        monkeypatch.setattr(loading, "load_text_model", moved_first)
    session = Session()
    for event in session.load(ModelChoice(str(folder), drafter="none"), threading.Event()):
        last = event
        if isinstance(event, LoadProgress) and event.notice.id == f"load.{moment}":
            folder.rename(home / "elsewhere")
    assert isinstance(last, LoadFailed) and session.ready is None
    said = sentence(last.notice)
    assert last.notice.id != "error.unexpected", said
    assert "mine" in said and "\n" not in said
    monkeypatch.undo()
    *_, last = session.load(ModelChoice(str(home / "elsewhere"), drafter="none"), threading.Event())
    assert isinstance(last, Loaded)


@pytest.mark.parametrize("family", ["Llama", "Qwen2", "Qwen3"])
def test_E04_a_head_that_is_not_in_the_file_is_tied_or_refused(family: str, home: Path) -> None:
    whole_model(home / "tied", family, tie_word_embeddings=True)
    assert "lm_head.weight" not in (headers.read(home / "tied" / contents.SINGLE) or {})
    model = read(home / "tied")
    assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    for flag in (False, None):  # wrong, and missing where the family's own rule is that they are apart
        change_json(home / "tied" / contents.CONFIG, tie_word_embeddings=flag)
        try:
            model = read(home / "tied")
        except Problem as problem:
            assert problem.notice.id == "error.missing_weights"
            assert "lm_head.weight" in str(problem)
        else:  # a family whose own rule is that they are one
            assert flag is None
            assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()


@pytest.mark.parametrize("settings", [
    {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 1e4},
    {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
    {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
    {"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                      "original_max_position_embeddings": 256}},
])
def test_E06_rotary_settings_in_old_and_new_spelling(settings: dict[str, Any], home: Path) -> None:
    whole_model(home / "tiny")
    change_json(home / "tiny" / contents.CONFIG, **{"rope_parameters": None, **settings})
    model = read(home / "tiny")
    wanted = settings.get("rope_parameters") or settings["rope_scaling"]
    assert model.model.rotary_emb.rope_type == wanted.get("rope_type", wanted.get("type"))
    assert torch.isfinite(model(torch.arange(1, 20)[None]).logits).all()


def test_E11_float16_is_not_computed_on_a_cpu_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """bfloat16 where this CPU packs it, else float32; float16 only behind it, where it was measured to be quicker."""
    monkeypatch.setattr(loading, "packs", lambda dtype: False)
    assert loading._dtypes("auto", {"dtype": "float16"}, CPU, is_ours=False) == (torch.float32,)
    monkeypatch.setattr(loading, "packs", lambda dtype: dtype == torch.bfloat16)
    assert loading._dtypes("auto", {"dtype": "float16"}, CPU, is_ours=False)[0] == torch.bfloat16
    monkeypatch.setattr(loading, "packs", lambda dtype: True)
    assert loading._dtypes("auto", {"torch_dtype": "float16"}, CPU, is_ours=False)[0] == torch.bfloat16
    assert loading._dtypes("auto", {"dtype": "bfloat16"}, CPU, is_ours=False)[0] == torch.bfloat16
    assert torch.float16 not in loading._dtypes("auto", {"dtype": "bfloat16"}, CPU, is_ours=False)
    assert loading._dtypes("auto", {"dtype": "bfloat16"}, CPU, is_ours=True) == (torch.float32, torch.bfloat16)


def test_G06_a_reused_prefix_gives_the_text_of_a_cold_run(home: Path) -> None:
    whole_model(home / "tiny", max_position_embeddings=2048)
    session = Session()
    *_, _ = session.load(
        ModelChoice(model=str(home / "tiny"), drafter="ngram", dtype="float32", exact=False), threading.Event()
    )
    assert session.ready is not None
    how = Sampling(temperature=0, repetition_penalty=1.3, presence_penalty=0.5, frequency_penalty=0.5)

    def write(*said: str) -> tuple[int, Finished]:
        roles = ("user", "assistant")
        messages = tuple(Message(roles[number % 2], text) for number, text in enumerate(said))
        started, *_, finished = session.reply(Request(1, messages, how, 24), Control(Speculation(drafter="ngram", k=4)))
        assert isinstance(started, Started)
        assert isinstance(finished, Finished), finished
        return started.reused, finished

    chats = [
        ("the cat sat on the mat",), ("the cat sat on the mat",), ("the cat sat on the hat",),
        ("the cat sat on the hat", "so it did", "and then"), ("the dog", "so it did", "and then"),
        ("the cat sat on the hat", "so it did", "and then"),
    ]
    warm = [write(*chat) for chat in chats]
    assert warm[1][0] > 0
    for chat, (_, finished) in zip(chats, warm, strict=True):
        session.forget()
        reused, cold = write(*chat)
        assert reused == 0
        assert cold.token_ids == finished.token_ids
