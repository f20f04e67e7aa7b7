"""A tiny chat model in a folder, and requests to a session over it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

from inference.events import Event, Finished
from inference.settings import Control, Message, ModelChoice, Request, Sampling, Speculation
from tests.inference.models_for_tests import tiny_model
from tests.inference.text.tiny_tokenizers import tiny_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from inference.session import Session

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

WARM = Sampling(temperature=0.9, top_p=1.0, seed=5)


def save_model(folder: Path, seed: int = 0, **changes: Any) -> Path:
    tokenizer = tiny_tokenizer("byte", special=("<|im_start|>", "<|im_end|>", "<|else|>"), template=CHATML)
    model = tiny_model("llama", seed=seed, vocab_size=len(tokenizer), **changes)
    with torch.no_grad():  # unlikely to end by itself
        for token in ("</s>", "<|im_end|>", "<|im_start|>"):
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(token)] = 0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def load(session: Session, choice: ModelChoice) -> Event:
    return list(session.load(choice, threading.Event()))[-1]


def ask(text: str = "hi", turn: int = 1, **options: Any) -> Request:
    options = {"sampling": WARM, "max_new_tokens": 40} | options
    return Request(turn, (Message("user", text),), **options)


def play(session: Session, request: Request, control: Control | None = None) -> tuple[list[Event], Finished]:
    events = list(session.reply(request, control or Control(Speculation(k=4))))
    assert isinstance(events[-1], Finished), events[-1]
    return events, events[-1]


def fixed(k: int) -> Control:
    return Control(Speculation(k=k))
