"""Sections on single kernels: against the oracle, and how much of the card's bandwidth each product reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from inference.quantize.eight_bit import EightBitLinear, dequantize
from inference.quantize.triton_launch import trouble
from inference.quantize.triton_tuning import quickest
from tests.gpu.report import first_line
from tests.gpu.shapes import EIGHT, ONE_AND_A_HALF, product_of, random_matrix

if TYPE_CHECKING:
    from tests.gpu.report import Report

FORMATS = ((2, 64, False), (3, 64, False), (3, 32, True), (4, 64, False), (4, 32, True))
COUNTS = (1, 2, 3, 5, 8, 9, 16)
SIZES = ((1536, 8960), (333, 1000))


def oracle(report: Report) -> dict[str, Any]:
    """Every format and number of rows against the plain product, in both 16-bit precisions."""
    if (missing := trouble(report.device)) is not None:
        report.say(f"the kernels are left out: {missing}")
        if report.device.type == "cuda":
            report.wrong(f"the kernels do not work on this card: {missing}")
        return {"left_out": missing}
    worst: dict[str, float] = {}
    counts = (1, 3) if report.tiny else COUNTS
    for bits, block, offsets in FORMATS[1:3] if report.tiny else FORMATS:
        name = f"{bits} bits by {block}" + (" with offsets" if offsets else "")
        for out, columns in ((9, 100),) if report.tiny else SIZES:
            try:
                packed = random_matrix(out, columns, bits, block, report.device, offsets=offsets)
                product = product_of(packed)
                for count in counts:
                    x = torch.randn(count, columns, device=report.device, dtype=torch.float32)
                    for dtype in (torch.float16, torch.bfloat16) if not report.tiny else (torch.float32,):
                        rows = x.to(dtype)
                        expected = packed.multiply_rounded(rows)
                        error = (product(rows).float() - expected).norm() / expected.norm()
                        worst[name] = max(worst.get(name, 0.0), float(error))
                        exact = packed.multiply(rows)
                        error = (product.with_16_bit_activations(rows).float() - exact).norm() / exact.norm()
                        kept = f"{name}, 16-bit activations"
                        worst[kept] = max(worst.get(kept, 0.0), float(error))
            except Exception as error:
                report.wrong(f"{name}, {out} x {columns}: {first_line(error)}")
    for name, error in worst.items():
        if not error < 0.01:
            report.wrong(f"the product in {name} is off by {error:.2%}")
    if not report.tiny:
        worst["8 bits"] = eight_bits(report)
    report.say(f"kernels against the oracle: at most {max(worst.values(), default=0):.2%} off in {len(worst)} formats")
    return {"relative_error": worst}


def eight_bits(report: Report) -> float:
    """The 8-bit product against its oracle; a row must have the same bits in any company."""
    worst = 0.0
    for dtype in (torch.float16, torch.bfloat16):
        layer = EightBitLinear(torch.randn(1536, 8960, device=report.device).to(dtype), None)
        x = torch.randn(16, 8960, device=report.device).to(dtype)
        expected = x.float() @ dequantize(layer.weights, layer.scales, 8960).T
        worst = max(worst, float((layer(x).float() - expected).norm() / expected.norm()))
        alone = torch.cat([layer(row[None]) for row in x])
        for count in COUNTS:
            if not torch.equal(layer(x[:count]), alone[:count]):
                report.wrong(f"8-bit weights, {dtype}: {count} rows have other bits than one")
    if worst > 0.02:
        report.wrong(f"the product with 8-bit weights is off by {worst:.2%}")
    return worst


def copy_bandwidth(report: Report) -> float:
    """Bytes a second that a large copy moves, read and written."""
    size = 2**20 if report.tiny else 2**29
    source = torch.empty(size, dtype=torch.int8, device=report.device)
    target = torch.empty_like(source)
    return 2 * size / report.many(lambda: target.copy_(source), 10) * 1e3


def bandwidth(report: Report) -> dict[str, Any]:
    """Each product of both shapes: milliseconds, and bytes a second as a share of the measured copy."""
    copied = copy_bandwidth(report)
    report.say(f"a copy moves {copied / 1e9:.0f} GB/s")
    found: dict[str, Any] = {"copy_gb_s": copied / 1e9, "products": []}
    missing = trouble(report.device)
    dtype = torch.float32 if report.device.type == "cpu" else torch.bfloat16
    if report.device.type == "cuda" and torch.cuda.get_device_capability(report.device) < (8, 0):
        dtype = torch.float16
    for shape_name, shape in (("8B", EIGHT), ("1.5B", ONE_AND_A_HALF)):
        hidden, inner = shape["hidden_size"], shape["intermediate_size"]
        head = hidden // shape["num_attention_heads"]
        sizes = {
            "q-k-v": (hidden + 2 * head * shape["num_key_value_heads"], hidden),
            "output": (hidden, hidden),
            "gate-up": (2 * inner, hidden),
            "down": (hidden, inner),
            "head": (shape["vocab_size"], hidden),
        }
        if report.tiny:
            sizes = {"q-k-v": (64, 64)}
        for name, (out, columns) in sizes.items():
            if report.late:
                report.say("the other products are left out: the time is up")
                return found
            line = {"shape": shape_name, "matrix": name, "out": out, "columns": columns}
            weight = torch.randn(out, columns, dtype=dtype, device=report.device)
            x = torch.randn(1, columns, dtype=dtype, device=report.device)
            plain = report.many(lambda x=x, weight=weight: functional.linear(x, weight))  # type: ignore[misc]
            line["plain_ms"], line["plain_share"] = plain, weight.nbytes / plain * 1e3 / copied
            text = (
                f"  {shape_name} {name} {out} x {columns}: plain {plain:.3f} ms ({line['plain_share']:.0%} of the copy)"
            )
            if missing is None:
                tile = None
                for bits in (3,) if report.tiny else (3, 4):
                    try:
                        packed = random_matrix(out, columns, bits, 64, report.device)
                        product = product_of(packed)
                        if tile is None:  # at 4 bits that of 3: trying them is compiling, and the slot is short
                            tile = product.tile(1) if report.tiny else quickest(product)
                        product.use(1, tile)
                        from inference.quantize.triton_steps import round_rows

                        rounded = round_rows(x)
                        spent = report.many(lambda product=product, rounded=rounded: product.parts(rounded))  # type: ignore[misc]
                        share = packed.bytes / spent * 1e3 / copied
                        line[f"{bits}_bit"] = {"ms": spent, "share": share, "tile": str(tile)}
                        text += f"; {bits} bits {spent:.3f} ms ({share:.0%})"
                    except Exception as error:
                        report.wrong(f"{shape_name} {name} in {bits} bits: {first_line(error)}")
                if not report.tiny:
                    try:
                        eight = EightBitLinear(weight, None)
                        spent = report.many(lambda eight=eight, x=x: eight.parts(x))  # type: ignore[misc]
                        line["8_bit"] = {"ms": spent, "share": eight.bytes / spent * 1e3 / copied}
                        text += f"; 8 bits {spent:.3f} ms ({line['8_bit']['share']:.0%})"
                    except Exception as error:
                        report.wrong(f"{shape_name} {name} in 8 bits: {first_line(error)}")
            report.say(text)
            found["products"].append(line)
    return found
