"""A linear layer with 8-bit weights for a target: blocks of 64 with a scale, 8.25 bits a weight, exact mode possible.

Its kernel computes a row the same in any company. Where the kernel does not work the weights are spread out for each
product, which is slow. Knows nothing of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from inference.decoder import JOINED
from inference.linears import DenseLinear, joined_bias
from inference.quantize.triton_launch import LARGEST_ROWS, processors, trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK = 64
PACKED_BITS = 8 + 16 / BLOCK
LARGEST = 127


def quantize(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights [out, in] of any float type as int8 [out, padded] and bfloat16 scales [out, padded / 64].

    Evenly spaced levels, so nearest is plain rounding; the scale is rounded up first, so nothing is cut off.
    """
    padded = functional.pad(weight.float(), (0, -weight.shape[1] % BLOCK))
    blocks = padded.view(len(padded), -1, BLOCK)
    scales = _bfloat16_at_or_above(blocks.abs().amax(-1) / LARGEST)
    whole = torch.round(blocks / scales.float().clamp_min(1e-30)[..., None])
    return whole.clamp_(-LARGEST, LARGEST).to(torch.int8).flatten(1), scales


def _bfloat16_at_or_above(values: torch.Tensor) -> torch.Tensor:
    """A bfloat16 is the upper half of a float32, so the next one is one more in that half."""
    bits = values.contiguous().view(torch.int32)
    return ((bits + 0xFFFF) & ~0xFFFF).view(torch.float32).to(torch.bfloat16)


def dequantize(weights: torch.Tensor, scales: torch.Tensor, columns: int) -> torch.Tensor:
    """The weights float32 [out, columns]: the oracle."""
    blocks = weights.view(len(weights), -1, BLOCK).float() * scales.float()[..., None]
    return blocks.flatten(1)[:, :columns]


class EightBitLinear(DenseLinear):
    """From x [n, in] to [n, out] in x's precision. Stands where a dense layer stood, and can be read like one."""

    weights: torch.Tensor
    scales: torch.Tensor
    rounded = False

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        nn.Module.__init__(self)
        self.out_features, self.in_features = weight.shape
        self.sizes: tuple[int, ...] = (self.out_features,)
        self.is_packed = False
        self.weight = None
        self.bias = bias
        weights, scales = quantize(weight)
        self.register_buffer("weights", weights)
        self.register_buffer("scales", scales)
        self._on_kernel = weight.dtype != torch.float32 and trouble(weight.device) is None

    @property
    def step_product(self) -> EightBitLinear | None:
        """Itself, where the kernel works: what a fused step calls."""
        return self if self._on_kernel else None

    @property
    def bytes(self) -> int:
        """Memory of the matrix."""
        return self.weights.nbytes + self.scales.nbytes

    def dense(self) -> torch.Tensor:
        """The weights [out, in] as they are multiplied, float32."""
        return dequantize(self.weights, self.scales, self.in_features)

    def parts(self, x: torch.Tensor) -> torch.Tensor:
        """The product without the bias, as parts to be added up, float32 [split, n, out]."""
        from inference.quantize.triton_eight_bit import eight_bit_product

        count = len(x)
        tile = 64 if x.device.type != "cuda" or torch.cuda.get_device_capability(x.device) >= (8, 0) else 32
        programs = -(-self.out_features // tile)
        # The split depends on the matrix and the card only: a row's sums must be the same in any company.
        split = max(1, min(8, 4 * processors(x.device) // programs, self.scales.shape[1] // 4))
        out = torch.empty(split, count, self.out_features, dtype=torch.float32, device=x.device)
        eight_bit_product[(programs, split, -(-count // LARGEST_ROWS))](
            x, self.weights, self.scales.view(torch.int16), out, count,
            COLUMNS=self.in_features, PADDED=self.weights.shape[1], OUT=self.out_features, BLOCK=BLOCK, SPLIT=split,
            TILE_OUT=tile, num_warps=4,
        )  # fmt: skip
        return out

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The product, plus the bias where there is one."""
        rows = x.reshape(-1, self.in_features)
        if self._on_kernel and len(rows) <= LARGEST_ROWS:
            product = self.parts(rows.contiguous()).sum(0)
            product = (product if self.bias is None else product + self.bias).to(x.dtype)
        else:
            product = functional.linear(rows, self.dense().to(x.dtype), self.bias)
        return product.view(*x.shape[:-1], self.out_features)

    def alone(self, x: torch.Tensor) -> torch.Tensor:
        """One row, which is the same in any company."""
        return self.forward(x)


def join(layers: Sequence[nn.Linear], device: torch.device) -> EightBitLinear:
    """One layer on the device whose output is the outputs of ``layers`` side by side."""
    bias = joined_bias(layers)
    weight = torch.cat([layer.weight.detach().to(device) for layer in layers])
    linear = EightBitLinear(weight, None if bias is None else bias.detach().to(device))
    linear.sizes = tuple(layer.out_features for layer in layers)
    return linear


@torch.inference_mode()
def take_apart(model: Any, device: torch.device) -> Iterator[tuple[int, int]]:
    """Turn a model's matrices into joined ones of 8 bits on the device, layer by layer; yields (done, total).

    What decoder.pack does for full precision. The model may lie in main memory, so that it never has to fit on the
    card at full size; what is left of it, norms and embedding, is moved there at the end.
    """
    places = [part for layer in model.model.layers for part in (layer.self_attn, layer.mlp)]
    for done, part in enumerate(places):
        yield done, len(places)
        for name, parts in JOINED.items():
            if hasattr(part, parts[0]):
                setattr(part, name, join([getattr(part, old) for old in parts], device))
                for old in parts:
                    delattr(part, old)
        last = "o_proj" if hasattr(part, "o_proj") else "down_proj"
        setattr(part, last, join([getattr(part, last)], device))
    model.lm_head = join([model.lm_head], device)
    model.to(device)
    yield len(places), len(places)
