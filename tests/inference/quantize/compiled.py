"""Compiles a kernel for a card that is not here and reads its machine code: registers, spills, instructions a weight.

Run in a process that does not interpret kernels: `python tests/inference/quantize/compiled.py` prints JSON.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from inference.quantize import (
    triton_attention,
    triton_choice,
    triton_eight_bit,
    triton_low_bit,
    triton_noise,
    triton_rows,
    triton_wide,
)
from inference.quantize.triton_launch import FEW_ROWS, NARROWEST, WIDE_STAGES, WIDE_TILES, tiles

CARDS = (75, 80, 86, 89, 90, 120)
ROWS = {75: (1, 2, 4), 80: (1, 2, 3, 4, 8, 16), 89: (1,), 90: (1, 2, 4, 8, 16)}
"""Of which products are compiled, else 1, 4 and 16. 89 has the code of 86; 75 takes 16 as four times 4."""

FORMS = {
    "2 bits": (2, 64, False), "3 bits": (3, 64, False), "4 bits": (4, 64, False),
    "2 bits, even": (2, 32, True), "3 bits, even": (3, 32, True), "4 bits, even": (4, 32, True),
}
"""Bits, block, and whether levels are even with offsets: those of the recipes, and even ones of 2 bits."""

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"

POINTERS = {
    "x": "i32", "x_scales": "fp32", "x_sums": "fp32", "words": "i32", "scales": "i16", "offsets": "i16", "out": "fp32",
    "table": "i8", "weights": "i8", "parts": "fp32", "slots": "i64", "positions": "i64", "first": "i64", "sums": "fp32",
    "prefixes": "i64", "ancestors": "i64", "noise": "fp32", "seeds": "i32", "settings": "fp32", "scaled": "fp32",
    "peaks": "fp32", "chosen": "i64", "tables": "i32",
}  # fmt: skip
NUMBERS = {"factor": "fp32", "middle": "fp32", "eps": "fp32", "scale": "fp32", "lift": "fp32"}
WHOLE = ("count", "buffer", "chunks")


def compiled(
    kernel: Any, card: int, constants: dict[str, Any], warps: int = 4, half: str = "bf16", stages: int = 3, **kinds: str
) -> Any:
    """The kernel for a card. Pointers that are not named have the model's precision, ``half``."""
    signature = {}
    for name in kernel.arg_names:
        if name in constants:
            signature[name] = "constexpr"
        elif name in NUMBERS:
            signature[name] = NUMBERS[name]
        elif name in WHOLE:
            signature[name] = "i32"
        else:
            signature[name] = "*" + kinds.get(name, POINTERS.get(name, half))
    aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind.startswith("*")}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)
    options = {"num_warps": warps, "num_stages": stages}
    return triton.compile(source, target=GPUTarget("cuda", card, 32), options=options)


def usage(made: Any) -> dict[str, Any]:
    """Registers, and bytes of stack (spills)."""
    found = re.search(r"REG:(\d+) STACK:(\d+).*? LOCAL:(\d+)", _run(made, "cuobjdump", "-res-usage"))
    assert found is not None
    registers, stack, local = map(int, found.groups())
    return {"registers": registers, "spilled_bytes": stack + local}


def longest_loop(made: Any) -> list[str]:
    """Its instructions. The disassembler takes longer than the compiler."""
    instructions: list[str] = []
    labels: dict[str, int] = {}
    loop: list[str] = []
    for line in _run(made, "nvdisasm", "-c").splitlines():
        if label := re.match(r"(\.L_x_\d+):", line):
            labels[label.group(1)] = len(instructions)
        if re.search(r"^\s+/\*[0-9a-f]{4,}\*/", line):
            instructions.append(re.sub(r"/\*.*?\*/", "", line).strip())
            back = re.search(r"BRA.*`\((\.L_x_\d+)\)", line)
            if back and back.group(1) in labels:
                loop = max(loop, instructions[labels[back.group(1)] :], key=len)
    return loop


def kinds(instructions: list[str]) -> dict[str, int]:
    """How many of each kind."""
    bare = (re.sub(r"^@!?U?P\d+\s+", "", instruction) for instruction in instructions)
    return dict(Counter(instruction.split(" ")[0].split(".")[0] for instruction in bare))


def _run(made: Any, tool: str, option: str) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        return subprocess.run([TOOLS / tool, option, file.name], capture_output=True, text=True, check=True).stdout


def product(card: int, form: str, rows: int) -> dict[str, Any]:
    """What the low-bit product of one of FORMS takes for so many rows in its first tile; `per_weight` of its loop."""
    bits, block, affine = FORMS[form]
    few = FEW_ROWS - (bits == 4 and not affine)
    is_wide = rows > few and card >= 80
    tile = (WIDE_TILES if is_wide else tiles(rows))[0]
    out, columns = 4096, 14336
    constants = {
        "ROWS": max(rows, NARROWEST) if is_wide else min(rows, FEW_ROWS), "OUT": out, "EVERY": out,
        "GROUPS": columns // 32, "PER_BLOCK": block // 32, "SPLIT": tile.split, "BITS": bits, "EVEN": affine,
        "WITH_OFFSETS": affine, "TILE_OUT": tile.out, "TILE_GROUPS": tile.groups,
    }  # fmt: skip
    if is_wide:
        made = compiled(
            triton_wide.wide_product, card, constants, tile.warps, stages=WIDE_STAGES, x="fp16", x_sums="fp16"
        )
    else:
        made = compiled(triton_low_bit.low_bit_product, card, constants, tile.warps)
    loop = longest_loop(made)
    weights = tile.out * tile.groups * 32 / (tile.warps * 32)
    return {"per_weight": len(loop) / weights, "is_wide": is_wide, "kinds": kinds(loop), **usage(made)}


def others(card: int, half: str, everything: bool) -> dict[str, dict[str, Any]]:
    """What the other kernels take, or those with matrix units, in the shapes of an 8B model."""
    keys, warps = (16, 8) if card < 80 else (64, 4)  # as triton_steps.attention_tile has it
    out = 32 if card < 80 else 64
    llama = {"COLUMNS": 4096, "GROUPS": 128, "TILE": 128, "SPLIT": 2, "WITH_BIAS": False}
    heads = {"HEADS": 32, "HEAD_DIM": 128}
    attention = {**heads, "KEY_HEADS": 8, "CHUNK": 256, "KEYS": keys}
    made = {
        "16-bit activations": (triton_low_bit.low_bit_product_16, {
            "COLUMNS": 4096, "OUT": 4096, "GROUPS": 128, "PER_BLOCK": 2, "BITS": 3, "EVEN": False, "WITH_OFFSETS": True,
            "TILE_OUT": 8, "TILE_GROUPS": 32}, 4, {"x": half}),
        "8-bit weights": (triton_eight_bit.eight_bit_product, {
            "COLUMNS": 4096, "PADDED": 4096, "OUT": 4096, "BLOCK": 64, "SPLIT": 2, "TILE_OUT": out}, 4, {"x": half}),
        "norm": (triton_rows.add_norm, {**llama, "ROUNDED": False}, 8, {"weight": half}),
        "norm, rounded": (triton_rows.add_norm, {**llama, "ROUNDED": True}, 8, {"weight": half}),
        "gate": (triton_rows.gated, {**llama, "TILE": 8, "ROUNDED": False}, 4, {}),
        "gate, rounded": (triton_rows.gated, {**llama, "TILE": 8, "ROUNDED": True}, 4, {}),
        "widening": (triton_wide.widen_rows, {"ROWS": 16, "GROUPS": 448, "TILE": 512}, 4, {
            "wide": "fp16", "sums": "fp16"}),
        "rounding": (triton_rows.round_rows, {"COLUMNS": 4096, "GROUPS": 128, "TILE": 8}, 4, {}),
        "rotary and cache": (triton_rows.turn_and_write, {
            **heads, "KEY_HEADS": 8, "SPLIT": 2, "WITH_BIAS": True, "WITH_NORMS": True}, 1, {"table": "fp32"}),
        "attention": (triton_attention.attend, {**attention, "WINDOW": 0}, warps, {"weights": "fp32"}),
        "attention, window": (triton_attention.attend, {**attention, "WINDOW": 4096}, warps, {"weights": "fp32"}),
        "chunks": (triton_attention.gather, {**heads, "GROUPS": 128, "ROUNDED": True}, 1, {"weights": "fp32"}),
        "choice": (triton_choice.choose, {"SIZE": 128256, "TILES": 32, "TILE": 4096}, 8, {}),
        "noise": (triton_noise.keyed_noise, {"SIZE": 128256, "TILE": 256}, 4, {}),
    }  # fmt: skip
    return {
        name: usage(compiled(kernel, card, constants, count, half, **pointers))
        for name, (kernel, constants, count, pointers) in made.items()
        if everything or name in ("8-bit weights", "attention")
    }


def main() -> None:
    """All that is asserted for the cards of the command line, as JSON."""
    found: dict[str, dict[str, Any]] = {}
    for card in map(int, sys.argv[1:]):
        made = found[str(card)] = {}
        for rows in ROWS.get(card, (1, 4, 16)):
            for form in FORMS:
                made[f"{form}, rows {rows}"] = product(card, form, rows)
        if card not in (86, 89):  # which differ from 80 in their sizes only
            made |= others(card, "fp16" if card < 80 else "bf16", everything=card == 90)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
