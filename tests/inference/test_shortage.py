"""Memory runs out at every point: what was taken goes, the next thing in the order is given up, the text stays."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference import card, decoder, device_rounds, graphs, loading, shortage, twins
from inference.engine import Engine
from inference.events import DraftersChanged, Failed, Finished, GivenUp, Loaded, LoadFailed, LoadProgress, TwinProgress
from inference.kv_cache import KVCache
from inference.linears import DenseLinear
from inference.measure import StepTimes
from inference.messages import Problem, sentence
from inference.models import fit
from inference.quantize import kept
from inference.quantize.linear import LowBitLinear
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.session_for_tests import save_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")

CONTEXT = 4096
SHAPE = {"hidden_size": 32, "num_attention_heads": 1, "num_key_value_heads": 1, "num_hidden_layers": 1,
         "max_position_embeddings": CONTEXT}  # fmt: skip
TIMES = StepTimes((10.0, 11.0), tuple(10.0 + 0.1 * k for k in range(9)), 0.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "tiny", **SHAPE)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No twin is kept from other tests, and nothing is measured."""
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)
    monkeypatch.setattr(loading, "step_times", lambda *_, **__: (TIMES, TIMES))
    monkeypatch.setattr(twins, "agreement", lambda *_, **__: (9, 10))
    monkeypatch.setattr(twins, "draft_step_ms", lambda *_, **__: 1.0)


class Lack:
    """Stands for a function that takes memory: runs out of it in its calls from ``first`` on, so many times."""

    def __init__(self, times: int, first: int = 1) -> None:
        self._times = range(first, first + times)
        self._calls = 0
        self.held: list[weakref.ref[Any]] = []

    def before(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            self._calls += 1
            if self._calls in self._times:
                taken = torch.zeros(1000)
                self.held.append(weakref.ref(taken))
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
            return real(*arguments, **options)

        return called

    @property
    def is_let_go(self) -> bool:
        gc.collect()
        return bool(self.held) and all(one() is None for one in self.held)


def load(folder: Path, **options: Any) -> tuple[Session, list[Any]]:
    session = Session()
    asked: dict[str, Any] = {"drafter": "twin", "recipe": "nf3", "dtype": "float32", "exact": False} | options
    return session, list(session.load(ModelChoice(model=str(folder), context=CONTEXT, **asked), threading.Event()))


def reply(session: Session, k: int = 3, count: int = 24, **options: Any) -> list[Any]:
    request = Request(1, (Message("user", "hi"),), Sampling(temperature=0.8, seed=4), count, **options)
    return list(session.reply(request, Control(Speculation(k=k))))


@pytest.fixture(scope="module")
def text(folder: Path) -> tuple[int, ...]:
    """What is written where nothing is lacking."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "step_times", lambda *_, **__: (TIMES, TIMES))
        session, _ = load(folder, drafter="none")
        found = reply(session, 0)[-1]
    assert isinstance(found, Finished)
    return found.token_ids


FEWER, NO_TWIN, LESS = "memory.fewer_bits", "memory.no_twin", "memory.less_context"


@pytest.mark.parametrize(
    ("place", "name", "times", "given_up"),
    [
        (decoder.Decoder, "reserve", 1, [FEWER]),  # the cache, before there is a twin: its bits are free to go
        (twins, "quantize_matrices", 1, [FEWER]),  # packing
        (twins, "assemble", 2, [FEWER, NO_TWIN]),
        (loading, "step_times", 4, [FEWER, NO_TWIN, LESS, LESS]),
    ],
)
def test_a_load_goes_on_with_less(
    folder: Path, text: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, place: Any, name: str, times: int,
    given_up: list[str],
) -> None:  # fmt: skip
    lack = Lack(times)
    monkeypatch.setattr(place, name, lack.before(getattr(place, name)))
    session, events = load(folder)
    loaded = events[-1]
    assert isinstance(loaded, Loaded), loaded
    assert [notice.id for notice in loaded.given_up] == given_up
    assert [event.notice.id for event in events if isinstance(event, LoadProgress)
            and event.notice.id.startswith("memory.")] == given_up  # fmt: skip
    assert all(map(sentence, loaded.given_up))
    assert lack.is_let_go
    assert ("twin" in loaded.drafters) == (NO_TWIN not in given_up)
    assert loaded.taken.get("twin", 0) > 0 or NO_TWIN in given_up
    assert loaded.context == CONTEXT >> given_up.count(LESS)
    assert not session.wants_twin or NO_TWIN not in given_up
    monkeypatch.undo()
    assert reply(session)[-1].token_ids == text


def test_a_kept_twin_for_which_memory_lacks_is_not_taken_for_one_that_does_not_fit_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(folder)
    lack = Lack(1)
    monkeypatch.setattr(twins, "assemble", lack.before(twins.assemble))
    _, events = load(folder)
    assert [notice.id for notice in events[-1].given_up] == [FEWER]
    assert lack.is_let_go


def test_parts_that_were_given_up_take_no_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lack = Lack(3)
    made: list[weakref.ref[Any]] = []
    real = LowBitLinear.__init__

    def watched(self: Any, *arguments: Any) -> None:
        real(self, *arguments)
        made.append(weakref.ref(self))

    monkeypatch.setattr(LowBitLinear, "__init__", watched)
    _, events = load(folder)
    whole = events[-1].taken
    monkeypatch.setattr(loading, "step_times", lack.before(loading.step_times))
    before = len(made)
    _, events = load(folder)
    assert len(made) > before
    gc.collect()
    assert all(one() is None for one in made), "both twins are gone"
    less = events[-1].taken
    assert set(whole) - set(less) == {"twin"}
    assert less["target"] == whole["target"]
    assert less["cache"] == pytest.approx(whole["cache"] / 2, rel=0.06)


@pytest.mark.parametrize("name", ["load_text_model", "pack"])
def test_the_model_itself_is_not_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    lack = Lack(1)
    layers: list[weakref.ref[Any]] = []
    real = DenseLinear.__init__

    def watched(self: Any, *arguments: Any) -> None:
        real(self, *arguments)
        layers.append(weakref.ref(self))

    monkeypatch.setattr(DenseLinear, "__init__", watched)
    pack = loading.pack

    def half(model: Any, *rest: Any) -> Iterator[Any]:
        steps = pack(model, *rest)
        yield next(steps), next(steps)
        lack.before(pack)(model)

    monkeypatch.setattr(loading, name, half if name == "pack" else lack.before(loading.load_text_model))
    session, events = load(folder)
    failed = events[-1]
    assert isinstance(failed, LoadFailed)
    assert failed.notice.id == "error.memory_weights"
    assert "choose a smaller model" in sentence(failed.notice)
    assert lack.is_let_go
    assert all(one() is None for one in layers)
    assert session.ready is None


def test_with_nothing_left_the_load_fails_with_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lack = Lack(100)
    monkeypatch.setattr(loading, "step_times", lack.before(loading.step_times))
    session, events = load(folder, drafter="none")
    failed = events[-1]
    assert isinstance(failed, LoadFailed)
    assert failed.notice.id == "error.memory_asked"
    assert failed.notice.values["asked_gb"] == pytest.approx(0.021, abs=1e-3)
    assert lack.is_let_go
    assert session.ready is None


@pytest.mark.parametrize(("point", "first"), [("prompt", 1), ("round", 2), ("commit", 2)])
def test_a_reply_goes_on_with_less(
    folder: Path, text: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, point: str, first: int
) -> None:
    """The twin goes, then half of the context, whose text is read again; what was written stays."""
    session, _ = load(folder)
    ready = session.ready
    assert ready is not None
    twin = ready.offered.find("twin")
    assert twin is not None
    gone = weakref.ref(twin.drafter)
    del twin
    lack = Lack(2, first)
    if point == "prompt":
        ready.engine.forward = lack.before(ready.engine.forward)  # first asked for the prompt
    elif point == "round":
        monkeypatch.setattr(Engine, "_pass", lack.before(Engine._pass))
    else:
        monkeypatch.setattr(KVCache, "commit", lack.before(KVCache.commit))
    ready = None
    events = reply(session)
    finished = events[-1]
    assert isinstance(finished, Finished), finished
    assert finished.token_ids == text
    told_of = [event for event in events if isinstance(event, GivenUp)]
    assert [event.notice.id for event in told_of] == [NO_TWIN, LESS]
    assert told_of[-1].loaded.context == CONTEXT // 2 == session.ready.engine.cache.context  # type: ignore[union-attr]
    assert "twin" not in told_of[0].loaded.taken
    assert lack.is_let_go
    assert gone() is None
    assert "".join(piece.text for event in events for piece in getattr(event, "pieces", ())) == finished.text
    assert finished.statistics.tokens == len(text)
    monkeypatch.undo()
    assert reply(session)[-1].token_ids == text


def test_a_reply_that_needs_its_context_keeps_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = load(folder, drafter="none")
    lack = Lack(1)
    monkeypatch.setattr(Engine, "_pass", lack.before(Engine._pass))
    failed = reply(session, 0, CONTEXT)[-1]
    assert isinstance(failed, Failed)
    assert failed.notice.id == "error.memory_asked"
    monkeypatch.undo()
    assert isinstance(reply(session)[-1], Finished)


def test_a_twin_that_is_made_later_gives_way_too(
    folder: Path, text: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, events = load(folder, twin_later=True)
    assert "twin" not in events[-1].drafters
    lack = Lack(2)
    monkeypatch.setattr(twins, "assemble", lack.before(twins.assemble))
    steps = list(session.make_twin(threading.Event(), quick=True))
    assert [step.notice.id for step in steps if isinstance(step, TwinProgress)
            and step.notice.id.startswith("memory.")] == [FEWER, NO_TWIN]  # fmt: skip
    assert isinstance(steps[-1], DraftersChanged)
    assert steps[-1].refused["twin"].id == "drafter.no_memory"
    assert not session.wants_twin
    assert lack.is_let_go
    assert reply(session)[-1].token_ids == text


@pytest.mark.slow
@pytest.mark.parametrize("where", ["twin", "target", "reply"])
def test_a_card_gives_its_graphs_up_first(folder: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Loaded as on a card, kernels interpreted and capture a plain call that runs out of memory."""
    monkeypatch.setattr(loading, "takes_graphs", lambda device: True)
    monkeypatch.setattr(loading, "LARGEST_K", 1)
    monkeypatch.setattr(card, "STEPS", 2)
    monkeypatch.setattr(graphs, "SMALLEST_BUCKET", CONTEXT * 2)
    lack = Lack(1, 2 if where == "target" else 1)  # the twin's one step is captured first
    if where != "reply":
        monkeypatch.setattr(graphs.GraphForward, "captured", lack.before(graphs.GraphForward.captured))
    session, events = load(folder)
    loaded = events[-1]
    assert isinstance(loaded, Loaded), loaded
    if where == "reply":
        assert loaded.taken["graphs"] > 0
        assert loaded.given_up == ()
        run = device_rounds.DeviceRounds.run
        monkeypatch.setattr(device_rounds.DeviceRounds, "run", lack.before(run))
    else:
        assert [notice.id for notice in loaded.given_up] == ["memory.no_graphs"]
        assert "twin" in loaded.drafters
        assert lack.is_let_go
        if where == "target":
            return
    events = reply(session, 1, 3)
    assert [event.notice.id for event in events if isinstance(event, GivenUp)] == (
        ["memory.no_graphs"] if where == "reply" else [])  # fmt: skip
    assert lack.is_let_go
    assert session.ready is not None
    monkeypatch.undo()
    assert isinstance(events[-1], Finished)
    plain = reply(session, 0, 3)
    assert plain[-1].token_ids == events[-1].token_ids


def test_the_order_is_that_of_what_is_offered_beforehand() -> None:
    shape = fit.shape({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
                       "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
                       "tie_word_embeddings": False, "dtype": "bfloat16"})  # fmt: skip
    ids = [notice.id.removeprefix("fit.try_").removeprefix("no_") for notice, _ in
           fit._others(shape, fit.Plan(), "gpu")]  # fmt: skip
    changed = [name for name in dict.fromkeys(ids) if name in shortage.ORDER]
    assert changed == [name for name in shortage.ORDER if name != "graphs"]


def test_a_lack_is_told_from_other_errors() -> None:
    assert shortage.is_lack(MemoryError())
    assert shortage.is_lack(Problem("error.twin_memory", needed_gb=2.0, free_gb=1.0))
    assert not shortage.is_lack(Problem("error.cancelled"))
    assert not shortage.is_lack(ValueError("no linear layers"))


def test_bytes_are_those_of_the_tensors(folder: Path) -> None:
    """Target, twin and cache, each shared tensor counted once."""
    session, events = load(folder, recipe="affine4")
    loaded = events[-1]
    ready = session.ready
    assert ready is not None
    config = ready.model.config
    hidden, inner, vocabulary = config.hidden_size, config.intermediate_size, config.vocab_size
    head = hidden // config.num_attention_heads
    matrices = 4 * hidden * head + 3 * hidden * inner + vocabulary * hidden
    weights = matrices + vocabulary * hidden + 3 * hidden
    slack = 4 * 4096  # rotary tables, frequencies, norms laid out twice
    assert weights * 4 <= loaded.taken["target"] <= weights * 4 + slack
    slots = ready.engine.cache.slots
    assert loaded.taken["cache"] == ready.engine.cache.bytes == 2 * slots * head * 4
    bits = ready.bits
    assert bits is not None
    assert matrices * bits.resident / 8 <= loaded.taken["twin"] <= matrices * bits.resident / 8 + slack
    assert "graphs" not in loaded.taken
    finished = reply(session)[-1]
    assert finished.statistics.memory == pytest.approx(loaded.taken, abs=16 * 1024 + 1), "rotary tables are made then"
    assert set(finished.statistics.memory) == {"target", "twin", "cache"}
