"""A tiny model in a folder."""

from __future__ import annotations

import pytest
import torch

from tests.inference.models_for_tests import tiny_model
from tests.inference.text.tiny_tokenizers import tiny_tokenizer

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("models") / "tiny"
    tokenizer = tiny_tokenizer("byte", special=("<|im_start|>", "<|im_end|>"), template=CHATML)
    model = tiny_model("llama", vocab_size=len(tokenizer))
    with torch.no_grad():  # unlikely to end by itself
        for token in ("</s>", "<|im_end|>", "<|im_start|>"):
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(token)] = 0
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return str(place)
