"""Targets in few bits: loaded, told, and as exact as they can be."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from inference.events import Finished, Loaded
from inference.quantize.eight_bit import EightBitLinear
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.session_for_tests import save_model

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning:bitsandbytes"),
    pytest.mark.filterwarnings("ignore::FutureWarning:bitsandbytes"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "tiny", num_hidden_layers=1, intermediate_size=128)


def load(folder: Path, **choice: object) -> tuple[Session, Loaded]:
    session = Session()
    choice = {"drafter": "twin", "dtype": "float32", "context": 300} | choice
    loaded = list(session.load(ModelChoice(model=str(folder), **choice), threading.Event()))[-1]  # type: ignore[arg-type]
    assert isinstance(loaded, Loaded), loaded
    return session, loaded


def reply(session: Session, k: int) -> tuple[int, ...]:
    request = Request(1, (Message("user", "hi"),), Sampling(temperature=0), max_new_tokens=12)
    finished = list(session.reply(request, Control(Speculation(on=k > 0, k=k))))[-1]
    assert isinstance(finished, Finished), finished
    return tuple(finished.token_ids)


def test_eight_bits_of_ours_have_a_twin_and_may_be_exact(folder: Path) -> None:
    session, loaded = load(folder, weights="int8")
    assert loaded.no_drafter is None
    assert loaded.mode_notice.id != "exact.off_weights"
    assert loaded.dtype == "float32, int8"
    ready = session.ready
    assert ready is not None
    layers = [layer for layer in ready.model.model.modules() if isinstance(layer, EightBitLinear)]
    assert len(layers) == 5  # q-k-v, output, gate and up, down, head
    assert reply(session, 3) == reply(session, 0)
    full, other = load(folder, drafter="none")
    assert other.identity != loaded.identity
    full.close()
    session.close()


@pytest.mark.parametrize(("weights", "kind"), [("nf4", "Linear4bit"), ("llm-int8", "Linear8bitLt")])
def test_bits_of_bitsandbytes_have_neither_and_say_why(
    folder: Path, weights: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    session, loaded = load(folder, weights=weights, exact=True)
    assert (loaded.mode, loaded.mode_notice.id) == ("fast", "exact.off_weights")
    assert loaded.no_drafter is not None
    assert loaded.no_drafter.id == "drafter.low_bit_target"
    assert loaded.dtype.endswith(weights)
    assert {"ngram", "auto"} <= set(loaded.drafters)
    assert not {"twin", "hybrid"} & set(loaded.drafters)
    ready = session.ready
    assert ready is not None
    assert ready.maker is None, "no twin will be made later either"
    assert ready.offered.reason("twin") == loaded.no_drafter
    layers = [layer for layer in ready.model.model.modules() if type(layer).__name__ == kind]
    assert len(layers) == 7, "all but the head, which bitsandbytes leaves alone"
    assert len(reply(session, 0)) == 12
    assert len(reply(session, 4)) == 12, "n-gram drafts are verified by its passes"
    assert not [record for record in caplog.records if record.name.startswith("bitsandbytes")]
    session.close()
