"""Without our kernels a card multiplies with bitsandbytes' 4 bits."""

from __future__ import annotations

import torch

from inference.quantize.nf4 import RESIDENT_BITS, Nf4Product
from inference.quantize.pack import pack, rounded


def test_the_product_is_near_the_oracles_and_takes_four_bits() -> None:
    generator = torch.Generator().manual_seed(0)
    parts = [
        pack(
            torch.randint(0, 2**bits, (rows, 256), generator=generator).to(torch.uint8),
            torch.rand(rows, 4, generator=generator),
            rounded(torch.linspace(-1, 1, 2**bits)),
        )
        for bits, rows in ((3, 48), (4, 16))
    ]
    product = Nf4Product(parts, torch.float32, torch.device("cpu"))
    x = torch.randn(3, 256, generator=generator)
    expected = torch.cat([part.multiply(x) for part in parts], 1)
    assert torch.nn.functional.cosine_similarity(product(x), expected).min() > 0.98
    assert 8 * product.bytes / (64 * 256) == RESIDENT_BITS
