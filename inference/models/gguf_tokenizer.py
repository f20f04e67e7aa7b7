"""The tokenizer of a GGUF file: transformers' own reading of it, with the splitting rule that the file names.

transformers takes plain byte level where it does not know the rule, and the model then gets ids it was never trained
on. Where the rule is unknown here too, that is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from inference.models.gguf_header import Header

EACH_DIGIT = ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone")
"""Rules that take each digit alone, then go on as GPT-2 (llama.cpp, llama-vocab.cpp)."""

PLAIN = ("gpt-2", "phi-2", "mpt", "olmo", "jina-es", "jina-de", "roberta-bpe", "trillion", "granite-docling")
"""Rules that are GPT-2's."""

READABLE = ("gpt2", "llama", "t5", "gemma4")
"""Kinds of vocabulary that transformers builds a tokenizer from."""


def is_readable(header: Header) -> bool:
    """Whether the file brings a vocabulary that a tokenizer can be built from."""
    return header.values.get("tokenizer.ggml.model") in READABLE


def is_sure(header: Header) -> bool:
    """Whether the file's rule for splitting text is known, so that its tokenizer gives the original's ids."""
    if header.values.get("tokenizer.ggml.model") != "gpt2":
        return True
    rule = header.values.get("tokenizer.ggml.pre")
    return rule in EACH_DIGIT or rule in PLAIN or rule in _known_to_transformers()


def build(gguf: Path, header: Header, longest: int) -> Any:
    """A transformers tokenizer with vocabulary, special tokens and chat template of the file."""
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    rule = header.values.get("tokenizer.ggml.pre")
    if header.values.get("tokenizer.ggml.model") == "gpt2" and rule in EACH_DIGIT:
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ])
    tokenizer.model_max_length = longest
    return tokenizer


def end_ids(header: Header) -> list[int]:
    """Every token that ends a turn by the file: end of text, of turn, of message."""
    names = ("eos_token_id", "eot_token_id", "eom_token_id")
    found = (header.values.get(f"tokenizer.ggml.{name}") for name in names)
    return list(dict.fromkeys(value for value in found if isinstance(value, int)))


def _known_to_transformers() -> frozenset[str]:
    try:
        from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
    except ImportError:  # transformers before 5.24 knows none
        return frozenset()
    return frozenset(GGUF_PRE_TOKENIZER_SPLITS)
