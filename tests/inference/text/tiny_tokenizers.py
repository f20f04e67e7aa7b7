"""Tiny tokenizers trained in the tests, of the kinds that real models have.

``byte`` is byte-level BPE (Qwen, Llama 3, SmolLM2); the others are SentencePiece-like BPE with byte fallback:
``legacy`` puts a space in front of every stretch (Llama 2), ``first`` only at the start, ``bare`` nowhere (Gemma).
"""

from __future__ import annotations

import json
from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

KINDS = ("byte", "legacy", "first", "bare")

CORPUS = [
    "Hello again, see you soon. The quick brown fox jumps over the wall and the lazy dog.",
    "system user assistant You are a helpful assistant. Write a short answer, please.",
    "def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))  # three\n",
    "山川 kanji, हिन्दी words, ok 🙂 go. What is the answer? The answer is short.\n\nAnd so on.",
    "<|im_start|>user\nhi<|im_end|>\n [INST] hi [/INST] USER: hi ASSISTANT: hello\n### User:\n",
] * 4


@cache
def _sentencepiece_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    letters = [text for text in CORPUS for text in [text.replace("🙂", "").replace("हिन्दी", "").replace("\n", " ")]]
    trained.train_from_iterator(letters, trainers.BpeTrainer(vocab_size=300, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2}
    for token in [*(f"<0x{byte:02X}>" for byte in range(256)), *model["vocab"], "\ufffd"]:
        vocabulary.setdefault(token, len(vocabulary))
    return vocabulary, [tuple(merge) for merge in model["merges"]]


def _backend(kind: str) -> Tokenizer:
    if kind == "byte":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(CORPUS, trainer)
        return tokenizer
    vocabulary, merges = _sentencepiece_vocabulary()
    tokenizer = Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tail = [] if kind == "bare" else [decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *tail]
    )
    spaces = normalizers.Replace(" ", "▁")
    if kind == "legacy":
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), spaces])
    elif kind == "first":
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        tokenizer.normalizer = spaces
    return tokenizer


def tiny_tokenizer(
    kind: str,
    *,
    special: tuple[str, ...] = (),
    added: tuple[str, ...] = (),
    swallowing: tuple[str, ...] = (),
    bos: str | None = "<s>",
    eos: str = "</s>",
    adds_bos: bool = False,
    template: str | None = None,
) -> PreTrainedTokenizerFast:
    """A tokenizer with these special tokens, ``added`` ones that are not special, and ``swallowing`` with rstrip."""
    backend = _backend(kind)
    own = [text for text in dict.fromkeys([bos, eos, *special]) if text]
    backend.add_special_tokens(
        [AddedToken(text, special=True, normalized=False, rstrip=text in swallowing) for text in own]
    )
    backend.add_tokens([AddedToken(text, special=False, normalized=False) for text in added])
    if adds_bos:
        assert bos is not None
        backend.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, backend.token_to_id(bos))]
        )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=bos, eos_token=eos)
    tokenizer.chat_template = template
    return tokenizer
