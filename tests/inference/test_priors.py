"""What is kept of drafters: it comes back as it was, per model, and whatever is wrong with the file is forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from inference import priors
from inference.draft_length import Acceptance, RoundTimes
from inference.drafters.option import Option
from inference.drafting import Learned
from inference.measure import StepTimes
from inference.models import folders

if TYPE_CHECKING:
    from pathlib import Path


def learned() -> Learned:
    return Learned(RoundTimes(StepTimes((10.0, 10.0), (10.0, 11.0), 0.0)))


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache" / "drafters.json"
    monkeypatch.setattr(folders, "priors_file", lambda: place)
    return place


def filled() -> Learned:
    one = learned()
    one.acceptance["twin"] = Acceptance([10.0, 5.0], [8.0, 2.0])
    for _ in range(20):
        one.chances.record(12, 0, is_hit=False)
        one.auto.record(Option("twin", 2, 2.0, 20.0), 9, 3, 20.0)
    return one


def test_what_was_learned_comes_back_for_its_model_only() -> None:
    one = filled()
    priors.keep("this", one)
    again, other = learned(), learned()
    priors.recall("this", again)
    priors.recall("that", other)
    assert again.acceptance["twin"].pooled() == pytest.approx(one.acceptance["twin"].carried().pooled())
    assert again.chances.of(12, 0) == pytest.approx(one.chances.of(12, 0), rel=1e-3)
    assert again.chances.of(12, 0) < learned().chances.of(12, 0)
    assert again.auto.tokens_per_second("twin", 9) == pytest.approx(150)
    assert (other.acceptance, other.chances, other.auto) == (learned().acceptance, learned().chances, learned().auto)


def test_no_more_models_are_kept_than_are_needed_and_the_newest_stay(file: Path) -> None:
    for number in range(priors.MOST + 5):
        priors.keep(f"model {number}", learned())
    names = list(json.loads(file.read_text(encoding="utf-8")))
    assert len(names) == priors.MOST
    assert names[-1] == f"model {priors.MOST + 4}"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"this": 5}', '{"this": {"acceptance": {"twin": [["x"], []]}, "chances": [], "measured": []}}',
        '{"this": {"acceptance": {}, "chances": [[[1]], [[1]]], "measured": []}}',
        '{"this": {"acceptance": {"twin": [[NaN], [1]]}, "chances": [[], []], "measured": []}}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_forgotten_and_written_anew(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    one = learned()
    priors.recall("this", one)
    assert (one.acceptance, one.chances, one.auto) == (learned().acceptance, learned().chances, learned().auto)
    priors.keep("this", filled())
    priors.recall("this", one)
    assert "twin" in one.acceptance


def test_a_folder_that_cannot_be_written_is_no_error(file: Path) -> None:
    file.parent.parent.mkdir(exist_ok=True)
    file.parent.write_text("in the way", encoding="utf-8")
    priors.keep("this", filled())
    one = learned()
    priors.recall("this", one)
    assert one.acceptance == {}
