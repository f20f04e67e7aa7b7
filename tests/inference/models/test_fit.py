"""Fit: reckoned from configuration and sizes, held to what loading takes; what would fit; what cards would give."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import transformers

from inference.bench.theory import speed_up
from inference.decoder import FAMILIES
from inference.messages import Problem
from inference.models import convert, fit, fitting, forecast, interrupted, library, tested
from inference.native import products
from tests.inference.models.folders_for_tests import small_gguf, whole_model

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
EIGHT_B: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False,
    "dtype": "bfloat16", "max_position_embeddings": 131072,
}
TINY: dict[str, dict[str, Any]] = {
    "wide": {"hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 8, "num_attention_heads": 16,
             "num_key_value_heads": 4},
    "deep": {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 30, "num_attention_heads": 8,
             "num_key_value_heads": 2},
    "words": {"vocab_size": 98304, "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4,
              "num_attention_heads": 8, "num_key_value_heads": 8, "tie_word_embeddings": True},
    "normed": {"family": "Qwen3", "hidden_size": 768, "intermediate_size": 2304, "num_hidden_layers": 8,
               "num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 128},
    "sliding": {"family": "Gemma3Text", "hidden_size": 640, "intermediate_size": 2048, "num_hidden_layers": 10,
                "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 128, "sliding_window": 512,
                "layer_types": ["sliding_attention", "full_attention"] * 5, "tie_word_embeddings": True},
}


def ram(whole: float, free: float) -> fit.Memory:
    return fit.Memory("ram", "", round(whole * GB), round(free * GB))


def card(whole: float, free: float | None = None) -> fit.Memory:
    return fit.Memory("gpu", "A card", round(whole * GB), round((whole if free is None else free) * GB))


def test_weights_are_counted_from_the_configuration_alone() -> None:
    shape = fit.shape(EIGHT_B)
    assert shape.parameters == pytest.approx(8_030_261_248, rel=1e-4)
    assert fit.shape(EIGHT_B, 2 * 8_030_261_248).parameters == 8_030_261_248
    for one in tested.models():
        assert fit.shape(one.config, one.size, "bfloat16").parameters == pytest.approx(one.parameters, rel=0.01)
        assert fit.shape(one.config).parameters == pytest.approx(one.parameters, rel=0.01), one.name


@pytest.fixture(autouse=True)
def _no_compiled_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a test says so: what earlier loads have noted of this machine does not count."""
    monkeypatch.setattr(fit, "_has_products", lambda: False)


def test_segments_of_an_8b_model_on_a_card() -> None:
    parts = dict(fit.segments(fit.shape(EIGHT_B), fit.Plan("bfloat16", "nf3", 8192), "gpu"))
    assert parts["target"] == pytest.approx(16.06 * GB, rel=0.01)
    assert parts["twin"] == pytest.approx((8.03 - 0.525) * GB * 3.25 / 8, rel=0.01)
    assert parts["cache"] == 32 * 2 * 8 * 128 * 2 * (8192 + 256)
    assert set(parts) == {"target", "twin", "cache", "work", "graphs"}
    small = dict(fit.segments(fit.shape(EIGHT_B), fit.Plan("int8", None, 8192, heads=10**9), "gpu"))
    assert "twin" not in small
    assert small["heads"] == GB
    assert small["target"] == pytest.approx(0.55 * parts["target"], rel=0.03)


def test_on_a_cpu_a_tied_head_lies_there_once_and_a_twin_keeps_five_bits() -> None:
    tied = fit.shape({**EIGHT_B, "tie_word_embeddings": True})
    packed = dict(fit.segments(tied, fit.Plan("bfloat16", "affine4", 4096), "ram"))
    whole = dict(fit.segments(tied, fit.Plan("float32", None, 4096), "ram"))
    assert packed["target"] == 2 * tied.parameters
    assert whole["target"] == 4 * tied.parameters
    assert packed["twin"] == pytest.approx(tied.read * 5 / 8)
    assert "graphs" not in packed


def test_what_does_not_fit_says_what_would() -> None:
    """From the least that is given up to the most, as the issue names them."""
    shape = fit.shape(EIGHT_B)
    found = fit.fit(shape, fit.Plan("bfloat16", "nf3", 8192), card(20))
    assert not found.fits
    assert found.notice.id == "fit.gpu_lacks"
    assert [notice.id for notice, _ in found.remedies] == [
        "fit.try_recipe", "fit.try_no_twin", *["fit.try_context"] * 3, "fit.try_int8", "fit.try_nf4",
    ]
    assert all(fit.fit(shape, plan, card(20)).fits for _, plan in found.remedies)
    tight = fit.fit(shape, fit.Plan("bfloat16", "nf3", 8192), card(18.5))
    assert tight.remedies[0][0].id == "fit.try_no_twin"
    assert [notice.id for notice, _ in fit.fit(shape, fit.Plan("bfloat16", None), card(11.5)).remedies] == [
        "fit.try_int8", "fit.try_nf4"]
    assert fit.fit(shape, fit.Plan("bfloat16", None), card(4)).remedies == ()
    assert fit.fit(shape, fit.Plan("bfloat16", "nf3"), card(24)).fits


def test_what_would_be_unloaded_first_counts_as_free_and_never_more_than_there_is() -> None:
    shape = fit.shape(EIGHT_B)
    plan = fit.Plan("bfloat16", None, 8192)
    assert not fit.fit(shape, plan, card(24, 10)).fits
    freed = fit.fit(shape, plan, card(24, 10), releases=10 * GB)
    assert freed.fits
    assert freed.others == 4 * GB
    assert fit.fit(shape, plan, card(24, 20), releases=100 * GB).others == 0


def test_as_json_the_parts_add_up_to_the_memory() -> None:
    told = fit.as_json(fit.fit(fit.shape(EIGHT_B), fit.Plan(), card(24, 23)))
    assert sum(part["bytes"] for part in told["segments"]) == told["whole"]
    assert [part["name"] for part in told["segments"]][-2:] == ["others", "free"]
    assert told["fits"]
    lacking = fit.as_json(fit.fit(fit.shape(EIGHT_B), fit.Plan(), card(8)))
    assert lacking["segments"][-1]["name"] == "others"
    assert lacking["remedies"][0]["text"]


def test_odd_configurations() -> None:
    moe = fit.shape({**EIGHT_B, "model_type": "mixtral", "num_local_experts": 8})
    assert moe.parameters == pytest.approx(8 * 32 * 3 * 4096 * 14336 + 2.4e9, rel=0.02)
    nested = fit.shape({"model_type": "gemma3", "text_config": {**EIGHT_B, "model_type": "gemma3_text"}})
    assert nested.layers == 32
    mixed = fit.shape({**EIGHT_B, "layer_types": ["linear_attention", "full_attention"] * 16})
    assert mixed.cached_layers == 16
    assert mixed.recurrent
    assert "twin" not in dict(fit.segments(mixed, fit.Plan(), "gpu"))
    for broken in ({}, {"hidden_size": "many"}, {"hidden_size": 64}):
        assert fit.segments(fit.shape(broken), fit.Plan(), "gpu")


def test_forecasts_follow_design_d7_and_are_marked() -> None:
    shape = fit.shape(EIGHT_B)
    small, twelve, sixteen, large = (forecast.forecast(shape, size) for size in forecast.CARDS)
    assert (small.dtype, twelve.dtype, sixteen.dtype, large.dtype) == ("nf4", "nf4", "int8", "bfloat16")
    assert not small.pays
    assert small.notice.id == twelve.notice.id == "fit.card_four_bits"
    assert "n-gram" in forecast.as_json(small)["notice"]["text"]
    state = fit.shape({**EIGHT_B, "layer_types": ["linear_attention", "full_attention"] * 16})
    assert forecast.forecast(state, 8).notice.id == "fit.card_plain"  # of a running state nothing can be drafted
    assert sixteen.pays
    assert large.speed > sixteen.speed
    assert large.speed == speed_up(large.acceptance, large.k, large.cost, forecast.VERIFY)
    assert large.acceptance == pytest.approx(0.91)
    assert forecast.acceptance(134_515_008) == pytest.approx(0.71, abs=0.001)
    told = forecast.as_json(large)
    assert told["forecast"] is True
    assert "forecast" in told["notice"]["text"]
    assert forecast.forecast(fit.shape({**EIGHT_B, "num_hidden_layers": 80, "hidden_size": 8192}), 8).dtype is None


def test_an_installed_model_and_a_gguf_file_have_a_shape(home: Path) -> None:
    path = small_gguf(home / "tiny.gguf")
    before = fitting.shape_of(library.describe_gguf(path, "folder"))
    convert.bring(path, lambda *_: None)
    after = fitting.shape_of(library.find("tiny"))
    assert before == after
    with pytest.raises(Problem):
        fitting.plan(after, "float7", "auto", 512)
    assert fitting.plan(after, "float32", "none", 512)("ram") == fit.Plan("float32", None, 512)


def test_G08_a_load_that_cannot_fit_is_refused_with_figures_and_a_way_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_model(home / "big", max_position_embeddings=2**22)
    monkeypatch.setattr(fit, "memories", lambda: (ram(1.0, 0.2),))
    with pytest.raises(Problem) as caught:
        fitting.require(home / "big", "big", fit.Plan("bfloat16", "affine4", 2**22), "ram")
    said = str(caught.value)
    assert "0.2 GB are free" in said
    assert "smaller context" in said
    monkeypatch.setattr(fit, "memories", lambda: (ram(1.0, 0.001),))
    with pytest.raises(Problem) as caught:
        fitting.require(home / "big", "big", fit.Plan("bfloat16", None, 1024), "ram")
    assert "smaller model" in str(caught.value)


def test_G08_a_program_that_died_loading_says_so_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted.begin("owner/small", 10, 100)
    assert interrupted.died("owner/small") is None  # too small to be the reason
    monkeypatch.setattr("os.getpid", lambda: 2**22 + 5)  # no process has this number
    interrupted.begin("owner/large", 90, 100)
    assert interrupted.died("owner/large") is None  # its own load
    interrupted.begin("owner/large", 90, 100)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    notice = interrupted.died("owner/large")
    assert notice is not None
    assert notice.id == "error.died_loading"
    assert interrupted.died("owner/large") is None
    interrupted.begin("owner/large", 90, 100)
    interrupted.end()
    assert interrupted.died("owner/large") is None


def test_the_families_of_the_decoder_are_those_that_the_forecast_knows() -> None:
    configs = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    models = transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    assert {models[name] for name in fit.FAST} == FAMILIES
    assert set(fit.FAST) <= set(configs)


def test_with_compiled_products_matrices_stay_as_they_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
              "vocab_size": 1000, "intermediate_size": 96, "dtype": "bfloat16"}
    plan = fit.Plan("float32", "nf3", 512)
    found = {}
    for has in (True, False):
        monkeypatch.setattr(fit, "_has_products", lambda has=has: has)
        for kind in ("llama", "gemma"):
            found[kind, has] = dict(fit.segments(fit.shape({**config, "model_type": kind}), plan, "ram"))
    read = fit.shape(config).read + 64000  # the embedding is no head here
    norms = 4 * (2 * 2 * 64 + 64)
    assert found["llama", True]["target"] == 2 * read + norms
    assert found["llama", False]["target"] == 4 * read + norms
    assert found["gemma", True]["target"] == found["gemma", False]["target"]
    assert found["llama", True]["twin"] < found["llama", False]["twin"] / 9, "3.25 bits instead of 32"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(900)  # two minutes on a machine of its own
def test_the_estimate_is_what_loading_takes(
    home: Path, starter_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starter, with and without its twin, and five tiny models of different shapes: within 10 %."""
    first = {"ours": "Llama", "theirs": "Gemma"}
    for name, family in first.items():
        whole_model(tmp_path / name, family)
    models = {name: tmp_path / name for name in TINY}
    for name, shape in TINY.items():
        whole_model(models[name], **{"max_position_embeddings": 4096, **shape})
    wanted = [(starter_folder, "none", 8192), (starter_folder, "twin", 8192)]
    wanted += [(folder, "none", 4096) for folder in models.values()]
    choices: list[dict[str, Any]] = [{"model": str(tmp_path / name), "drafter": "none"} for name in first]
    choices += [
        {"model": str(folder), "drafter": drafter, "context": context, "recipe": "affine4", "dtype": "auto",
         "exact": False}
        for folder, drafter, context in wanted
    ]
    child = subprocess.run(
        [sys.executable, "-m", "tests.inference.models.memory_child"],
        input=json.dumps(choices), capture_output=True, text=True, check=True,
    )
    measured = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(measured) == len(wanted)
    monkeypatch.setattr(fit, "_has_products", products.available)  # what the child has noted for itself
    off = {}
    for (folder, drafter, context), found in zip(wanted, measured, strict=True):
        plan = fit.Plan(found["dtype"], "affine4" if drafter == "twin" else None, context)
        shape = fitting.shape_in(folder, folder.name)
        needed = sum(size for _, size in fit.segments(shape, plan, "ram"))
        off[f"{folder.name} {drafter}"] = round(needed / found["taken"] - 1, 3)
    assert max(map(abs, off.values())) < 0.10, f"{off}"
