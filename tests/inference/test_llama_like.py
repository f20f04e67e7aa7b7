"""Modules of our own compute what transformers' do, to the bit; what they do not know is left to transformers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference import llama_like
from inference.decoder import refusal
from inference.model import load_text_model
from inference.models import contents
from inference.transformers_loading import read_config, read_tokenizer
from tests.inference.models.folders_for_tests import change_json, whole_model, whole_tokenizer
from tests.inference.models_for_tests import CPU

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {
    "llama": ("Llama", {}),
    "llama with biases": ("Llama", {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4}),
    "llama 3": (
        "Llama",
        {
            "rope_parameters": {
                "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
            }
        },
    ),
    "linear": ("Llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}}),
    "mistral": ("Mistral", {"sliding_window": None, "head_dim": 32}),
    "mistral with a window": ("Mistral", {"sliding_window": 8}),
    "qwen2": ("Qwen2", {"tie_word_embeddings": True, "bos_token_id": 3}),
    "qwen3": ("Qwen3", {"head_dim": 32, "attention_bias": True}),
    "yarn": (
        "Qwen3",
        {"head_dim": 16, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0}},
    ),
}


def content(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / contents.CONFIG).read_text())
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_module_is_transformers_own_to_the_bit(kind: str, dtype: torch.dtype, tmp_path: Path) -> None:
    family, changes = KINDS[kind]
    whole_model(tmp_path, family, **changes)
    wanted = load_text_model(tmp_path, "tiny", dtype, CPU).model
    ours = load_text_model(tmp_path, "tiny", dtype, CPU, is_filled_later=lambda _: True)
    assert type(ours.model) is llama_like.LlamaLike
    assert type(wanted).__module__.startswith("transformers.")
    assert refusal(ours.model) is None
    assert ours.weights is not None
    ours.weights.fill(ours.model)
    for parameter in ours.model.parameters():
        assert not parameter.is_meta
        assert not parameter.requires_grad
        parameter.data = parameter.data.to(dtype)  # our products keep matrices as they are stored
    for length in (1, 5, 40):
        ids = torch.randint(1, 264, (2, length), generator=torch.Generator().manual_seed(length))
        with torch.inference_mode():
            assert torch.equal(ours.model(input_ids=ids).logits, wanted(input_ids=ids, use_cache=False).logits), length


@pytest.mark.parametrize("kind", KINDS)
def test_the_configuration_is_transformers_own(kind: str, tmp_path: Path) -> None:
    family, changes = KINDS[kind]
    whole_model(tmp_path, family, **changes)
    check_config(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"head_dim": None},
        {"eos_token_id": None},
        {"eos_token_id": [3, 7]},
        {"tie_word_embeddings": None, "attention_bias": None, "mlp_bias": None, "hidden_act": None},
        {"rope_parameters": None, "rope_theta": 5e5},
        {"rope_parameters": None},
        {"rope_parameters": None, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}},
        {"pretraining_tp": 1, "torch_dtype": "float16", "unheard_of": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("family", ["Llama", "Mistral", "Qwen2"])
def test_what_a_configuration_leaves_out_is_filled_in_as_transformers_does(
    family: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    whole_model(tmp_path, family, **({"sliding_window": 8} if family == "Mistral" else {}))
    change_json(tmp_path / contents.CONFIG, **changes)
    check_config(tmp_path)


def check_config(folder: Path) -> None:
    ours, wanted = llama_like.read_config(content(folder)), read_config(folder, "tiny")
    assert ours is not None
    for name in (*llama_like.SIZES, "num_key_value_heads", "rms_norm_eps", "tie_word_embeddings", "eos_token_id"):
        assert getattr(ours, name) == getattr(wanted, name), name
    assert ours.head_dim == getattr(wanted, "head_dim", wanted.hidden_size // wanted.num_attention_heads)
    assert ours.sliding_window == getattr(wanted, "sliding_window", None)
    parameters = dict(wanted.rope_parameters)
    parameters.pop("type", None)
    assert {key: value for key, value in ours.rope_parameters.items() if key != "type"} == parameters


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "gemma"},
        {"hidden_size": None},
        {"hidden_size": "64"},
        {"hidden_size": 66},
        {"num_key_value_heads": 3},
        {"num_hidden_layers": True},
        {"rms_norm_eps": "1e-5"},
        {"hidden_act": "gelu"},
        {"attention_bias": "yes"},
        {"sliding_window": 8},
        {"layer_types": ["full_attention"]},
        {"layer_types": ["sliding_attention", "sliding_attention"]},
        {"partial_rotary_factor": 0.5},
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": -1.0}},
        {"rope_parameters": ["linear"]},
        {"quantization_config": {"quant_method": "mxfp4"}},
        {"auto_map": {"AutoModelForCausalLM": "code.Model"}},
        {"eos_token_id": "0"},
    ],
    ids=str,
)
def test_what_is_not_plainly_of_a_family_is_left_to_transformers(changes: dict[str, Any], tmp_path: Path) -> None:
    whole_model(tmp_path)
    assert llama_like.read_config(content(tmp_path)) is not None
    change_json(tmp_path / contents.CONFIG, **changes)
    assert llama_like.read_config(content(tmp_path)) is None


@pytest.mark.parametrize("family", ["Qwen2", "Qwen3"])
def test_layers_that_see_apart_are_left_to_transformers(family: str, tmp_path: Path) -> None:
    whole_model(tmp_path, family, use_sliding_window=True, sliding_window=8, max_window_layers=1)
    assert llama_like.read_config(content(tmp_path)) is None


def test_a_scaling_that_lacks_its_factor_is_left_to_transformers(tmp_path: Path) -> None:
    whole_model(tmp_path)
    change_json(tmp_path / contents.CONFIG, rope_parameters={"rope_type": "linear", "rope_theta": 1e4})
    assert llama_like.empty_model(tmp_path, "tiny", content(tmp_path), torch.float32) is None


def test_a_load_of_these_families_imports_no_module_of_transformers(tmp_path: Path) -> None:
    """They take seconds: their model files, and with them PyTorch's compiler and its distributed tensors."""
    whole_model(tmp_path)
    code = (
        "import sys, threading\n"
        "from inference.loading import prepare\n"
        "from inference.settings import ModelChoice\n"
        f"for _ in prepare(ModelChoice({str(tmp_path)!r}, drafter='ngram', context=256), threading.Event()): pass\n"
        "heavy = {'transformers.modeling_utils', 'transformers.activations', 'transformers.core_model_loading',\n"
        "         'transformers.models.llama.modeling_llama', 'transformers.cache_utils', 'torch._dynamo',\n"
        "         'torch.distributed.tensor', 'sympy', 'accelerate', 'bitsandbytes', 'triton'} & set(sys.modules)\n"
        "assert 'transformers.models.auto.tokenization_auto' in sys.modules\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_tokenizer_read_without_the_models_class_is_the_same(tmp_path: Path) -> None:
    whole_model(tmp_path)
    text = "The cat sat on a mat.<|end|> hello"
    known, plain = read_tokenizer(tmp_path, "tiny", read_config(tmp_path, "tiny")), read_tokenizer(tmp_path, "tiny")
    assert type(known) is type(plain)
    assert known(text)["input_ids"] == plain(text)["input_ids"]
    assert known.get_vocab() == plain.get_vocab()


def test_a_tokenizer_that_names_no_class_is_found_by_the_models(tmp_path: Path) -> None:
    whole_tokenizer(tmp_path)
    (tmp_path / contents.CONFIG).write_text(json.dumps({"model_type": "qwen2"}))
    change_json(tmp_path / "tokenizer_config.json", tokenizer_class=None)
    known, plain = read_tokenizer(tmp_path, "tiny", read_config(tmp_path, "tiny")), read_tokenizer(tmp_path, "tiny")
    assert type(known) is type(plain)
    assert type(plain).__name__ == "Qwen2Tokenizer"
