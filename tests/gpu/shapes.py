"""Models of random weights in the shapes of real ones, made on the card in seconds, and their twins."""

from __future__ import annotations

import copy
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
import transformers
from torch import nn

from inference.decoder import pack as take_apart
from inference.linears import DenseLinear
from inference.quantize.eight_bit import EightBitLinear
from inference.quantize.pack import Packed, round_levels
from inference.quantize.recipes import Format
from inference.quantize.triton_launch import LowBitProduct, Tile, power_of_two

if TYPE_CHECKING:
    from collections.abc import Callable

Shape = dict[str, int]

EIGHT: Shape = {
    "vocab_size": 128_256, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192,
}  # fmt: skip
ONE_AND_A_HALF: Shape = {
    "vocab_size": 151_936, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
    "num_attention_heads": 12, "num_key_value_heads": 2, "max_position_embeddings": 8192,
}  # fmt: skip
TINY: Shape = {
    "vocab_size": 256, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 8192,
}  # fmt: skip

SEED = 7
LOGIT_SPREAD = 3.0


def weights(shape: Shape) -> int:
    """How many a model of this shape has in its matrices, the embedding left out."""
    hidden, head = shape["hidden_size"], shape["hidden_size"] // shape["num_attention_heads"]
    attention = 2 * hidden * hidden + 2 * hidden * head * shape["num_key_value_heads"]
    layer = attention + 3 * hidden * shape["intermediate_size"]
    return shape["num_hidden_layers"] * layer + hidden * shape["vocab_size"]


def with_layers(shape: Shape, layers: int) -> Shape:
    """The same with fewer layers."""
    return {**shape, "num_hidden_layers": min(layers, shape["num_hidden_layers"])}


def random_model(shape: Shape, dtype: torch.dtype, device: torch.device) -> Any:
    """A Llama of this shape with random weights, made on the device."""
    config = transformers.LlamaConfig(
        **shape, tie_word_embeddings=False, bos_token_id=None, eos_token_id=None, pad_token_id=0
    )
    torch.manual_seed(SEED)
    with device:
        model: Any = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    with torch.no_grad():  # logits as far apart as a trained model's, or the noise of T 0.8 alone would write the text
        model.lm_head.weight.normal_(0, LOGIT_SPREAD / config.hidden_size**0.5)
    return model.to(device).eval().requires_grad_(False)


def joined(model: Any) -> Any:
    """The same model with its matrices joined, as the decoder and the fused step want it."""
    for _ in take_apart(model):
        pass
    return model


class RandomLowBit(nn.Module):
    """A matrix of random indices in place of one of a model: right in size and speed, wrong in content."""

    def __init__(self, layer: Any, bits: int, block: int) -> None:
        super().__init__()
        self.out_features, self.in_features = layer.out_features, layer.in_features
        self.bias = layer.bias
        device = next(iter(layer.parameters())).device if layer.weight is not None else torch.device("cpu")
        self.product = product_of(random_matrix(self.out_features, self.in_features, bits, block, device))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Its product, plus the bias where there is one."""
        product = self.product(x)
        return product if self.bias is None else product + self.bias


def product_of(packed: Packed) -> LowBitProduct:
    """Its product; interpreted in one program, since each costs as much as a large one."""
    if packed.words.device.type == "cuda":
        return LowBitProduct([packed])
    return LowBitProduct([packed], Tile(power_of_two(packed.rows), power_of_two(packed.groups), 1, 4))


def random_matrix(
    out: int, columns: int, bits: int, block: int, device: torch.device, *, offsets: bool = False
) -> Packed:
    """Random indices with scales that keep the size of what goes through; levels as the recipes have them."""
    padded = -(-columns // block) * block
    words = torch.randint(-(2**31), 2**31, (out, bits, padded // 32), dtype=torch.int32, device=device)
    scales = torch.full((out, padded // block), columns**-0.5, dtype=torch.bfloat16, device=device)
    table, divisor = round_levels(Format(bits, block, affine=offsets).levels())
    shift = (torch.randn_like(scales) * columns**-0.5).to(torch.bfloat16) if offsets else None
    return Packed(words, scales, shift, table.to(device), divisor, bits, columns)


def replaced(model: Any, kind: Callable[[Any], nn.Module]) -> Any:
    """A copy of a model that is taken apart, its matrices replaced; all else is shared."""
    shared: dict[int, Any] = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    shared |= {id(module): module for module in model.modules() if type(module) is DenseLinear}
    made = copy.deepcopy(model, memo=shared)
    for name, layer in [(name, layer) for name, layer in made.named_modules() if type(layer) is DenseLinear]:
        parent, _, last = name.rpartition(".")
        setattr(made.get_submodule(parent), last, kind(layer))
    return made


def random_twin(model: Any, bits: int = 3, block: int = 64) -> Any:
    """A twin in size and speed of a model that is taken apart."""
    return replaced(model, lambda layer: RandomLowBit(layer, bits, block))


def in_eight_bits(model: Any) -> Any:
    """The same model with 8-bit weights. On the CPU packed layers have no weights to read, so give it float32 there."""
    return replaced(model, lambda layer: EightBitLinear(layer.weight, layer.bias))


def low_bit_bytes(twin: Any) -> int:
    """Memory of a twin's matrices."""
    return sum(module.product.bytes for module in twin.modules() if isinstance(module, RandomLowBit))
