"""Model folders and GGUF files of the tests' own, small and real enough to be loaded, and ways to break them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from inference.models import contents

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("hello", "world", "the", "cat", "sat", "on", "a", "mat", "and", "ran")


def whole_tokenizer(folder: Path) -> None:
    """A byte-level tokenizer of a few hundred tokens with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate(["<|end|>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<|end|>{% endfor %}assistant: "
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>", "chat_template": template})
    )


def whole_model(
    folder: Path, family: str = "Llama", *, shards: bool = False, dtype: str = "bfloat16", **changes: Any
) -> Any:
    """A tiny random model saved as transformers does, with its tokenizer; returns the model."""
    import torch
    import transformers

    shape = {
        "vocab_size": 264, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
        "eos_token_id": 0, "bos_token_id": None, "pad_token_id": 0, "tie_word_embeddings": False,
    }
    config = getattr(transformers, family + "Config")(**{**shape, **changes})
    torch.manual_seed(3)
    model = transformers.AutoModelForCausalLM.from_config(config).to(getattr(torch, dtype))
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, **({"max_shard_size": "60KB"} if shards else {}))
    whole_tokenizer(folder)
    return model


def shard_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("model-*-of-*.safetensors"))


def change_json(path: Path, **changes: Any) -> None:
    """Set these keys; None takes one away."""
    content = json.loads(path.read_text())
    content.update(changes)
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def change_header(path: Path, change: Any) -> None:
    """Rewrite the header of a safetensors file by a function of its dictionary; the tensors' bytes stay."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    changed = json.dumps(change(header) or header).encode()
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + data[8 + length :])


def small_gguf(
    path: Path, kind: str = "Q8_0", *, layers: int = 2, hidden: int = 64, vocabulary: int = 264,
    architecture: str = "llama", context: int = 512, seed: int = 0, feed_forward: int = 128,
    extra: dict[str, Any] | None = None, part: int = 0, dimensions: int = 0, **values: Any,
) -> Path:
    """A tiny llama as a GGUF file whose matrices are of one kind; norms and embeddings in F32.

    With ``part``, a set of files of at most so many tensors each.
    """
    import gguf
    from tokenizers import pre_tokenizers

    heads, key_heads = 4, 2
    writer = gguf.GGUFWriter(path, architecture, split_max_tensors=part)
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_rope_dimension_count(dimensions or hidden // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary)
    alphabet = ["<|end|>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġt", "he"]
    tokens = alphabet + [f"<|spare {number}|>" for number in range(vocabulary - len(alphabet))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(values.pop("pre", "default"))
    writer.add_token_list(tokens)
    writer.add_token_types([3, *[1] * (len(alphabet) - 1), *[3] * (vocabulary - len(alphabet))])
    writer.add_token_merges(["Ġ t", "h e"])
    writer.add_eos_token_id(0)
    writer.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<|end|>{% endfor %}assistant: ")
    for name, value in values.items():
        add = {str: writer.add_string, float: writer.add_float32, int: writer.add_uint32, bool: writer.add_bool}
        add[type(value)](name.replace("__", "."), value)
    generator = np.random.default_rng(seed)
    quantized = gguf.GGMLQuantizationType[kind]

    made: dict[tuple[int, int], np.ndarray] = {}

    def add(name: str, rows: int, columns: int) -> None:
        if kind not in ("F32", "F16") and rows * columns > 1e6:  # numbers of their own take minutes there
            if (rows, columns) not in made:
                matrix = (generator.standard_normal((rows, columns)) * 0.05).astype(np.float32)
                made[rows, columns] = gguf.quants.quantize(matrix, quantized)
            writer.add_tensor(name, made[rows, columns], raw_dtype=quantized)
            return
        matrix = (generator.standard_normal((rows, columns)) * 0.05).astype(np.float32)
        if kind in ("F32", "F16"):
            writer.add_tensor(name, matrix.astype(kind.lower().replace("f", "float")))
            return
        block, size = gguf.GGML_QUANT_SIZES[quantized]
        try:
            packed = gguf.quants.quantize(matrix, quantized)
        except NotImplementedError:  # no writer for this kind: any bytes are numbers of it
            packed = generator.integers(0, 60, (rows, columns // block * size), dtype=np.uint8)
        writer.add_tensor(name, packed, raw_dtype=quantized)

    def ones(name: str, size: int) -> None:
        writer.add_tensor(name, np.ones(size, dtype=np.float32))

    add("token_embd.weight", vocabulary, hidden)
    for layer in range(layers):
        prefix = f"blk.{layer}."
        ones(prefix + "attn_norm.weight", hidden)
        ones(prefix + "ffn_norm.weight", hidden)
        keys = hidden // heads * key_heads
        if architecture == "phi3":
            add(prefix + "attn_qkv.weight", hidden + 2 * keys, hidden)
            add(prefix + "ffn_up.weight", 2 * feed_forward, hidden)
        else:
            add(prefix + "attn_q.weight", hidden, hidden)
            add(prefix + "attn_k.weight", keys, hidden)
            add(prefix + "attn_v.weight", keys, hidden)
            add(prefix + "ffn_gate.weight", feed_forward, hidden)
            add(prefix + "ffn_up.weight", feed_forward, hidden)
        add(prefix + "attn_output.weight", hidden, hidden)
        add(prefix + "ffn_down.weight", hidden, feed_forward)
    ones("output_norm.weight", hidden)
    add("output.weight", vocabulary, hidden)
    for name, numbers in (extra or {}).items():
        writer.add_tensor(name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def stray_pickle(path: Path, marker: Path) -> None:
    """A pickle that makes ``marker`` when it is loaded as one."""
    path.write_bytes(b"cos\nsystem\n(S'touch " + bytes(marker) + b"'\ntR.")


def index_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / contents.INDEX).read_text())
