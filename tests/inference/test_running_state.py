"""Models with a running state write what transformers' own generation writes, also in the second turn."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

from inference.engine import Engine
from inference.events import Finished, Loaded, Notice
from inference.messages import Problem
from inference.model import is_recurrent
from inference.running import WIDTH, RunningCache, RunningForward
from inference.sampling import Sampler
from inference.session import Session
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.models_for_tests import CPU, GREEDY, FixedK
from tests.inference.text.tiny_tokenizers import tiny_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

V = 128
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
SIZES: dict[str, Any] = {"vocab_size": V, "hidden_size": 32}
HEADS: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2}

CONFIGURATIONS = {
    "mamba": lambda: transformers.MambaConfig(**SIZES, num_hidden_layers=2, state_size=8),
    "mamba2": lambda: transformers.Mamba2Config(
        **SIZES, num_hidden_layers=2, state_size=8, head_dim=16, num_heads=4, n_groups=1, chunk_size=16
    ),
    "falcon mamba": lambda: transformers.FalconMambaConfig(**SIZES, num_hidden_layers=2, state_size=8),
    "qwen3 next": lambda: transformers.Qwen3NextConfig(
        **SIZES,
        **HEADS,
        intermediate_size=48,
        num_hidden_layers=4,
        head_dim=16,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    ),
    "lfm2": lambda: transformers.Lfm2Config(
        **SIZES,
        **HEADS,
        intermediate_size=48,
        num_hidden_layers=3,
        block_multiple_of=16,
        layer_types=["conv", "full_attention", "conv"],
    ),
    "falcon h1": lambda: transformers.FalconH1Config(
        **SIZES,
        **HEADS,
        intermediate_size=48,
        num_hidden_layers=2,
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_d_ssm=64,
        mamba_n_groups=1,
        mamba_chunk_size=16,
    ),
    "recurrent gemma": lambda: transformers.RecurrentGemmaConfig(
        **SIZES,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        lru_width=32,
        attention_window_size=64,
    ),
}


def make(kind: str) -> Any:
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    return transformers.AutoModelForCausalLM.from_config(CONFIGURATIONS[kind]()).eval().float()


def write(engine: Engine, prompt: list[int], count: int) -> list[int]:
    list(engine.prefill(prompt, lambda: False))
    sampler = Sampler(GREEDY, 0, prompt)
    return [
        token
        for outcome in engine.decode(prompt, sampler, NONE, FixedK(4), lambda token: None, count)
        for token in outcome.tokens
    ]


class _NoDrafter:
    name = "none"

    def propose(self, *_: object) -> object:
        raise AssertionError("nothing may be drafted for a model with a running state")


NONE: Any = _NoDrafter()


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_text_is_that_of_generate_in_both_turns(kind: str) -> None:
    model = make(kind)
    assert is_recurrent(model)
    engine = Engine(RunningForward(model), RunningCache(256), WIDTH, CPU)
    prompt = torch.randint(1, V, (40,), generator=torch.Generator().manual_seed(1)).tolist()
    for turn in range(2):
        wanted = model.generate(
            torch.tensor([prompt]), max_new_tokens=16, do_sample=False, eos_token_id=None, pad_token_id=0
        )[0].tolist()
        held = engine.cache.length
        assert engine.reuse(prompt) == held, "a chat that goes on is not read again"
        assert write(engine, prompt, 16) == wanted[len(prompt) :]
        assert engine.cache.length == len(wanted) - 1
        prompt = [*wanted, 7, 8 + turn, 9]


def test_a_chat_that_goes_back_is_read_anew() -> None:
    engine = Engine(RunningForward(make("mamba")), RunningCache(256), WIDTH, CPU)
    prompt = list(range(3, 40))
    first = write(engine, prompt, 12)
    assert engine.reuse(prompt) == 0
    assert write(engine, prompt, 12) == first


def test_after_a_fault_in_a_pass_everything_is_read_anew() -> None:
    forward = RunningForward(make("mamba"))
    engine = Engine(forward, RunningCache(256), WIDTH, CPU)
    prompt = list(range(3, 40))
    first = write(engine, prompt, 12)
    inner, forward._model = forward._model, None
    with pytest.raises(TypeError):
        write(engine, [*prompt, *first, 5, 6], 4)
    forward._model = inner
    assert engine.reuse([*prompt, *first, 5, 6]) == 0
    assert write(engine, prompt, 12) == first


def test_a_model_that_hands_over_no_state_is_refused_in_one_sentence() -> None:
    torch.manual_seed(0)
    config = transformers.RwkvConfig(vocab_size=V, hidden_size=32, num_hidden_layers=2, context_length=64)
    with pytest.raises(Problem) as raised:
        RunningForward(transformers.AutoModelForCausalLM.from_config(config).eval())
    assert raised.value.notice.id == "error.recurrent"


def test_a_session_chats_without_speculation_and_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "mamba"
    tokenizer = tiny_tokenizer("byte", special=("<|im_start|>", "<|im_end|>"), template=CHATML)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.MambaConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, state_size=8)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    session = Session()
    *_, loaded = session.load(ModelChoice(model=str(folder), device="cpu"), threading.Event())
    assert isinstance(loaded, Loaded), loaded
    assert loaded.no_drafter == Notice("drafter.recurrent")
    assert loaded.mode_notice == Notice("exact.off_recurrent")
    assert loaded.drafters == ("none",)
    request = Request(1, (Message("user", "Hello there"),), Sampling(temperature=0), max_new_tokens=8)
    # A draft length chosen for another model does no harm.
    *_, done = session.reply(request, Control(Speculation(k=4)))
    assert isinstance(done, Finished), done
    assert done.statistics.drafted == 0
    assert done.statistics.tokens > 0
