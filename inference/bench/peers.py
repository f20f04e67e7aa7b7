"""transformers' own ``generate`` as a contender: greedy, the same precision, prompts and limits, in this process.

It loads the folder once more, as a user of transformers would, so nothing of ours is in its way.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.generation.streamers import BaseStreamer

from inference.bench.suite import Reply
from inference.models.source import locate
from inference.settings import Message
from inference.text.context import fit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.bench.prompts import Prompt
    from inference.loading import Ready
    from inference.settings import Sampling

NAME = "generate"


class Clock(BaseStreamer):
    """Notes when each token came; the prompt comes first."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def put(self, value: torch.Tensor) -> None:
        """A token is there."""
        self.times.append(time.perf_counter())

    def end(self) -> None:
        """Nothing follows."""


class Generate:
    """``generate`` of the model that ``ready`` holds, with weights of its own."""

    name = NAME

    def __init__(self, ready: Ready) -> None:
        self._template = ready.template
        self._context = ready.engine.cache.context
        self._tokenizer = ready.model.tokenizer
        self._ends = ready.ends
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder_of(ready.loaded.model), dtype=ready.model.dtype, local_files_only=True, use_safetensors=True
        )
        self._model = model.eval().requires_grad_(False).to(ready.model.device)
        # What the checkpoint's own configuration asks for (penalties, sampling) would be a different text.
        self._model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False, eos_token_id=sorted(self._ends), pad_token_id=min(self._ends, default=0)
        )

    @torch.inference_mode()
    def answer(self, prompt: Prompt, how: Sampling, max_new_tokens: int) -> Iterator[Reply]:
        """One reply a turn, each with a prefill of its own; ``how`` is greedy."""
        chat: list[Message] = []
        for question in prompt.turns:
            chat.append(Message("user", question))
            room = min(max_new_tokens, self._context // 4)
            ids = fit(self._template, chat, self._context, room).ids
            clock = Clock()
            begun = time.perf_counter()
            asked = torch.tensor([ids], device=self._model.device)
            written = self._model.generate(
                input_ids=asked,
                attention_mask=torch.ones_like(asked),
                max_new_tokens=min(max_new_tokens, self._context - len(ids)),
                streamer=clock,
            )
            token_ids = tuple(written[0, len(ids) :].tolist())
            text = self._tokenizer.decode(token_ids, skip_special_tokens=True)
            yield Reply(
                text=text,
                token_ids=token_ids,
                finish="end" if token_ids[-1] in self._ends else "length",
                # Its first token comes out of the prefill, so the clock covers one token less.
                decode_seconds=clock.times[-1] - clock.times[1],
                timed_tokens=len(token_ids) - 1,
                ttft=clock.times[1] - begun,
                prompt_tokens=len(ids),
                seed=0,
                rounds=len(token_ids),
            )
            chat.append(Message("assistant", text, token_ids))


def folder_of(model: str) -> Path:
    """Where a model lies that has been loaded before."""
    search = locate(model, threading.Event())
    while True:
        try:
            next(search)
        except StopIteration as end:
            folder: Path = end.value.folder
            return folder
