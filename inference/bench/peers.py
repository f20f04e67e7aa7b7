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
    from inference.ready import Ready
    from inference.settings import Sampling

NAME = "generate"
LOOKUP_NAME = "prompt lookup"
LOOKUP_TOKENS = 10
"""What prompt lookup copies, as its authors do."""


class Clock(BaseStreamer):
    """Notes when tokens came and how many at once; the prompt comes first."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.counts: list[int] = []

    def put(self, value: torch.Tensor) -> None:
        """Tokens are there."""
        self.times.append(time.perf_counter())
        self.counts.append(value.numel())

    def end(self) -> None:
        """Nothing follows."""


def peers(ready: Ready) -> tuple[Generate, Generate]:
    """``generate`` plain and with prompt lookup, of the model that ``ready`` holds, with weights of its own."""
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        folder_of(ready.loaded.model), dtype=ready.model.dtype, local_files_only=True, use_safetensors=True
    )
    model = loaded.eval().requires_grad_(False).to(ready.model.device)
    # What the checkpoint's own configuration asks for (penalties, sampling) would be a different text.
    model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False, eos_token_id=sorted(ready.ends), pad_token_id=min(ready.ends, default=0)
    )
    lookup = {"prompt_lookup_num_tokens": LOOKUP_TOKENS}
    return Generate(NAME, model, ready, {}), Generate(LOOKUP_NAME, model, ready, lookup)


class Generate:
    """``generate`` of a transformers ``model`` with these options."""

    def __init__(self, name: str, model: Any, ready: Ready, options: dict[str, Any]) -> None:
        self.name = name
        self._model = model
        self._options = options
        self._template = ready.template
        self._context = ready.engine.cache.context
        self._tokenizer = ready.model.tokenizer
        self._ends = ready.ends

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
                **self._options,
            )
            token_ids = tuple(written[0, len(ids) :].tolist())
            text = self._tokenizer.decode(token_ids, skip_special_tokens=True)
            yield Reply(
                text=text,
                token_ids=token_ids,
                finish="end" if token_ids[-1] in self._ends else "length",
                # Its first tokens come out of the prefill, so the clock does not cover them.
                decode_seconds=clock.times[-1] - clock.times[1],
                timed_tokens=sum(clock.counts[2:]),
                ttft=clock.times[1] - begun,
                prompt_tokens=len(ids),
                seed=0,
                rounds=len(clock.times) - 1,
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
