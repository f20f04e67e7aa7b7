"""Costs of recipes: measured on the target's shapes, kept, and what a model does without a recipe named."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference.card import Card
from inference.decoder import JOINED, Decoder, pack
from inference.kv_cache import KVCache
from inference.messages import Problem
from inference.model import ReferenceForward, load_text_model
from inference.models import fitting
from inference.quantize import choice, costs, kept
from inference.quantize.build import assemble, placeholders, quantize_matrices
from inference.quantize.costs import Costs, load, save
from inference.quantize.recipes import RECIPES
from inference.quantize.texts import Text
from inference.ready import recipes_of
from inference.text.template import ChatTemplate
from inference.twins import TwinMaker
from tests.inference.models.folders_for_tests import whole_model
from tests.inference.models_for_tests import CPU, tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inference.drafters.offered import Offer

RECIPE_NAMES = choice.CANDIDATES
KNOWN = Costs(12.5, {recipe: 0.3 for recipe in RECIPE_NAMES}, tuple(1 + k / 10 for k in range(9)))


@pytest.fixture(autouse=True)
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Kept where no other test looks, on a machine that is not busy."""
    monkeypatch.setattr(fitting.folders, "tuning_file", lambda: tmp_path / "cache" / "tuning.json")
    monkeypatch.setattr("psutil.getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(costs, "load", load)
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "twins")
    return tmp_path / "cache" / "recipes.json"


class Clocked:
    """A forward that takes as long as its layers and head say, by a clock of its own."""

    now = 0.0

    def __init__(self, model: Any, layer: float, head: float, row: float = 0.0) -> None:
        self._forward = Decoder(model)
        self._ms, self._row = layer * len(model.model.layers) + head, row

    def __call__(self, rows: Any, cache: KVCache, **options: Any) -> torch.Tensor:
        Clocked.now += self._ms + self._row * (rows.used - 1)
        return self._forward(rows, cache, **options)


def by_the_clock(steps: dict[str, Callable[[], object]], budget_s: float) -> dict[str, float]:
    found = {}
    for name, step in steps.items():
        begun = Clocked.now
        step()
        found[name] = Clocked.now - begun
    return found


@pytest.mark.parametrize("enough", [10**9, 1], ids=["all layers", "two stand for all"])
def test_costs_are_those_of_the_whole_model(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("llama", num_hidden_layers=7)
    list(pack(model))
    monkeypatch.setattr(costs, "typical_ms", by_the_clock)
    monkeypatch.setattr(costs, "ENOUGH", enough)
    counts = []

    def forward_of(one: Any) -> Any:
        counts.append(len(one.model.layers))
        is_twin = one is not model
        return Clocked(one, 0.5 if is_twin else 2.0, 1.0 if is_twin else 4.0, 0.9)

    layers = model.model.layers
    found = costs.measure(model, forward_of(model), forward_of, JOINED, ("nf3", "affine4"), CPU)
    assert found.plain_ms == pytest.approx(2.0 * 7 + 4.0)
    assert found.draft == pytest.approx(dict.fromkeys(("nf3", "affine4"), (0.5 * 7 + 1.0) / 18))
    assert found.verify == pytest.approx([1 + 0.9 * k / 18 for k in range(9)])
    assert max(counts[1:]) == (7 if enough > 1 else 2), "of a large model no more than a part is made"
    assert model.model.layers is layers
    assert len(layers) == 7


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_any_model_can_be_measured(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "ENOUGH", 1)
    model = tiny_model(family)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    found = costs.measure(model, ReferenceForward(model), ReferenceForward, {}, ("mixed3", "nf4"), CPU)
    assert found.plain_ms > 0
    assert found.draft.keys() == {"mixed3", "nf4"}
    assert all(cost > 0 for cost in found.draft.values())
    assert len(found.verify) == costs.DRAFTS[-1] + 1
    assert found.verify[0] == 1
    assert sorted(found.verify) == list(found.verify)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero) encountered:RuntimeWarning")
def test_a_card_is_measured_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are interpreted here; rows are made on the host as for graphs."""
    model = tiny_model("llama", hidden_size=32, num_attention_heads=1, num_key_value_heads=1, num_hidden_layers=3)
    list(pack(model))
    monkeypatch.setattr(costs, "ENOUGH", 1)
    cache = KVCache(300, 20)
    card = Card(model, Decoder(model), cache, CPU)
    found = costs.measure(model, card.forward, card.forward_of, JOINED, ("nf3",), CPU)
    assert found.draft["nf3"] > 0
    assert card.graph_bytes == 0, "a step that was only measured drafts for nobody"


@pytest.mark.parametrize("recipe", RECIPE_NAMES)
def test_placeholders_are_as_large_as_a_twin(recipe: str) -> None:
    model = tiny_model("llama", hidden_size=72, intermediate_size=100)
    made = placeholders(model, {}, RECIPES[recipe])
    work = quantize_matrices(model, [Text((1, 2, 3), 1)], {}, RECIPES[recipe], feedback=False)
    while True:
        try:
            next(work)
        except StopIteration as end:
            real = end.value
            break
    assert made.keys() == real.keys()
    for name, matrix in real.items():
        mine = made[name]
        assert (mine.bits, mine.block, mine.columns, mine.rows) == (
            matrix.bits, matrix.block, matrix.columns, matrix.rows
        )
        assert (mine.words.shape, mine.scales.shape) == (matrix.words.shape, matrix.scales.shape)
        assert (mine.offsets is None) == (matrix.offsets is None)
        assert torch.equal(mine.table, matrix.table)
        assert mine.divisor == matrix.divisor
    assert assemble(model, made, {}).bytes == sum(matrix.bytes for matrix in real.values())


def test_what_is_saved_is_loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("a", RECIPE_NAMES) is None
    save("a", KNOWN)
    assert load("a", RECIPE_NAMES) == KNOWN
    assert load("b", RECIPE_NAMES) is None
    assert load("a", [*RECIPE_NAMES, "new"]) is None, "a recipe that came later is measured too"
    kept = json.loads(file.read_text())
    for change in ({"plain_ms": 0}, {"draft": {}}, {"verify": [1.0]}, {"verify": ["x"] * 9}, {"at": time.time() + 60}):
        file.write_text(json.dumps({"a": {**kept["a"], **change}}))
        assert load("a", RECIPE_NAMES) is None, change
    file.write_text(json.dumps(kept))
    now = time.time()
    monkeypatch.setattr(costs.time, "time", lambda: now + 7.1 * 86400)
    assert load("a", RECIPE_NAMES) is None, "old"


def test_a_busy_machine_s_costs_are_not_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.getloadavg", lambda: (1e3, 0.0, 0.0))
    save("a", KNOWN)
    costs.tell("a", "tiny", "cpu", "0" * 64, choice.choose(KNOWN, {}, (), calibrated=True))
    assert not file.exists()


def test_what_was_chosen_is_told_and_reckoned_with(file: Path) -> None:
    assert fitting.recipe("auto", "cpu", "tiny") == "affine4"
    assert fitting.recipe("auto", "cuda", "tiny") == "nf3"
    found = choice.choose(KNOWN, {}, {"affine4", "nf4"}, calibrated=True)
    save("a", KNOWN)
    costs.tell("a", "tiny", "cpu", "0" * 64, found)
    assert found.recipe not in ("affine4", "nf4")
    assert fitting.recipe("auto", "cpu", "tiny") == found.recipe
    assert fitting.recipe("auto", "cuda", "tiny") == "nf3", "another device"
    assert fitting.recipe("auto", "cpu", "other") == "affine4", "another model"
    assert fitting.recipe("nf2", "cpu", "tiny") == "nf2"
    (told,) = fitting.choices()
    assert [one["recipe"] for one in told["candidates"]] == [one.recipe for one in found.candidates]
    assert load("a", RECIPE_NAMES) == KNOWN
    kept = json.loads(file.read_text())
    damages: list[Any] = [None, [], {}, {"recipe": "odd"}, {"candidates": [{}]}, {"candidates": 3}, {"model": 1}]
    for damage in damages:
        entry = {**told, **damage} if damage else damage
        file.write_text(json.dumps({"a": {**kept["a"], "choice": entry}}))
        assert fitting.choices() == [], damage


def maker_of(folder: Path, recipe: str = "auto") -> TwinMaker:
    model = load_text_model(folder, "tiny", torch.float32, CPU, is_filled_later=lambda _: True)
    list(pack(model.model, model.weights))
    forward, template = Decoder(model.model), ChatTemplate(model.tokenizer, "tiny")
    return TwinMaker(model, folder, template, frozenset(), forward, Decoder, JOINED, KVCache(512, 64), recipe)


def made(maker: TwinMaker, *, quick: bool = True) -> Offer:
    work = maker.make(quick=quick, is_cancelled=lambda: False)
    while True:
        try:
            next(work)
        except StopIteration as end:
            offer: Offer = end.value
            return offer


def favouring(recipe: str, draft: float = 0.2) -> Costs:
    return Costs(1.0, {name: draft if name == recipe else 0.9 for name in RECIPE_NAMES}, (1.0,) * 9)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Costs]:
    """What measuring finds, one after the other; those that were found are gone."""
    left: list[Costs] = []
    monkeypatch.setattr(costs, "measure", lambda *_: left.pop(0))
    return left


def test_without_a_name_the_fastest_recipe_is_made(tmp_path: Path, measured: list[Costs]) -> None:
    whole_model(tmp_path / "model")
    measured.append(favouring("affine3"))
    maker = maker_of(tmp_path / "model")
    assert maker.measures_first
    assert maker.load() is None
    assert not measured, "costs were measured"
    assert maker.recipe == "affine3"
    assert not maker.measures_first
    made(maker)
    assert [record.recipe for _, record in kept.records()] == ["affine3"]
    chosen, *others = recipes_of(SimpleNamespace(maker=maker))  # type: ignore[arg-type]
    assert (chosen.id, chosen.values["recipe"]) == ("twin.chosen", "affine3")
    assert {one.id for one in others} == {"twin.candidate"} and len(others) == len(RECIPES) - 2, "the others but nf2"
    assert all(one.values["speed"] <= chosen.values["speed"] for one in others)
    again = maker_of(tmp_path / "model")
    assert not again.measures_first, "they are kept"
    assert again.load() is not None
    assert again.recipe == "affine3"
    (told,) = fitting.choices()
    assert (told["model"], told["recipe"]) == ("tiny", "affine3")
    assert [one["is_kept"] for one in told["candidates"] if one["recipe"] == "affine3"] == [True]


def test_a_recipe_that_is_named_needs_no_measuring(tmp_path: Path, measured: list[Costs]) -> None:
    whole_model(tmp_path / "model")
    maker = maker_of(tmp_path / "model", "nf4")
    assert not maker.measures_first
    assert maker.load() is None
    made(maker)
    assert maker.record is not None
    assert maker.record.recipe == "nf4"
    assert maker.choice is None
    assert recipes_of(SimpleNamespace(maker=maker)) == ()  # type: ignore[arg-type]


def test_a_kept_twin_drafts_until_a_faster_one_is_made(tmp_path: Path, measured: list[Costs]) -> None:
    whole_model(tmp_path / "model")
    made(maker_of(tmp_path / "model", "nf4"), quick=False)
    measured.append(favouring("affine3", 0.05))
    maker = maker_of(tmp_path / "model")
    assert maker.load(later=True) is not None
    assert maker.record is not None
    assert maker.record.recipe == "nf4"
    assert maker.recipe == "affine3"
    assert maker.wants_better
    made(maker, quick=False)
    assert maker.record.recipe == "affine3"
    assert not maker.wants_better


def test_a_kept_twin_that_is_hardly_slower_is_left_alone(
    tmp_path: Path, measured: list[Costs], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_model(tmp_path / "model")
    made(maker_of(tmp_path / "model", "nf4"), quick=False)
    agreed = next(record.acceptance for _, record in kept.records())
    assert agreed is not None
    prior = choice.Prior(agreed, (0.7, 0.7))
    monkeypatch.setattr(choice, "CALIBRATED", dict.fromkeys(RECIPE_NAMES, prior))
    measured.append(Costs(1.0, {name: 0.3 if name == "nf3" else 0.31 for name in RECIPE_NAMES}, (1.0,) * 9))
    maker = maker_of(tmp_path / "model")
    assert maker.load(later=True) is not None
    assert maker.recipe == "nf4"
    assert maker.choice is not None
    assert maker.choice.keeps
    assert maker.choice.candidates[0].recipe == "nf3"
    assert not maker.wants_better


def test_a_quick_twin_is_made_at_once_for_a_gain_that_is_worth_it(tmp_path: Path, measured: list[Costs]) -> None:
    whole_model(tmp_path / "model")
    made(maker_of(tmp_path / "model", "nf4"))
    measured.append(favouring("affine3", 0.05))
    maker = maker_of(tmp_path / "model")
    assert maker.load() is None, "in the terminal nothing is made later"
    assert maker.recipe == "affine3"


def test_what_memory_does_not_hold_is_not_chosen(
    tmp_path: Path, measured: list[Costs], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_model(tmp_path / "model")
    measured.append(favouring("affine4"))
    maker = maker_of(tmp_path / "model")
    monkeypatch.setattr("inference.native.products.available", lambda: True)
    largest = max(parameter.numel() for parameter in maker.model.model.parameters())
    between = maker.model.parameters * 4.5 / 8 * 1.1 + 8 * largest
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": int(between)}))
    assert maker.load() is None
    assert maker.choice is not None
    assert [one.recipe for one in maker.choice.candidates if not one.fits] == ["affine4"]
    assert maker.recipe != "affine4"
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 1}))
    with pytest.raises(Problem, match="GB"):
        made(maker)
